import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { processTree, settled } from '../processes.ts';
import type { Cgroup } from './cgroups.ts';
import { freezerOf } from './freezer.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

/** Three processes that count, one of them a grandchild. */
function family(): number {
  const child = spawn('/bin/sh', ['-c', '(while :; do :; done) & sh -c "while :; do :; done" & wait'], {
    stdio: 'ignore',
  });
  ends.push(() => {
    for (const { pid } of processTree(child.pid!)) process.kill(pid, 'SIGKILL');
  });
  return child.pid!;
}
const states = (root: number): string =>
  processTree(root)
    .map(({ state }) => state)
    .sort()
    .join('');

describe('without control groups', () => {
  test('signals stop and continue each process, but for what stood still before', async () => {
    const root = family();
    await vi.waitFor(() => expect(processTree(root).length).toBe(3));
    const stopped = processTree(root)[2]!.pid;
    process.kill(stopped, 'SIGSTOP');
    // A process that runs on another processor stops a moment later.
    await vi.waitFor(() => expect(states(root)).toMatch(/^[RS]+T$/));
    const freezer = freezerOf(undefined, () => root);
    await freezer.freeze();
    expect(states(root)).toBe('TTT');
    freezer.thaw();
    freezer.thaw();
    await vi.waitFor(() => expect(states(root)).toMatch(/^[RS]+T$/));
  });

  test('a sandbox that nobody can see is not paused', async () => {
    await expect(freezerOf(undefined, () => undefined).freeze()).rejects.toMatchObject({
      code: 'not_paused',
    });
  });
});

const UNIFIED = ['/sys/fs/cgroup/unified', '/sys/fs/cgroup'].find((folder) =>
  existsSync(join(folder, 'cgroup.subtree_control')),
);
function groupOfVersionTwo(): string | undefined {
  const folder = UNIFIED && join(UNIFIED, `headrace-test-${process.pid}`);
  try {
    if (folder) mkdirSync(folder);
    return folder;
  } catch {
    return undefined;
  }
}
const group = groupOfVersionTwo();

test.skipIf(!group)('a control group of version 2 freezes, and thaws', async () => {
  ends.push(() => settled(() => !existsSync(group!) || remove(group!), 5_000));
  const root = family();
  await vi.waitFor(() => expect(processTree(root).length).toBe(3));
  for (const { pid } of processTree(root)) writeFileSync(join(group!, 'cgroup.procs'), String(pid));
  const freezer = freezerOf({ version: 2, memory: group!, pidsFolder: group! } as Cgroup, () => root);
  await freezer.freeze();
  const before = usedBy(root);
  expect(await settled(() => usedBy(root) !== before, 300)).toBe(false);
  freezer.thaw();
  await vi.waitFor(() => expect(usedBy(root)).not.toBe(before));
});

function remove(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch {
    return false;
  }
}

/** The processor time that they have used. */
const usedBy = (root: number): string =>
  processTree(root)
    .map(({ pid }) =>
      readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]!.split(' ').slice(11, 13).join(' '),
    )
    .join();
