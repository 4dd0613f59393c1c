import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** An engine's answer: status and parsed JSON, `{}` where there is none. */
export interface Answer {
  status: number;
  body: unknown;
}

/** Thrown when an engine does not answer (`status` 0), or answers with an error. */
export class EngineError extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const CALL_MS = 30_000;
const ANSWER_BYTES = 16 * 1024 ** 2;

/**
 * The few calls of the Docker Engine API that sandboxes need, over a unix socket. The popular client library
 * brings gRPC and SSH along, and its demultiplexer reads on even when nobody takes what it read.
 */
export class Engine {
  readonly socket: string;

  constructor(socket: string) {
    this.socket = socket;
  }

  /**
   * One call with a JSON or tar body. Throws EngineError 0 when no answer arrives within `timeoutMs` (0: no
   * limit).
   */
  call(
    method: string,
    path: string,
    {
      body,
      type = 'application/json',
      timeoutMs = CALL_MS,
      signal,
    }: { body?: unknown; type?: string; timeoutMs?: number; signal?: AbortSignal } = {},
  ): Promise<Answer> {
    const bytes = body === undefined || Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
    return new Promise((resolve, reject) => {
      const headers: Record<string, string | number> =
        bytes === undefined ? {} : { 'content-type': type, 'content-length': bytes.length };
      const req = this.#request(method, path, headers, signal);
      const timer =
        timeoutMs > 0
          ? setTimeout(() => req.destroy(new Error(`no answer in ${timeoutMs / 1000} s`)), timeoutMs)
          : undefined;
      let isAnswered = false;
      req.once('close', () => {
        clearTimeout(timer);
        if (!isAnswered) reject(new EngineError(0, 'the connection was closed'));
      });
      req.once('error', (error) => reject(new EngineError(0, error.message)));
      req.once('response', (res) => {
        isAnswered = true;
        void answerOf(res).then(resolve, (error: Error) => reject(new EngineError(0, error.message)));
      });
      req.end(bytes);
    });
  }

  /**
   * Like `call`, but throws EngineError with the engine's own message unless the status is 2xx or one of
   * `also`.
   */
  async ask(
    method: string,
    path: string,
    options: Parameters<Engine['call']>[2] & { also?: number[] } = {},
  ): Promise<Answer> {
    const answer = await this.call(method, path, options);
    if ((answer.status >= 200 && answer.status < 300) || options.also?.includes(answer.status)) return answer;
    throw new EngineError(answer.status, messageOf(answer.body));
  }

  /** A raw byte pipe, such as that of a container's streams. Throws EngineError. */
  upgrade(path: string): Promise<{ socket: Socket; head: Buffer }> {
    return new Promise((resolve, reject) => {
      const req = this.#request('POST', path, { connection: 'Upgrade', upgrade: 'tcp' });
      const timer = setTimeout(() => req.destroy(new Error(`no answer in ${CALL_MS / 1000} s`)), CALL_MS);
      let isAnswered = false;
      req.once('close', () => {
        clearTimeout(timer);
        if (!isAnswered) reject(new EngineError(0, 'the connection was closed'));
      });
      req.once('error', (error) => reject(new EngineError(0, error.message)));
      req.once('upgrade', (_res: IncomingMessage, socket: Socket, head: Buffer) => {
        clearTimeout(timer);
        resolve({ socket, head });
      });
      req.once('response', (res) => {
        isAnswered = true;
        void answerOf(res)
          .then(({ status, body }) => reject(new EngineError(status, messageOf(body))))
          .catch(reject);
      });
      req.end();
    });
  }

  #request(
    method: string,
    path: string,
    headers: Record<string, string | number>,
    signal?: AbortSignal,
  ): ClientRequest {
    return request({
      socketPath: this.socket,
      method,
      path,
      headers: { host: 'engine', ...headers },
      agent: false,
      ...(signal && { signal }),
    });
  }
}

function messageOf(body: unknown): string {
  const message = (body as { message?: unknown } | null)?.message;
  return typeof message === 'string' ? message.trim().slice(0, 2000) : 'no reason given';
}

/**
 * Engines send JSON, plain text (errors of old ones) or lines of JSON (progress): for the last two the whole
 * text.
 */
async function answerOf(res: IncomingMessage): Promise<Answer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of res as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > ANSWER_BYTES) throw new Error('the answer is too large');
    parts.push(part);
  }
  const text = Buffer.concat(parts).toString();
  try {
    return { status: res.statusCode ?? 0, body: text === '' ? {} : (JSON.parse(text) as unknown) };
  } catch {
    return { status: res.statusCode ?? 0, body: { message: text } };
  }
}
