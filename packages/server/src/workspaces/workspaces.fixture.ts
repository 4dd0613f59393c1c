/** For tests: a clock to move, unsaved work, and faults at the steps that use runner and store. */
import { Readable } from 'node:stream';
import { RunnerError } from '@headrace/runner/client';
import { sql } from 'kysely';
import { afterEach, expect } from 'vitest';
import { newId } from '../ids.ts';
import { StorageUnavailableError } from '../storage/object-store.ts';
import type { TestServer } from '../service.fixture.ts';
import { ok, until } from '../threads/threads.fixture.ts';
import type { Bench } from '../threads/threads.fixture.ts';
import { sweepIdle } from './sweep-idle.ts';

const HURRY_MS = 50;

/**
 * Sweeps every 50 ms, and makes jobs due that wait for longer than two seconds. Returns a function that ends
 * this.
 */
export function hurry(s: TestServer): () => void {
  const { ctx } = s.service;
  const look = async () => {
    await sweepIdle(ctx);
    // Waking a worker without a due job costs most of a look.
    const { rows } = await sql<{ isDue: boolean }>`
      with hurried as (
        update jobs set run_at = now() where status = 'queued' and run_at > now() + interval '2 seconds' and key like 'thread:%'
        returning id)
      select exists (select from hurried) or exists (select from jobs where status = 'queued' and run_at <= now()) as "isDue"`.execute(
      ctx.db,
    );
    if (rows[0]!.isDue) ctx.bus.notify('jobs');
  };
  let isBusy = false;
  const timer = setInterval(() => {
    if (isBusy) return;
    isBusy = true;
    void look()
      .catch(() => {})
      .finally(() => {
        isBusy = false;
      });
  }, HURRY_MS);
  return () => clearInterval(timer);
}

/** Moves the clock of the idle deadlines. */
export const pass = (s: TestServer, minutes: number): void => {
  s.service.ctx.clock.offsetMs += minutes * 60_000;
};

/** Waits until the workspace has this status; the time between attempts passes at once. */
export async function reached(s: TestServer, b: Bench, status: string): Promise<void> {
  await until(`workspace ${status}`, async () => {
    pass(s, 0.5);
    return (await b.thread()).workspaceStatus === status;
  });
}

/** Changes files by a process that the service does not know. */
export async function leaveUnsaved(s: TestServer, b: Bench, command = 'echo late > late.txt'): Promise<void> {
  const { runner } = s.service.ctx;
  const id = newId('op');
  await runner.startTask(id, { kind: 'exec', workspaceId: b.threadId, command, timeoutMs: 10_000 });
  for await (const entry of runner.journal(id)) if (entry.type === 'end') expect(entry.exitCode).toBe(0);
  await runner.deleteTask(id);
}

export const history = async (b: Bench): Promise<string[]> =>
  (await b.list('workspace/history'))
    .map((r: { from: string; to: string }) => `${r.from} ${r.to}`)
    .toReversed();

/** Expects one record and one event with its id for each change, in the same order. */
export async function expectTold(s: TestServer, b: Bench): Promise<void> {
  const records = (await b.list('workspace/history')).map((r: { id: string }) => r.id).toReversed();
  await until('the events of the records', async () => {
    const { events } = await ok(
      s.call('GET', `${b.app}/events?limit=500&threadId=${b.threadId}&types=workspace.recovery.updated`),
    );
    const told = events.map((e: { data: { id: string } }) => e.data.id);
    return told.length >= records.length && (expect(told).toEqual(records), true);
  });
}

/** The files of each recovery source. */
export async function recoveries(b: Bench): Promise<Record<string, string>[]> {
  const kept = (await b.list('checkpoints')).filter((c: { kind: string }) => c.kind === 'recovery');
  return Promise.all(kept.map((c: { sourceId: string }) => b.files(c.sourceId)));
}

/** Waits until the thread has no job. */
export const settled = (s: TestServer, b: Bench) =>
  until(
    'the jobs of the thread to end',
    async () =>
      (
        await s.service.ctx.db
          .selectFrom('jobs')
          .select('id')
          .where('key', '=', `thread:${b.threadId}`)
          .execute()
      ).length === 0,
  );

/** Makes the worker of the thread's job disappear: its row, and what only it knows. */
export const loseWorker = (s: TestServer, b: Bench) =>
  s.service.ctx.db
    .updateTable('jobs')
    .set({ worker_id: 'wrk_gone' })
    .where('key', '=', `thread:${b.threadId}`)
    .where('status', '=', 'active')
    .execute();

type RunnerCall =
  | 'tasks'
  | 'capture'
  | 'blobs'
  | 'patch'
  | 'putWorkspace'
  | 'deleteWorkspace'
  | 'deleteTask'
  | 'startTask'
  | 'workspaceExists';
type StoreCall = 'put' | 'getRange';
/** A call of the service to its runner or store: before it is made, or after its answer. */
export type Step = `${'before' | 'after'} ${RunnerCall | StoreCall}`;

/**
 * Runs `act` when the service reaches this step: the first time, or each time until it is mended. Returns a
 * function that mends it.
 */
export function atStep(
  s: TestServer,
  step: Step,
  act: () => Promise<void>,
  times: 'once' | 'always' = 'once',
): () => void {
  const [when, name] = step.split(' ') as [string, RunnerCall | StoreCall];
  const { ctx } = s.service;
  let isMet = false;
  const wrap =
    (call: (...args: unknown[]) => unknown) =>
    async (...args: unknown[]) => {
      const come = () => {
        if (times === 'always') return act();
        // A call for all threads, by a sweep, may be under way too.
        if (isMet) return;
        isMet = true;
        mend();
        return act();
      };
      if (when === 'before') await come();
      const result = await call(...args);
      if (when === 'before') return result;
      try {
        await come();
      } catch (error) {
        // An answer that nobody reads any more would hold the workspace until the runner gives it up.
        if (result instanceof Readable) result.destroy();
        throw error;
      }
      return result;
    };
  let mend: () => void;
  if (name === 'put' || name === 'getRange') {
    const { store } = ctx;
    mend = () => {
      ctx.store = store;
    };
    ctx.store = new Proxy(store, {
      get(target, member) {
        const value: unknown = Reflect.get(target, member);
        if (typeof value !== 'function') return value;
        const bound = value.bind(target) as (...args: unknown[]) => unknown;
        return member === name ? wrap(bound) : bound;
      },
    });
  } else {
    const runner = ctx.runner as unknown as Record<RunnerCall, (...args: unknown[]) => unknown>;
    const call = runner[name];
    mend = () => {
      runner[name] = call;
    };
    runner[name] = wrap(call.bind(ctx.runner));
  }
  return mend;
}

/** The faults of a test file; those that are left are mended after each test. */
export function faultsOf(server: () => TestServer): {
  faultAt(step: Step, act: () => Promise<void>, times?: 'once' | 'always'): void;
  onMend(undo: () => void): void;
  mend(): void;
} {
  const mended: (() => void)[] = [];
  const mend = () => {
    for (const each of mended.splice(0)) each();
  };
  afterEach(mend);
  return {
    faultAt: (step, act, times) => {
      mended.push(atStep(server(), step, act, times));
    },
    onMend: (undo) => {
      mended.push(undo);
    },
    mend,
  };
}

/** The error of a call at this step while its store or runner is away. */
export const away = (step: Step) =>
  /put$|getRange/.test(step)
    ? new StorageUnavailableError('The store is away.')
    : new RunnerError(503, 'unavailable', 'The runner does not answer.');
