/** Answers on the wire: what reads reply, and what writes and their replays answer. */
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { Answer } from './write-request.ts';
import type { Reply } from './operation.ts';
import { retryHeaders } from './rate-limit.ts';

const JSON_TYPE = 'application/json; charset=utf-8';

export type AnswerHeaders = Record<string, string | string[]>;

/** `headersOfCall`: those of every answer, for one that is written past Fastify. */
export function sendReply(
  reply: FastifyReply,
  answer: Reply,
  headersOfCall: () => Record<string, string>,
): FastifyReply {
  const isHead = reply.request.method === 'HEAD';
  if ('hijack' in answer) {
    reply.hijack();
    answer.hijack(reply.raw, headersOfCall());
    if (isHead) reply.raw.end();
    return reply;
  }
  if (isHead && 'stream' in answer && answer.stream instanceof Readable) {
    answer.stream.destroy();
    reply.hijack();
    reply.raw.writeHead(answer.status, { ...headersOfCall(), ...answer.headers }).end();
    return reply;
  }
  if (answer.headers) void reply.headers(answer.headers);
  if ('stream' in answer) return reply.code(answer.status).send(answer.stream);
  return reply.code(answer.status).header('content-type', JSON_TYPE).send(JSON.stringify(answer.body));
}

export function sendAnswer(reply: FastifyReply, answer: Answer & { headers?: AnswerHeaders }): FastifyReply {
  if (answer.operationId) void reply.header('x-operation-id', answer.operationId);
  if (answer.replayed) void reply.header('idempotent-replayed', 'true');
  if (answer.status === 503) void reply.headers(retryHeaders(1));
  if (answer.headers) void reply.headers(answer.headers);
  return reply.code(answer.status).header('content-type', JSON_TYPE).send(answer.text);
}
