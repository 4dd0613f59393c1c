import { RunnerError } from '@headrace/runner/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { newBench, ok, sh } from '../threads/threads.fixture.ts';
import type { Bench } from '../threads/threads.fixture.ts';

let s: TestServer;
beforeAll(async () => {
  s = await startTestServer();
});
afterAll(async () => {
  await s?.close();
});

const FILES = {
  ...Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`src/part-${i % 4}/${i}.txt`, `${i}\n`])),
  'run.sh': '#!/bin/sh\n',
};
const canKeep = async () => (await s.service.ctx.runner.status()).restore === 'overlay';

/**
 * The files that were sent for workspaces while `act` ran: `base`, `base + patch` or `keep`, with the id of
 * their source.
 */
async function sentDuring(
  act: () => Promise<unknown>,
  refused: (word: string) => boolean = () => false,
): Promise<string[]> {
  const { runner } = s.service.ctx;
  const { putWorkspace } = runner;
  const sent: string[] = [];
  runner.putWorkspace = async (id, tar, origin = {}) => {
    const word =
      origin.base === undefined ? `keep ${origin.keep?.key}` : `base${tar ? ' + patch' : ''} ${origin.base}`;
    if (refused(word)) throw new RunnerError(404, 'not_cached', 'It was given up.');
    await putWorkspace(id, tar, origin);
    sent.push(word);
  };
  try {
    await act();
  } finally {
    runner.putWorkspace = putWorkspace;
  }
  return sent;
}

/** Deletes the workspace, as the end of a runner does. */
const lose = (b: Bench) => s.service.ctx.runner.deleteWorkspace(b.threadId);
const latest = async (b: Bench): Promise<string> => (await b.thread()).latestSourceId;
const seen = async (b: Bench, command: string): Promise<string> =>
  (await ok(s.call('POST', `${b.at}/exec`, { command }))).exec.stdout;

describe('a restore', () => {
  test('sends nothing where the runner keeps the source', async ({ skip }) => {
    if (!(await canKeep())) skip();
    const b = await newBench(s, { files: FILES });
    await lose(b);
    expect(await sentDuring(() => b.work('Hello.'))).toEqual([`base ${b.sourceId}`]);
    expect(await seen(b, 'find . -type f ! -path "./.git/*" | wc -l')).toBe('41\n');
  });

  test('sends what differs from a version near by, and the thread goes on from exactly its source', async ({
    skip,
  }) => {
    if (!(await canKeep())) skip();
    const b = await newBench(s, { files: FILES });
    await b.work(sh('echo new > new.txt; rm src/part-0/0.txt; chmod +x run.sh; mv src/part-1 moved'));
    const draft = await latest(b);
    const expected = { ...(await b.files(draft)) };
    expect(Object.keys(expected)).toContain('moved/1.txt');
    await lose(b);
    // Ten of 41 files are new at their path, and ten are gone.
    expect(await sentDuring(() => b.work(sh('cat new.txt > again.txt')))).toEqual([`keep ${draft}`]);
    expect(await b.files(await latest(b))).toEqual({ ...expected, 'again.txt': 'new\n' });
    const next = await latest(b);
    await lose(b);
    expect(
      await sentDuring(() =>
        b.work(
          sh('mv moved/1.txt src/one.txt; test -x run.sh && test ! -e src/part-1 && echo last > last.txt'),
        ),
      ),
    ).toEqual([`base + patch ${draft}`]);
    const { 'moved/1.txt': one, ...rest } = await b.files(next);
    expect(await b.files(await latest(b))).toEqual({ ...rest, 'src/one.txt': one, 'last.txt': 'last\n' });
  });

  test('sends all files where what was kept has been given up meanwhile', async ({ skip }) => {
    if (!(await canKeep())) skip();
    const b = await newBench(s, { files: FILES });
    await lose(b);
    expect(
      await sentDuring(
        () => b.work(sh('echo x > x.txt')),
        (word) => word.startsWith('base'),
      ),
    ).toEqual([`keep ${b.sourceId}`]);
    expect((await b.files(await latest(b)))['x.txt']).toBe('x\n');
  });

  test("of one project never takes another's files", async ({ skip }) => {
    if (!(await canKeep())) skip();
    const [one, other] = [await newBench(s, { files: FILES }), await newBench(s, { files: FILES })];
    expect(await s.service.ctx.runner.keptSources(one.appId)).toEqual([one.sourceId]);
    await other.work(sh('echo y > y.txt'));
    await lose(other);
    expect(await sentDuring(() => other.work('Hello.'))).toEqual([`base + patch ${other.sourceId}`]);
  });
});
