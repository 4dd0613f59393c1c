/** The review loop with both providers. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { sql } from 'kysely';
import { transaction } from '../db/transaction.ts';
import { newId } from '../ids.ts';
import { findPullRequestById } from '../pull-requests/index.ts';
import { ok, sh, until } from '../threads/threads.fixture.ts';
import { BREAK_NAMES, PROVIDERS, startWorld } from './both-providers.fixture.ts';
import type { Looped, World } from './both-providers.fixture.ts';
import { settleReplies } from './replies.ts';
import { insertPass, insertPoints } from './store.ts';

// The passes of many pull requests run in parallel.
vi.setConfig({ testTimeout: 120_000 });

let w: World;
beforeAll(async () => {
  w = await startWorld(14);
}, 60_000);
afterAll(() => w?.close());

const AUTO = { reviewLoop: { autoMerge: true } };
const HELPS = { instructions: sh('echo pass >> passes.txt') };
const loop = (fields: object) => ({ reviewLoop: fields });
const OFF = loop({ status: 'disabled', disabledBy: 'system' });

/** It was merged once, by the service, and everything that belongs to it has ended. */
async function isMergedOnce(one: Looped): Promise<void> {
  const { mergeCommitSha } = await one.shows({ state: 'merged', ...OFF });
  const commits = (await one.git('rev-list', '--first-parent', 'main')).split('\n');
  expect([commits[0], commits.length]).toEqual([mergeCommitSha, 2]);
  expect((await one.threadNow()).sealedAt).not.toBeNull();
  expect(await one.merges(w.cookie)).toEqual([null]);
}

/** A pass that quotes a review thread and whose change is on the branch. Returns the expected reply. */
async function isAddressed(one: Looped, threadId: string): Promise<string> {
  const { ctx } = w.s.service;
  return transaction(ctx, async (tx) => {
    const { row, loop: of } = (await findPullRequestById(tx.db, one.id))!;
    const at = { org_id: row.org_id, loop_id: of!.id };
    const now = new Date();
    const pass = await insertPass(tx, {
      ...at,
      id: newId('pass'),
      loop_enabled_at: of!.enabled_at,
      kind: 'message',
      head_sha: row.head_sha,
      settled_at: now,
    });
    const point = { pass_id: pass.id, review_thread_id: threadId, comment_id: 'c', comment_at: now };
    await insertPoints(tx, [{ ...at, ...point }]);
    await settleReplies(tx, pass.id, row);
    return `Addressed in ${row.head_sha}.`;
  });
}

/** Makes jobs that wait for the provider due. */
async function hurry(one: Looped): Promise<void> {
  await sql`update jobs set run_at = now() where key = ${`reply:${one.id}`} and status = 'queued'`.execute(
    w.s.service.ctx.db,
  );
}
const isSettled = async (one: Looped): Promise<boolean> => {
  await hurry(one);
  const due = await w.s.service.ctx.db
    .selectFrom('review_points as p')
    .innerJoin('review_loops as l', 'l.id', 'p.loop_id')
    .select('p.pass_id')
    .where('l.pull_request_id', '=', one.id)
    .where('p.reply_sha', 'is not', null)
    .where('p.replied_at', 'is', null)
    .execute();
  return due.length === 0;
};

