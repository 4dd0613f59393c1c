/** Runs that append the time to a file until they are ended. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Caller } from '../../harness/http.ts';

const STEP_MS = 60_000;

export const APPEND = '```sh\nwhile :; do date +%s%3N >> work.txt; sleep 0.05; done\n```';
export const COMPLETE = '```sh\ntest -e work.txt || touch work.txt\n```';

export interface Ended {
  status: string;
  resultSourceId: string | null;
  error: { code: string } | null;
  finishedAt: string;
}

/** Sends a message, and waits until its command works. */
export async function begin(caller: Caller, thread: string, signal: AbortSignal, content = APPEND) {
  const { body } = await caller.call('POST', `${thread}/messages`, { content });
  const path = `${thread}/runs/${body.run.id as string}`;
  for (const deadline = Date.now() + STEP_MS; ; await sleep(20)) {
    const { tools } = (await caller.call('GET', `${path}/tools`)).body;
    const [first] = (tools as { status: string; startedAt: string }[]).filter(
      ({ status }) => status !== 'pending',
    );
    if (first)
      return {
        path,
        id: body.run.id as string,
        at: Date.now(),
        /** From the acceptance of the message until its command began, by the database's clock. */
        readyMs: Date.parse(first.startedAt) - Date.parse(body.run.createdAt as string),
      };
    if (Date.now() > deadline || signal.aborted) throw new Error(`${path} did not begin to work`);
  }
}

export async function ended(
  caller: Caller,
  path: string,
  signal: AbortSignal,
  limitMs = STEP_MS,
): Promise<Ended> {
  for (const deadline = Date.now() + limitMs; ;) {
    const { run } = (await caller.call('GET', `${path}?waitSeconds=20`)).body;
    if (run.finishedAt !== null) return run as Ended;
    if (Date.now() > deadline || signal.aborted) throw new Error(`${path} did not end`);
  }
}
