import type { Apply, Build, Thread } from '@headrace/client';
import { describe, expect, test } from 'vitest';
import { detailedOf, runningOf, waitingOf } from './waiting.ts';

const thread = (id: string, more: Partial<Thread> = {}) =>
  ({
    id,
    projectId: 'prj_1',
    title: id,
    status: 'ready',
    waitingOn: [],
    blockedOn: [],
    sealedAt: null,
    archivedAt: null,
    latestRunId: `run_${id}`,
    runStartedAt: null,
    updatedAt: '2026-01-01T00:00:00.000Z',
    ...more,
  }) as unknown as Thread;
const apply = (id: string, threadId: string, more: Partial<Apply> = {}) =>
  ({
    id,
    threadId,
    status: 'conflicted',
    conflicts: ['a'],
    createdAt: '2026-01-02T00:00:00.000Z',
    ...more,
  }) as Apply;
const build = (id: string, threadId: string, more: Partial<Build> = {}) =>
  ({ id, threadId, status: 'failed', error: null, createdAt: '2026-01-03T00:00:00.000Z', ...more }) as Build;

const ids = (lists: Partial<Parameters<typeof waitingOf>[0]>) =>
  waitingOf({ threads: [], applies: [], builds: [], reviewed: [], dismissed: new Set(), ...lists }).map(
    ({ id }) => id,
  );

describe('what waits for a person', () => {
  test('approvals and failed runs, but not a thread that waits for a place', () => {
    expect(
      ids({
        threads: [
          thread('a', { status: 'waiting', waitingOn: ['approval:apr_1'] }),
          thread('b', { status: 'waiting', waitingOn: ['capacity'] }),
          thread('c', { status: 'failed' }),
        ],
      }),
    ).toEqual(['approval:apr_1', 'run_c']);
  });

  test('a conflict waits until its thread is applied, archived or queued again', () => {
    const threads = [
      thread('open'),
      thread('sealed', { sealedAt: 'x' }),
      thread('archived', { archivedAt: 'x' }),
      thread('queued', { blockedOn: ['apply:apl_9'] }),
    ];
    const applies = ['open', 'sealed', 'archived', 'queued', 'unknown'].map((id) => apply(`apl_${id}`, id));
    expect(ids({ threads, applies })).toEqual(['apl_open', 'apl_unknown']);
  });

  test('only the newest apply and the newest build of a thread count', () => {
    expect(
      ids({
        applies: [apply('apl_2', 'a'), apply('apl_1', 'a')],
        builds: [build('bld_2', 'a', { status: 'ready' }), build('bld_1', 'a'), build('bld_3', 'b')],
      }),
    ).toEqual(['bld_3', 'apl_2']);
  });

  test('builds without a thread are those of their app: the newest counts', () => {
    const own = (id: string, projectId: string, status: Build['status'] = 'failed') =>
      ({ ...build(id, 'none', { status }), threadId: null, projectId }) as Build;
    const builds = [own('bld_4', 'prj_1', 'ready'), own('bld_3', 'prj_1'), own('bld_2', 'prj_2')];
    expect(ids({ builds: [...builds, build('bld_1', 'a')] })).toEqual(['bld_2', 'bld_1']);
  });

  test('a cancelled build has failed for nobody', () => {
    expect(ids({ builds: [build('bld_1', 'a', { error: { code: 'cancelled', message: '' } })] })).toEqual([]);
  });

  test('a pull request waits where its push or loop stopped, or where it is green and the loop does not merge', () => {
    const reviewed = (id: string, push: string, loop: object | null, more: object = {}) =>
      thread(id, {
        primaryPullRequest: {
          id: `pr_${id}`,
          state: 'open',
          headSha: 'sha',
          push: { status: push, reason: null, conflicts: [], error: null },
          update: null,
          reviewLoop: loop && { enabled: true, updatedAt: `2026-01-0${id.length}`, ...loop },
          scmSummary: null,
          updatedAt: '2026-01-01',
          ...more,
        },
      } as unknown as Partial<Thread>);
    const blocked = { status: 'blocked', blockedReason: 'no_change' };
    expect(
      ids({
        reviewed: [
          reviewed('a', 'diverged', null),
          reviewed('bb', 'current', blocked),
          reviewed('ccc', 'current', { status: 'fixing' }),
          reviewed('dddd', 'current', { status: 'ready' }),
          reviewed('eeeee', 'current', { status: 'error', lastErrorCode: 'unavailable' }),
          reviewed('f', 'current', null),
          reviewed('g', 'diverged', null, { state: 'merged' }),
        ],
      }).map((id) => id.split(':')[0]),
    ).toEqual(['pr_dddd', 'pr_bb', 'pr_a']);
  });

  test('one that is taken off the list is back as its loop stops again, not as an error goes on', () => {
    const idOf = (loop: object, error: object | null = null) =>
      ids({
        reviewed: [
          thread('a', {
            primaryPullRequest: {
              id: 'pr_a',
              state: 'open',
              headSha: 'sha',
              push: { status: error ? 'failed' : 'current', reason: null, conflicts: [], error },
              update: null,
              reviewLoop: { enabled: true, ...loop },
              scmSummary: null,
            },
          } as unknown as Partial<Thread>),
        ],
      })[0];
    const blocked = { status: 'blocked', blockedReason: 'no_change', updatedAt: '2026-01-01' };
    expect(idOf(blocked)).toBe(idOf({ ...blocked }));
    expect(idOf({ ...blocked, updatedAt: '2026-01-02' })).not.toBe(idOf(blocked));
    const denied = { status: 'error', lastErrorCode: 'access_denied', updatedAt: '2026-01-01' };
    expect(idOf({ ...denied, updatedAt: '2026-01-02' })).toBe(idOf(denied));
    expect(idOf({ ...denied, lastErrorCode: 'repository_gone' })).not.toBe(idOf(denied));
    expect(idOf(blocked, { code: 'protected', message: '' })).not.toBe(
      idOf(blocked, { code: 'branch_gone', message: '' }),
    );
  });

  test('newest first, without what was taken off the list', () => {
    expect(
      ids({
        applies: [apply('apl_1', 'a')],
        builds: [build('bld_1', 'b'), build('bld_2', 'c')],
        dismissed: new Set(['bld_1']),
      }),
    ).toEqual(['bld_2', 'apl_1']);
  });
});

test('few rows read more than the lists, an approval first', () => {
  const failed = ['a', 'b', 'c', 'd'].map((id) => thread(id, { status: 'failed' }));
  const asks = ['e', 'f'].map((id) => thread(id, { status: 'waiting', waitingOn: [`approval:${id}`] }));
  const items = waitingOf({
    threads: [...failed, ...asks],
    applies: [],
    builds: [],
    reviewed: [],
    dismissed: new Set(),
  });
  expect([...detailedOf(items)]).toEqual(['approval:e']);
  expect([...detailedOf(items.filter(({ kind }) => kind === 'run'))]).toEqual(['run_a', 'run_b']);
});

test('what runs: the longest first', () => {
  const running = runningOf([
    thread('new', { status: 'running', runStartedAt: '2026-01-01T00:00:09.000Z' }),
    thread('rests'),
    thread('old', { status: 'running', runStartedAt: '2026-01-01T00:00:01.000Z' }),
  ]);
  expect(running.map(({ id }) => id)).toEqual(['old', 'new']);
});
