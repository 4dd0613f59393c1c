/** Calls to providers: one pool of kept connections, bounded waits, few repetitions, no redirects. */
import { setTimeout as delay } from 'node:timers/promises';
import { Agent, request } from 'undici';
import type { Dispatcher } from 'undici';

export interface UpstreamTimes {
  connectMs: number;
  /** Until the answer starts: a whole answer starts when it is complete. */
  headersMs: number;
  /** Between two pieces of an answer. */
  idleMs: number;
}

interface UpstreamCall {
  url: string;
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  body: string | undefined;
  signal: AbortSignal;
}

export interface UpstreamPool {
  /** Between two pieces of an answer, in ms. */
  idleMs: number;
  /**
   * The provider's answer, after at most two repetitions. Throws what undici throws; `isUnreached` says
   * whether the provider has not seen the call.
   */
  send(call: UpstreamCall): Promise<Dispatcher.ResponseData>;
  close(): Promise<void>;
}

const REPEATED = new Set([429, 500, 502, 503, 504, 529]);
const REPETITIONS = 2;
const BACKOFF_MS = 250;
const LONGEST_WAIT_MS = 5_000;
/** As many as agents have: one that keeps its calls open may not block the others. */
const CONNECTIONS = 4_096;

export function openUpstream({ connectMs, headersMs, idleMs }: UpstreamTimes): UpstreamPool {
  const dispatcher = new Agent({
    connect: { timeout: connectMs },
    headersTimeout: headersMs,
    bodyTimeout: idleMs,
    connections: CONNECTIONS,
    pipelining: 1,
    keepAliveTimeout: 30_000,
  });
  return {
    idleMs,
    async send({ url, ...options }) {
      for (let attempt = 0; ; attempt++) {
        const isLast = attempt === REPETITIONS;
        if (options.signal.aborted) throw between();
        let waitMs = BACKOFF_MS * 2 ** attempt * (0.5 + Math.random());
        try {
          const answer = await request(url, { ...options, dispatcher });
          // A reader gets errors by reading; one that comes when nothing reads any more would end the process.
          answer.body.on('error', () => {});
          const asked = retryAfterMs(answer.headers['retry-after']);
          if (isLast || !REPEATED.has(answer.statusCode) || asked > LONGEST_WAIT_MS) return answer;
          await answer.body.dump({ limit: 64 * 1024 }).catch(() => {});
          waitMs = Math.max(waitMs, asked);
        } catch (error) {
          if (isLast || !isUnreached(error)) throw error;
        }
        await delay(waitMs, undefined, { signal: options.signal }).catch(() => {
          throw between();
        });
      }
    },
    close: () => dispatcher.destroy(),
  };
}

/** Ended before the first attempt or between two: the last one was refused, or did not arrive. */
const BETWEEN = 'BETWEEN_ATTEMPTS';
const between = () => Object.assign(new Error('no call was under way'), { code: BETWEEN });
const UNREACHED = new Set([
  BETWEEN,
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_INVALID_ARG',
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
]);

/** Whether the provider has not seen the call, or has refused it: that costs nothing and may be repeated. */
export function isUnreached(error: unknown): boolean {
  const { code, errors } = error as { code?: string; errors?: unknown[] };
  return errors?.length
    ? errors.every(isUnreached)
    : code !== undefined &&
        (UNREACHED.has(code) ||
          (error as { syscall?: string }).syscall === 'connect' ||
          code.startsWith('ERR_TLS') ||
          code.includes('CERT'));
}

/** `retry-after` in ms: seconds, or a date. */
function retryAfterMs(header: string | string[] | undefined): number {
  const text = Array.isArray(header) ? header[0] : header;
  if (text === undefined) return 0;
  const ms = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? 0 : Math.max(0, ms);
}
