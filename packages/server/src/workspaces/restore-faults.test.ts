/**
 * A workspace is restored for a message, and each step of that breaks. The message runs on the last saved
 * source in the end, and each change is published once. Unsaved work is kept before the workspace is reset to
 * another source.
 */
import { RunnerError } from '@headrace/runner/client';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { rowsOf } from '../fault-tables.fixture.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { newBench, ok, sh } from '../threads/threads.fixture.ts';
import type { Bench } from '../threads/threads.fixture.ts';
import {
  atStep,
  away,
  expectTold,
  faultsOf,
  history,
  hurry,
  loseWorker,
  pass,
  reached,
  recoveries,
  settled,
} from './workspaces.fixture.ts';
import type { Step } from './workspaces.fixture.ts';

let s: TestServer;
beforeAll(async () => {
  s = await startTestServer();
  return hurry(s);
});
afterAll(async () => {
  await s?.close();
});

const { faultAt, mend } = faultsOf(() => s);

const STEPS: Step[] = [
  'before tasks',
  'after tasks',
  'before putWorkspace',
  'before getRange',
  'after getRange',
  'after putWorkspace',
  'before startTask',
  'after startTask',
];
const FILES = { 'a.txt': 'a\n', 'kept.txt': 'kept\n' };

/** Makes a thread whose workspace was archived. */
async function expired(): Promise<Bench> {
  const b = await newBench(s);
  await ok(
    s.call('POST', `${b.at}/edits`, {
      expectedSourceId: b.sourceId,
      changes: [{ path: 'kept.txt', content: 'kept\n' }],
    }),
  );
  pass(s, 20);
  await reached(s, b, 'archived');
  return b;
}

const MESSAGE = sh('cat kept.txt > seen; ls >> seen');

async function expectRestored(b: Bench, runId: string): Promise<void> {
  const run = await b.ended(runId);
  expect([run.status, run.error]).toEqual(['completed', null]);
  expect(await b.files(run.resultSourceId)).toEqual({ ...FILES, seen: 'kept\na.txt\nkept.txt\nseen\n' });
  expect((await history(b)).slice(2)).toEqual(['ready archived', 'archived preparing', 'preparing ready']);
  await expectTold(s, b);
  expect(await recoveries(b)).toEqual([]);
}

test.each(rowsOf(STEPS, 0))('the call fails: %s', async (step) => {
  const b = await expired();
  const act = vi.fn(() => Promise.reject(away(step)));
  faultAt(step, act);
  await expectRestored(b, (await b.send(MESSAGE)).run.id);
  expect(act).toHaveBeenCalledTimes(1);
});

test('a request of a dead worker is still in it: it is waited for', async () => {
  const b = await expired();
  let tries = 0;
  const mend = atStep(
    s,
    'before putWorkspace',
    () => {
      if (++tries === 4) mend();
      return Promise.reject(
        new RunnerError(409, 'busy', 'The workspace is in use; wait until its task has ended.'),
      );
    },
    'always',
  );
  await b.work(sh('ls'));
  expect(tries).toBe(4);
});

test.each(rowsOf(STEPS, 1))('its worker is gone: %s', async (step) => {
  const b = await expired();
  const isOver = Promise.withResolvers<void>();
  const act = vi.fn(async () => {
    await loseWorker(s, b);
    await isOver.promise;
    throw new Error('It is gone.');
  });
  faultAt(step, act);
  await expectRestored(b, (await b.send(MESSAGE)).run.id);
  expect(act).toHaveBeenCalledTimes(1);
  isOver.resolve();
});

test.each(rowsOf<Step>(['before tasks', 'before putWorkspace', 'after putWorkspace', 'before startTask'], 1))(
  'its worker comes back while another restores it: %s',
  async (step) => {
    const b = await expired();
    const [isMet, isBack] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    faultAt(step, async () => {
      // The other worker has the job, and waits until the late one has had its time.
      faultAt(step === 'before startTask' ? 'after startTask' : 'after putWorkspace', async () => {
        isMet.resolve();
        await isBack.promise;
      });
      await loseWorker(s, b);
      await isMet.promise;
      setTimeout(isBack.resolve, 500);
    });
    await expectRestored(b, (await b.send(MESSAGE)).run.id);
  },
);

