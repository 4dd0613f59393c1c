/** Relays a provider's answer to the agent, piece by piece as it arrives, and reads from it what it used. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Dispatcher } from 'undici';
import type { Wire } from '../config-file.ts';
import type { AnswerMeter } from './answer-meter.ts';
import { isObject } from './body.ts';
import type { CallEnd } from './settle.ts';
import { readSse } from './sse-reader.ts';
import { answerHeaders } from './upstream-request.ts';
import { errorBody, errorEvent, sendError } from './wire-errors.ts';

export interface Relayed {
  outcome: CallEnd['outcome'];
  /** What the provider did wrong, as a sentence that starts with its name continues; null: nothing. */
  problem: string | null;
  /** The provider may have made output that the meter has not seen: the most that it can be is charged. */
  isUncounted?: boolean;
  /** Ends the answer. Called when the call is settled: the agent's next call then finds what this one left. */
  end(): void;
}

type Answer = Dispatcher.ResponseData;

const WHOLE_BYTES = 32 * 1024 * 1024;
const ERROR_BYTES = 64 * 1024;
/** A stream may have so many pieces beyond its maximum: some providers cut words. */
const SLACK_TOKENS = 16;

const contentType = ({ headers }: Answer): string => {
  const type = headers['content-type'];
  return typeof type === 'string' ? type.split(';', 1)[0]!.trim().toLowerCase() : '';
};

export interface RelayTo {
  res: ServerResponse;
  wire: Wire;
  /** The provider's name. */
  provider: string;
  signal: AbortSignal;
}

interface Relaying {
  streams: boolean;
  /** Output tokens after which a stream is cut; null: no limit holds. */
  most: number | null;
  /** An agent that reads nothing for this long is cut off: it holds a connection to the provider. */
  stallMs: number;
}

/** A successful answer to a call of a model. */
export function relayAnswer(
  answer: Answer,
  meter: AnswerMeter,
  to: RelayTo,
  { streams, most, stallMs }: Relaying,
): Promise<Relayed> {
  const type = contentType(answer);
  const encoding = answer.headers['content-encoding'] ?? 'identity';
  if (encoding === 'identity' && streams && type === 'text/event-stream')
    return relayStream(answer, meter, to, { most, stallMs });
  if (encoding === 'identity' && type === 'application/json') return relayWhole(answer, meter, to);
  answer.body.destroy();
  return Promise.resolve(
    failed(to, 'nonsense', `answered with the content type ${type === '' ? '(none)' : type.slice(0, 100)}`),
  );
}

function failed({ res, wire, provider }: RelayTo, outcome: CallEnd['outcome'], problem: string): Relayed {
  return {
    outcome,
    problem,
    isUncounted: true,
    end: () =>
      sendError(res, wire, {
        status: 502,
        message: `The model provider ${provider} ${problem}.`,
        code: 'upstream_error',
      }),
  };
}

async function relayStream(
  answer: Answer,
  meter: AnswerMeter,
  { res, wire, provider, signal }: RelayTo,
  { most, stallMs }: Pick<Relaying, 'most' | 'stallMs'>,
): Promise<Relayed> {
  res.writeHead(answer.statusCode, { ...answerHeaders(answer.headers), 'cache-control': 'no-cache' });
  res.flushHeaders();
  const reader = readSse((data) => meter.event(data));
  const broken = (outcome: CallEnd['outcome'], problem: string): Relayed => {
    answer.body.destroy();
    return {
      outcome,
      problem,
      end: () => res.end(errorEvent(wire, `The model provider ${provider} ${problem}.`)),
    };
  };
  // While the agent reads nothing, nothing is read from the provider either, which continues.
  let isBehind = false;
  try {
    for await (const chunk of answer.body as AsyncIterable<Buffer>) {
      reader.write(chunk);
      if (most !== null && meter.leastTokens() > most + SLACK_TOKENS)
        return broken('overrun', 'went on beyond the maximum of its output and was cut');
      if (res.write(chunk)) continue;
      isBehind = true;
      await drained(res, stallMs, signal);
      isBehind = false;
    }
    reader.end();
  } catch (error) {
    if (signal.aborted || isBehind)
      return {
        outcome: meter.isEnded() ? 'ok' : signal.reason === 'closed' ? 'closed' : 'disconnected',
        problem: null,
        isUncounted: isBehind,
        end: () => res.destroy(),
      };
    return broken(
      error instanceof RangeError ? 'nonsense' : 'cut',
      error instanceof RangeError ? 'sent an event without an end' : 'broke off its answer',
    );
  }
  const problem = meter.failure();
  if (!meter.isEnded()) {
    if (problem === null) return broken('cut', 'broke off its answer');
    return { outcome: 'refused', problem: `broke off its answer: ${problem}`, end: () => res.end() };
  }
  return {
    outcome: problem === null ? 'ok' : 'refused',
    problem: problem === null ? null : `ended its answer: ${problem}`,
    end: () => res.end(),
  };
}