describe.concurrent.each(PROVIDERS)('%s', (name) => {
  const open = (asked = {}) => w.open(name, asked);

  test('a failing check leads to a pass and to a look at its push', async () => {
    const one = await open({ settings: HELPS });
    await one.status('failure', { log: 'expected 1, got 2\n' });
    const pushed = await one.shows(loop({ status: 'waiting_checks', passCount: 1 }));
    expect(pushed.headSha).not.toBe(one.first);
    expect(await one.git('show', `${pushed.headSha}:passes.txt`)).toBe('pass');
    const [pass, ...more] = await one.passes();
    expect([more, pass.content]).toEqual([[], expect.stringContaining('expected 1, got 2')]);
    await one.status('success');
    await one.shows(loop({ status: 'ready' }));
  });

  test('a comment leads to a pass and one reply; once it is resolved, the pull request is merged', async () => {
    const one = await open({ settings: HELPS, pull: AUTO });
    const thread = await one.comment('Name this better.');
    await one.status('success');
    const { headSha } = await one.shows(loop({ status: 'waiting_checks', passCount: 1 }));
    await one.status('success');
    await one.shows(loop({ status: 'blocked', blockedReason: 'unresolved_comments' }));
    await until('the reply is sent', () => isSettled(one));
    expect(await one.replies(thread)).toEqual([`Addressed in ${headSha}.`]);
    await one.resolve(thread);
    await one.shows({ state: 'merged', ...OFF });
    expect([await one.replies(thread), (await one.passes()).length]).toEqual([
      [`Addressed in ${headSha}.`],
      1,
    ]);
  });

  test('a reply is sent once, however the call fails, and never after the loop is disabled', async () => {
    const one = await open();
    for (const how of BREAK_NAMES) {
      const thread = await one.comment(`A word: ${how}.`);
      one.breakNext('replyToThread', how);
      const reply = await isAddressed(one, thread);
      await until('the reply is sent', () => isSettled(one));
      expect([how, await one.replies(thread)]).toEqual([how, [reply]]);
    }
    await isAddressed(one, 'gone');
    await until('the reply to a deleted thread is settled', () => isSettled(one));
    const late = await one.comment('Late.');
    one.breakNext('replyToThread', 'is cut off before it is done');
    await isAddressed(one, late);
    await ok(w.s.call('PATCH', `${one.path}/review-loop`, { enabled: false }));
    await until('no reply is due', () => isSettled(one));
    expect(await one.replies(late)).toEqual([]);
  });

  test('a conflict with the base leads to an update from it', async () => {
    const report = { status: 'resolved', summary: 'Both.', checks: ['compared'] };
    const script = [
      'printf "both\\n" > a.txt',
      `cat > .hoplite/repair/report.json <<'END'\n${JSON.stringify(report)}\nEND`,
    ];
    const metadata = { 'headrace.repairScript': sh(script.join('\n')) };
    const one = await open({ files: { 'a.txt': 'ours\n' }, metadata });
    await one.status('success');
    await one.shows(loop({ status: 'ready' }));
    const base = await one.push('main', { 'a.txt': 'theirs\n' });
    await one.shows({ update: { status: 'done', baseSha: base }, ...loop({ passCount: 1 }) });
    const { headSha } = await one.shows(loop({ status: 'waiting_checks' }));
    expect(await one.git('rev-list', '--parents', '-1', headSha)).toBe(`${headSha} ${one.first} ${base}`);
    expect(await one.passes()).toEqual([]);
  });

  test('a draft is marked ready and merged with the configured method', async () => {
    const one = await open({ settings: { mergeMethod: 'squash' }, pull: { draft: true, ...AUTO } });
    await one.status('success');
    await isMergedOnce(one);
    expect((await one.now()).draft).toBe(false);
    expect((await one.git('rev-list', '--parents', '-1', 'main')).split(' ')).toHaveLength(2);
  });

  test.each(BREAK_NAMES.filter((how) => how.startsWith('is done')))(
    'a merge that %s happens once',
    async (how) => {
      const one = await open({ pull: AUTO });
      one.breakNext('mergePullRequest', how);
      await one.status('success');
      if (!how.includes('process')) {
        await one.shows(loop({ operationalRetryCount: 1 }));
        // Otherwise, the next look would be in half a minute.
        await one.sync();
      }
      await isMergedOnce(one);
    },
  );

  test('a merge by a person at the same time is not a second merge', async () => {
    const one = await open({ pull: AUTO });
    const merge = () => w.s.call('POST', `${one.path}/merge`, {});
    const [answer] = await Promise.all([merge(), one.status('success')]);
    await one.shows({ state: 'merged', ...OFF });
    expect([200, 409]).toContain(answer.status);
    expect(await one.merges(w.cookie)).toHaveLength(1);
  });

  test('a refused merge blocks the loop, which retries when the summary changes', async () => {
    const one = await open({ settings: { mergeMethod: 'rebase' }, pull: AUTO });
    await one.allowMethods(['merge']);
    await one.status('success');
    await one.shows(loop({ status: 'blocked', blockedReason: 'merge_refused' }));
    await one.allowMethods(['merge', 'rebase']);
    await one.sync();
    await one.shows({ state: 'open', ...loop({ status: 'blocked' }) });
    await one.status('success', { name: 'more' });
    await isMergedOnce(one);
  });

  test('checks that the credential may not see block the loop', async () => {
    const one = await open();
    one.hideChecks();
    await one.sync();
    await one.shows(loop({ status: 'blocked', blockedReason: 'checks_unavailable' }));
  });
});

test('the loop waits for a merge that GitHub queues, and is blocked if the queue drops it', async () => {
  const one = await w.open('GitHub', { pull: AUTO });
  const { repoFullName, headSha } = await one.now();
  const repository = w.github.repositories.find(({ fullName }) => fullName === repoFullName)!;
  repository.queues.add('main');
  await one.status('success');
  const isQueued = { scmSummary: { mergeQueued: true }, ...loop({ status: 'finalizing' }) };
  const { version } = await one.shows(isQueued);
  await one.sync();
  await one.sync();
  const base = await one.git('rev-parse', 'main');
  const tree = (await repository.mergedTree(base, headSha))!;
  const commit = await one.git('commit-tree', tree, '-p', base, '-p', headSha, '-m', 'By the queue');
  expect(await one.now()).toMatchObject({ version, ...isQueued });
  repository.pulls[0]!.queued = false;
  await one.sync();
  await one.shows(loop({ status: 'blocked', blockedReason: 'merge_refused' }));
  await one.status('success', { name: 'more' });
  await one.shows(isQueued);
  await one.git('update-ref', 'refs/heads/main', commit);
  await one.sync();
  await one.shows({ state: 'merged', mergeCommitSha: commit, ...OFF });
  expect(await one.merges(w.cookie)).toEqual([null]);
});

test('a merge that is refused for a conflict that looks do not see is retried ever less often, and then blocks the loop', async () => {
  const one = await w.open('the built-in provider', { pull: AUTO });
  const asked = one.refuseMerges('conflicting');
  await one.status('success');
  await until('the merge is retried', () => asked() > 1);
  await one.shows(loop({ status: 'finalizing', operationalRetryCount: 0 }));
  await w.s.service.ctx.db
    .updateTable('review_loops')
    .set({ status_since: new Date(Date.now() - 301_000) })
    .where('pull_request_id', '=', one.id)
    .execute();
  await one.sync();
  await one.shows(loop({ status: 'blocked', blockedReason: 'merge_refused' }));
});

test("a merge waits for a person's change that is in progress", async () => {
  const one = await w.open('the built-in provider', { pull: AUTO });
  const change = one.holdChanges();
  const changed = ok(w.s.call('PATCH', one.path, { title: 'Another' }));
  await change.begun;
  await one.status('success');
  const { lastObservedAt } = (await one.shows(loop({ status: 'finalizing' }))).reviewLoop;
  await one.sync();
  await until('the next look', async () => (await one.now()).reviewLoop.lastObservedAt > lastObservedAt);
  expect((await one.now()).state).toBe('open');
  change.release();
  await changed;
  await one.sync();
  await isMergedOnce(one);
  expect((await one.now()).title).toBe('Another');
});
