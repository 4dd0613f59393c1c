/** The rig's own test: the ground is what the tests of pages rely on. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { KINDS } from './conflicts.ts';
import { startWholeGround } from './ground.ts';
import type { WholeGround } from './ground.ts';

let ground: WholeGround;
beforeAll(async () => {
  ground = await startWholeGround();
}, 60_000);
afterAll(() => ground?.stop());

test('the apply has all seven kinds of conflict', () => {
  const kinds = new Set(ground.conflict.preview.conflicts.map(({ kind }) => kind));
  expect([...kinds].toSorted()).toEqual([...KINDS].toSorted());
});

test('threads, builds and the preview have the states that pages show', () => {
  const { threads, builds, preview } = ground;
  expect(Object.fromEntries(Object.entries(threads).map(([name, { status }]) => [name, status]))).toEqual({
    completed: 'ready',
    running: 'running',
    waiting: 'waiting',
    failed: 'failed',
    queued: 'queued',
    archived: 'archived',
  });
  expect([builds.ready.status, builds.failed.status, builds.building.status]).toEqual([
    'ready',
    'failed',
    'building',
  ]);
  expect(preview.status).toBe('ready');
});