async function drained(res: ServerResponse, ms: number, signal: AbortSignal): Promise<void> {
  const stalled = setTimeout(() => res.destroy(), ms);
  try {
    await once(res, 'drain', { signal });
  } finally {
    clearTimeout(stalled);
  }
}

async function relayWhole(answer: Answer, meter: AnswerMeter, to: RelayTo): Promise<Relayed> {
  const { res, signal } = to;
  let bytes: Buffer | null;
  try {
    bytes = await readUpTo(answer, WHOLE_BYTES);
  } catch {
    if (signal.aborted)
      return {
        outcome: signal.reason === 'closed' ? 'closed' : 'disconnected',
        problem: null,
        isUncounted: true,
        end: () => res.destroy(),
      };
    return failed(to, 'cut', 'broke off its answer');
  }
  const body = bytes === null ? null : parsed(bytes.toString('utf8'));
  if (bytes === null || !isObject(body))
    return failed(
      to,
      'nonsense',
      bytes === null ? 'answered with too much' : 'answered with what is no JSON object',
    );
  meter.whole(body, bytes.length);
  const problem = meter.failure();
  const end = () => {
    res.writeHead(answer.statusCode, { ...answerHeaders(answer.headers), 'content-length': bytes.length });
    res.end(bytes);
  };
  return {
    outcome: problem === null ? 'ok' : 'refused',
    problem: problem === null ? null : `answered: ${problem}`,
    end,
  };
}

/** Relays an answer that is no success, without the key, should the provider repeat it. */
export async function relayRefusal(
  answer: Answer,
  { res, wire, provider }: RelayTo,
  key: string | null,
): Promise<Relayed> {
  const bytes = await readUpTo(answer, ERROR_BYTES).catch(() => null);
  const text = withoutKey(bytes?.toString('utf8') ?? '', key);
  const body = parsed(text);
  const error = isObject(body) ? body.error : null;
  const said =
    isObject(error) && typeof error.message === 'string'
      ? error.message
      : typeof error === 'string'
        ? error
        : text;
  const problem = `answered ${answer.statusCode}${said.trim() === '' ? '' : `: ${said.trim().slice(0, 400)}`}`;
  const isRedirect = answer.statusCode < 400;
  return {
    outcome: 'refused',
    problem,
    end() {
      if (res.headersSent || res.destroyed) return void res.destroy();
      const own =
        isObject(body) && !isRedirect
          ? text
          : errorBody(wire, {
              status: answer.statusCode,
              message: `The model provider ${provider} ${problem}`,
              code: null,
            });
      res.writeHead(isRedirect ? 502 : answer.statusCode, {
        ...answerHeaders(answer.headers),
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(own),
        'x-should-retry': 'false',
      });
      res.end(own);
    },
  };
}

export const withoutKey = (text: string, key: string | null): string =>
  key === null || key === '' ? text : text.replaceAll(key, '[key]');

/** Null when it is longer. */
async function readUpTo({ body }: Answer, limit: number): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limit) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
