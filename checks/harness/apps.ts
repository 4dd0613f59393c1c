/** Apps, threads and runs over HTTP, as a customer's backend uses them. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { AppFile } from './files.ts';
import { PLATFORM } from './http.ts';
import type { Caller } from './http.ts';

export async function newApp(caller: Caller, name = 'Benchmark'): Promise<string> {
  const { body } = await caller.call('POST', `${PLATFORM}/apps`, { name });
  return `${PLATFORM}/apps/${body.app.id as string}`;
}

/** An app with these files as its head. Returns its path and its source. */
export async function newAppWith(
  caller: Caller,
  files: readonly AppFile[],
): Promise<{ app: string; sourceId: string }> {
  const app = await newApp(caller);
  const { body } = await caller.call('POST', `${app}/sources`, { files });
  await caller.call('POST', `${app}/source-head/initialize`, { sourceId: body.source.id });
  return { app, sourceId: body.source.id as string };
}

const READY_LIMIT_MS = 60_000;

/** A thread from a source of the head's history, its workspace prepared. */
export async function newReadyThread(caller: Caller, app: string, sourceId: string): Promise<string> {
  const { body } = await caller.call('POST', `${app}/threads`, { sourceId });
  const thread = `${app}/threads/${body.thread.id as string}`;
  for (const deadline = Date.now() + READY_LIMIT_MS; Date.now() < deadline; await sleep(50)) {
    const { thread: now } = (await caller.call('GET', thread)).body;
    if (now.initializationState === 'completed') return thread;
    if (now.initializationState === 'failed')
      throw new Error(`A workspace could not be prepared: ${String(now.initializationErrorMessage)}`);
  }
  throw new Error('A workspace was not prepared in time.');
}
