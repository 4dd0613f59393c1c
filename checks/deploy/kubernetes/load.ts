/** Steady requests through a Service: some over connections that are kept, some over a new one each. */
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { percentile } from '../../harness/statistics.ts';

const LIMIT_MS = 20_000;
const KEPT = { callers: 4, pauseMs: 40 };
const NEW = { callers: 4, pauseMs: 40 };

export interface Load {
  /** Ends it, once what is under way is answered. */
  end(): Promise<{ kept: Outcome; fresh: Outcome }>;
}

export interface Outcome {
  requests: number;
  /** How, and when from the beginning. */
  failures: string[];
  p50Ms: number;
  maxMs: number;
}

/** Of GETs of `path`. A failure is no answer, or a status other than 200. */
export function startLoad(base: string, path: string, key: string): Load {
  const from = performance.now();
  const ending = new AbortController();
  const one = (agent: Agent | undefined) =>
    new Promise<string | null>((resolve) => {
      const asked = request(
        `${base}${path}`,
        { agent: agent ?? false, timeout: LIMIT_MS, headers: { 'x-api-key': key } },
        (answer) => {
          answer.on('error', (error) => resolve(error.message));
          answer.on('end', () => resolve(answer.statusCode === 200 ? null : String(answer.statusCode)));
          answer.resume();
        },
      );
      asked.on('timeout', () => asked.destroy(new Error(`no answer in ${LIMIT_MS} ms`)));
      asked.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
      asked.end();
    });
  const callers = ({ callers, pauseMs }: typeof KEPT, isKept: boolean) => {
    const times: number[] = [];
    const failures: string[] = [];
    const over = Promise.all(
      Array.from({ length: callers }, async () => {
        const agent = isKept ? new Agent({ keepAlive: true, maxSockets: 1 }) : undefined;
        for (; !ending.signal.aborted; await sleep(pauseMs)) {
          const begun = performance.now();
          const how = await one(agent);
          times.push(performance.now() - begun);
          if (how !== null) failures.push(`${how} after ${Math.round(begun - from)} ms`);
        }
        agent?.destroy();
      }),
    );
    return async (): Promise<Outcome> => {
      await over;
      return {
        requests: times.length,
        failures,
        p50Ms: Math.round(percentile(times, 0.5)),
        maxMs: Math.round(Math.max(...times)),
      };
    };
  };
  const [kept, fresh] = [callers(KEPT, true), callers(NEW, false)];
  return {
    async end() {
      ending.abort();
      return { kept: await kept(), fresh: await fresh() };
    },
  };
}
