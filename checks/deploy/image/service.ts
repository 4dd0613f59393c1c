/** A container of the service: started, waited for, asked, stopped. */
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { newAppWith, newReadyThread } from '../../harness/apps.ts';
import { createCaller } from '../../harness/http.ts';
import type { Caller } from '../../harness/http.ts';
import { create, podman, remove } from './podman.ts';
import type { Container } from './podman.ts';

const READY_LIMIT_MS = 120_000;

/** As in a cluster: nothing of the container can be written but the data folder and /tmp. */
export const READ_ONLY = ['--read-only', '--tmpfs=/tmp:rw,size=1g,mode=1777'];

export async function runInSandbox(caller: Caller): Promise<void> {
  const { app, sourceId } = await newAppWith(caller, [{ path: 'a.txt', content: 'a\n' }]);
  const thread = await newReadyThread(caller, app, sourceId);
  const { body } = await caller.call('POST', `${thread}/exec`, { command: 'cat a.txt && id -u' });
  if (!/^a\n\d+\n$/.test(String(body['exec']?.stdout ?? body['stdout'])))
    throw new Error(`a command said ${JSON.stringify(body)}`);
}

export interface Started {
  base: string;
  /** From `podman start` to the line that says so. */
  listeningMs: number;
  /** Of all its processes until then: what an idle machine takes at most. */
  listeningCpuSeconds: number;
  /** Does something with it, stops it, and requires that it stops by itself with 0. */
  use(work: (it: { container: Container }) => Promise<void>): Promise<void>;
}

export async function started(
  image: string,
  options: string[],
  env: Record<string, string>,
): Promise<Started> {
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const all = { HEADRACE_HOST: '127.0.0.1', HEADRACE_PORT: String(port), ...env };
  const container = create(
    [...options, ...Object.entries(all).map(([name, value]) => `--env=${name}=${value}`)],
    image,
  );
  try {
    const from = performance.now();
    container.start();
    const listeningMs = await until(from, container, async () => (await statusOf(`${base}/health`)) === 200);
    const listeningCpuSeconds = container.cpuSeconds();
    await until(from, container, async () => (await statusOf(`${base}/health/ready`)) === 200);
    return {
      base,
      listeningMs,
      listeningCpuSeconds,
      async use(work) {
        try {
          await work({ container });
          requireEqual('the exit code', container.stop(), 0);
        } finally {
          remove(container.id);
        }
      },
    };
  } catch (error) {
    remove(container.id);
    throw error;
  }
}

/** Milliseconds since `from`, once it holds. Throws with the container's output after the limit. */
export async function until(
  from: number,
  container: Container,
  holds: () => Promise<boolean>,
): Promise<number> {
  while (performance.now() - from < READY_LIMIT_MS) {
    if (await holds()) return Math.round(performance.now() - from);
    await sleep(20);
  }
  throw new Error(`not in time: ${container.logs()}`);
}

export const statusOf = (url: string): Promise<number> =>
  fetch(url, { signal: AbortSignal.timeout(5_000) }).then(
    async (answer) => (await answer.arrayBuffer(), answer.status),
    () => 0,
  );

/** A volume of its own for the data folder, with the rights that the image gives it. */
export async function withVolume<T>(work: (option: string) => Promise<T>): Promise<T> {
  const name = `headrace-test-${process.pid}`;
  podman(['volume', 'create', name]);
  try {
    return await work(`--volume=${name}:/var/lib/headrace`);
  } finally {
    podman(['volume', 'rm', '--force', name]);
  }
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

export function requireEqual(what: string, seen: unknown, wanted: unknown): void {
  if (seen !== wanted) throw new Error(`${what} is ${String(seen)}, not ${String(wanted)}`);
}

export async function withCaller(
  base: string,
  key: string,
  work: (caller: Caller) => Promise<void>,
): Promise<void> {
  const caller = createCaller(base, key);
  try {
    await work(caller);
  } finally {
    caller.close();
  }
}
