import { expect } from 'vitest';
import type { JournalEntry, Origin, SetupRequest } from '../protocol.ts';
import { endOf, entriesOf, outputOf, tarStream, type Bench, type Files } from '../runner.fixture.ts';
import type { Workspace } from '../workspaces/workspaces.ts';

let counter = 0;
export const next = (kind: string): string => `${kind}_${++counter}`;

/** Runs a setup to its end; its id is the key of its layer. */
export async function setup(
  bench: Bench,
  command: string,
  { files = {}, ...request }: Partial<SetupRequest> & { files?: Files } = {},
): Promise<{ key: string; entries: JournalEntry[]; end: ReturnType<typeof endOf> }> {
  const key = next('set');
  const { task } = bench.tasks.start(key, {
    kind: 'setup',
    command,
    group: 'prj',
    timeoutMs: 60_000,
    ...request,
  });
  await task.putSource(tarStream(files));
  const entries = await entriesOf(task);
  return { key, entries, end: endOf(entries) };
}

/** The key of the layer that a command makes. */
export async function layer(bench: Bench, command: string, files: Files = {}): Promise<string> {
  const { key, entries, end } = await setup(bench, command, { files });
  expect([outputOf(entries, 'stderr'), end.exitCode, end.error]).toEqual(['', 0, null]);
  return key;
}

/** A new workspace; over a kept source where `isKept` and this machine can. */
export async function open(
  bench: Bench,
  files: Files,
  { isKept = true, ...origin }: Origin & { isKept?: boolean } = {},
): Promise<Workspace> {
  const id = next('thr');
  const keep = isKept && origin.base === undefined ? { keep: { key: next('kept'), group: 'prj' } } : {};
  await bench.workspaces.put(id, tarStream(files), { ...keep, ...origin });
  return bench.workspaces.get(id);
}

/** The output of a command in a workspace; it must succeed. */
export async function sh(bench: Bench, { id }: Workspace, command: string): Promise<string> {
  const entries = await bench.run(next('op'), { kind: 'exec', workspaceId: id, command, timeoutMs: 30_000 });
  expect([outputOf(entries, 'stderr'), endOf(entries).exitCode]).toEqual(['', 0]);
  return outputOf(entries);
}