describe('while the store is away', () => {
  test('a message waits for some seconds, and runs when it is back', async () => {
    const b = await expired();
    let tries = 0;
    const mend = atStep(
      s,
      'before getRange',
      () => {
        if (++tries === 4) mend();
        return Promise.reject(away('before getRange'));
      },
      'always',
    );
    await expectRestored(b, (await b.send(MESSAGE)).run.id);
    expect(tries).toBe(4);
  });

  test('then its run fails, its workspace is in error; the next message restores it', async () => {
    const b = await expired();
    faultAt(
      'before putWorkspace',
      () => Promise.reject(new RunnerError(400, 'invalid_tar', 'The archive was cut off.')),
      'always',
    );
    const { run } = await b.send(MESSAGE);
    expect(await b.ended(run.id)).toMatchObject({
      status: 'failed',
      error: { code: 'workspace_unavailable' },
    });
    expect(await b.thread()).toMatchObject({
      workspaceStatus: 'error',
      workspaceSetupStatus: 'failed',
      status: 'failed',
    });
    mend();
    const next = await b.work(MESSAGE);
    expect(await b.files(next.resultSourceId)).toEqual({ ...FILES, seen: 'kept\na.txt\nkept.txt\nseen\n' });
    expect((await history(b)).slice(2)).toEqual([
      'ready archived',
      'archived preparing',
      'preparing error',
      'error preparing',
      'preparing ready',
    ]);
    await expectTold(s, b);
  });

  test('a command is refused, its workspace is in error; the next one restores it', async () => {
    const b = await expired();
    faultAt('before putWorkspace', () =>
      Promise.reject(new RunnerError(400, 'invalid_tar', 'The archive was cut off.')),
    );
    expect((await s.call('POST', `${b.at}/exec`, { command: 'true' })).status).toBe(503);
    expect((await b.thread()).workspaceStatus).toBe('error');
    expect((await ok(s.call('POST', `${b.at}/exec`, { command: 'cat kept.txt' }))).exec.stdout).toBe(
      'kept\n',
    );
    expect((await history(b)).slice(2)).toEqual([
      'ready archived',
      'archived preparing',
      'preparing error',
      'error preparing',
      'preparing ready',
    ]);
    await expectTold(s, b);
  });
});

describe('a workspace that an archive cut off, of a thread that is unarchived before it was put away', () => {
  const BRING: Step[] = [
    'before capture',
    'after capture',
    'before blobs',
    'after blobs',
    'before put',
    'after put',
    'before patch',
    'after patch',
  ];

  /** Cuts off the work of a thread by an archive, and unarchives it before the work is saved. */
  async function cutOff(): Promise<Bench> {
    const b = await newBench(s);
    const { run } = await b.send(`${sh('echo late > late.txt')}\n\n${sh('sleep 60')}`);
    await b.working(run.id, 1);
    const mend = atStep(s, 'before capture', () => Promise.reject(away('before capture')), 'always');
    await ok(s.call('PATCH', b.at, { archived: true }));
    await ok(s.call('PATCH', b.at, { archived: false }));
    await settled(s, b);
    mend();
    expect((await b.thread()).workspaceStatus).toBe('ready');
    return b;
  }

  const expectKept = async (b: Bench, runId: string) => {
    const run = await b.ended(runId);
    expect([run.status, run.error]).toEqual(['completed', null]);
    expect(await b.files(run.resultSourceId)).toEqual({ 'a.txt': 'a\n', seen: 'a.txt\nseen\n' });
    expect(await recoveries(b)).toEqual([{ 'a.txt': 'a\n', 'late.txt': 'late\n' }]);
    expect(await history(b)).toEqual(['null preparing', 'preparing ready']);
    await expectTold(s, b);
  };

  test.each(rowsOf(BRING, 0))('the call fails: %s', async (step) => {
    const b = await cutOff();
    const act = vi.fn(() => Promise.reject(away(step)));
    faultAt(step, act);
    await expectKept(b, (await b.send(sh('ls > seen; ls seen >> /dev/null'))).run.id);
    expect(act).toHaveBeenCalledTimes(1);
  });

  test.each(BRING.filter((step) => step.startsWith('after')))('its worker is gone: %s', async (step) => {
    const b = await cutOff();
    const isOver = Promise.withResolvers<void>();
    faultAt(step, async () => {
      await loseWorker(s, b);
      await isOver.promise;
      throw new Error('It is gone.');
    });
    await expectKept(b, (await b.send(sh('ls > seen; ls seen >> /dev/null'))).run.id);
    isOver.resolve();
  });

  test('its worker comes back when another has kept it: nothing is kept twice', async () => {
    const b = await cutOff();
    const [isOver, isBack] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    faultAt('after put', async () => {
      await loseWorker(s, b);
      await isOver.promise;
      isBack.resolve();
    });
    await expectKept(b, (await b.send(sh('ls > seen; ls seen >> /dev/null'))).run.id);
    isOver.resolve();
    await isBack.promise;
    await ok(s.call('POST', `${b.at}/exec`, { command: 'true' }));
    expect(await recoveries(b)).toHaveLength(1);
  });
});
