/** Single steps of review loops. The service's own job of the pull request is held back. */
import type { KyselyPlugin } from 'kysely';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Context } from '../context.ts';
import { syncPullRequest } from '../sync/index.ts';
import { look } from '../sync/look.ts';
import type { Looked } from '../sync/index.ts';
import { openRepository } from '../scm/index.ts';
import { localProvider } from '../scm/local/provider.ts';
import { ProviderError } from '../scm/provider.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { commitAsOther } from '../sync/others-commits.fixture.ts';
import { newBound } from '../sync/sync.fixture.ts';
import { ok, until } from '../threads/threads.fixture.ts';
import { driveLoop } from './drive-loop.ts';

let s: TestServer;
beforeAll(async () => {
  s = await startTestServer();
});
afterEach(() => vi.restoreAllMocks());
afterAll(() => s?.close());

const MAY = { mayBegin: true };
const CHANGES = '```sh\necho more >> passes.txt\n```';
const NO_CHANGE = '```sh\ntrue\n```';

/** A pull request whose loop takes only the test's steps. */
async function newLooped(instructions = CHANGES) {
  const d = await newBound(s);
  const settings = { reviewLoop: { instructions } };
  await ok(s.call('PATCH', `/api/projects/${d.projectId}/settings`, settings));
  const pr = await d.open();
  await d.shows(pr.id, { scmSummary: { mergeable: 'mergeable' } });
  const { db } = s.service.ctx;
  const key = `pull-request:${pr.id as string}`;
  await until(
    'its job is done',
    async () => (await db.selectFrom('jobs').select('id').where('key', '=', key).execute()).length === 0,
  );
  const job = { fence: async () => {}, payload: { pullRequestId: pr.id }, signal: s.service.ctx.shutdown };
  const held = {
    kind: 'pull-request.sync',
    key,
    payload: JSON.stringify(job.payload),
    run_at: sql`'infinity'`,
  };
  await db
    .insertInto('jobs')
    .values(held as never)
    .execute();
  const repository = await openRepository(s.service.ctx, d.repositoryId);
  const at = `/api/source-control/scm/repositories/${d.repositoryId}`;
  const passes = () =>
    db
      .selectFrom('review_passes as p')
      .innerJoin('review_loops as l', 'l.id', 'p.loop_id')
      .selectAll('p')
      .where('l.pull_request_id', '=', pr.id)
      .orderBy('p.id')
      .execute();
  const looped = {
    ...d,
    id: pr.id as string,
    loop: async () => (await d.pr(pr.id)).reviewLoop,
    sync: () => syncPullRequest(s.service.ctx, job as never, driveLoop),
    async look(): Promise<Looked> {
      return (await look(s.service.ctx, job, repository)).looked!;
    },
    choose: (choice: object) => ok(s.call('PATCH', `${d.prs}/${pr.id as string}/review-loop`, choice)),
    async status(state: string, context = 'ci'): Promise<void> {
      const { headSha } = await d.pr(pr.id);
      await ok(s.call('POST', `${at}/commits/${headSha as string}/statuses`, { context, state }));
    },
    comment: (body: string) =>
      ok(s.call('POST', `${at}/pull-requests/${pr.number as number}/comments`, { body })),
    replies: async (): Promise<string[]> => {
      const { comments } = await ok(s.call('GET', `${at}/pull-requests/${pr.number as number}/comments`));
      return comments
        .map((one: { body: string }) => one.body)
        .filter((one: string) => one.startsWith('Addr'));
    },
    passes,
    /** Waits for the end of the pass's run. */
    async ran() {
      const { run_id: id } = (await passes()).at(-1)!;
      await until('the run has ended', async () => {
        const run = await db.selectFrom('runs').select('finished_at').where('id', '=', id).executeTakeFirst();
        return run?.finished_at != null;
      });
      return id!;
    },
    runs: async () => (await ok(s.call('GET', `${d.prs.replace('/pull-requests', '')}/runs`))).runs,
    row: () => db.selectFrom('pull_requests').selectAll().where('id', '=', pr.id).executeTakeFirstOrThrow(),
  };
  await looped.choose({ enabled: true });
  await looped.sync();
  return looped;
}

/** The context with a database that fails statement number `at`, or counts statements. */
function failingAt(at: number): { ctx: Context; count: () => number } {
  let count = 0;
  const plugin: KyselyPlugin = {
    transformQuery({ node }) {
      if (++count === at) throw new Error('killed');
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  const { ctx } = s.service;
  return { ctx: Object.assign(Object.create(ctx), { db: ctx.db.withPlugin(plugin) }), count: () => count };
}

describe('a pass', () => {
  test('begins completely or not at all, whichever statement fails', async () => {
    const d = await newLooped();
    await d.comment('Please rename this.');
    await d.status('failure');
    const looked = await d.look();
    let at = 1;
    for (; ; at++) {
      const { ctx } = failingAt(at);
      const error = await driveLoop({ ...looked, ctx }, MAY).catch((thrown: Error) => thrown.message);
      if (error === undefined) break;
      expect([error, await d.passes(), (await d.runs()).length]).toEqual(['killed', [], 0]);
    }
    expect(at).toBeGreaterThan(20);
    expect((await d.passes()).length).toBe(1);
    expect(await d.loop()).toMatchObject({ status: 'fixing', passCount: 1 });
  });

  test('begins once, however many looks there are, parallel or late', async () => {
    const d = await newLooped();
    await d.status('failure');
    const looked = await d.look();
    await Promise.all([1, 2, 3, 4].map(() => driveLoop(looked, MAY)));
    await driveLoop(looked, MAY);
    await d.ran();
    await driveLoop(looked, MAY);
    expect([(await d.passes()).length, (await d.runs()).length]).toEqual([1, 1]);
    await d.sync();
    await driveLoop(looked, MAY);
    expect([(await d.passes()).length, (await d.loop()).status]).toEqual([1, 'waiting_checks']);
  });

  test('does not begin from a look that is minutes old', async () => {
    const d = await newLooped();
    await d.status('failure');
    const looked = await d.look();
    await driveLoop({ ...looked, readAt: Date.now() - 181_000 }, MAY);
    expect(await d.passes()).toEqual([]);
    await driveLoop(looked, MAY);
    expect((await d.passes()).length).toBe(1);
  });

  test('does not begin if the loop has changed since the look', async () => {
    const d = await newLooped();
    await d.status('failure');
    const looked = await d.look();
    await d.choose({ enabled: false });
    await driveLoop(looked, MAY);
    await d.choose({ enabled: true });
    await driveLoop(looked, MAY);
    await d.status('success');
    await d.sync();
    expect([await d.passes(), (await d.loop()).status]).toEqual([[], 'ready']);
  });

  test('that is lost is retried after 30, 60 and 120 s with its message; the fourth loss is an error', async () => {
    const d = await newLooped(NO_CHANGE);
    await d.status('failure');
    await d.sync();
    const { db } = s.service.ctx;
    const seen = [];
    for (let n = 0; n < 4; n++) {
      const id = await d.ran();
      const lost = { status: 'failed', error_code: 'worker_lost', error_message: 'gone' } as const;
      await db.updateTable('runs').set(lost).where('id', '=', id).execute();
      await d.sync();
      // Another look changes nothing.
      await d.sync();
      const loop = await d.loop();
      const next = (await d.row()).next_look_at!.getTime();
      const seconds = Math.round((Date.parse(loop.waitUntil) - Date.now()) / 10_000) * 10;
      seen.push([loop.status, loop.lastErrorCode, seconds, next <= Date.parse(loop.waitUntil)]);
      if (loop.status === 'error') break;
      await db
        .updateTable('review_passes')
        .set({ retry_at: new Date(Date.now() - 1_000) })
        .where('run_id', '=', id)
        .execute();
      await d.sync();
    }
    expect(seen).toEqual([
      ['fixing', null, 30, true],
      ['fixing', null, 60, true],
      ['fixing', null, 120, true],
      ['error', 'worker_lost', 300, true],
    ]);
    const runs = await d.runs();
    expect([runs.length, new Set(runs.map((run: { messageId: string }) => run.messageId)).size]).toEqual([
      4, 1,
    ]);
    const [pass, ...others] = await d.passes();
    expect([pass!.lost_runs, pass!.settled_at !== null, others]).toEqual([3, true, []]);
    expect(runs[0].id).toBe((await d.loop()).lastFixRunId);
  });

  test('whose push is refused blocks the loop; after the push, the reply is sent and the loop continues', async () => {
    const d = await newLooped();
    await d.status('success');
    await d.comment('Please rename this.');
    await d.sync();
    await d.ran();
    const { db } = s.service.ctx;
    const { latestSourceId } = await d.threadNow();
    const refused = {
      push_status: 'failed',
      pushing_source_id: latestSourceId,
      push_error: JSON.stringify({ code: 'protected', message: 'no' }),
    };
    const change = (columns: object) =>
      db
        .updateTable('pull_requests')
        .set(columns as never)
        .where('id', '=', d.id)
        .execute();
    await change(refused);
    await d.sync();
    expect(await d.loop()).toMatchObject({ status: 'blocked', blockedReason: 'push_failed', passCount: 1 });
    expect(await d.replies()).toEqual([]);
    await change({ push_status: 'pending', pushing_source_id: null, push_error: null });
    await d.sync();
    const { headSha, reviewLoop } = await d.pr(d.id);
    expect(reviewLoop).toMatchObject({ status: 'waiting_checks', passCount: 1, headSha });
    await vi.waitFor(async () => expect(await d.replies()).toEqual([`Addressed in ${headSha as string}.`]));
    expect((await d.passes())[0]!.settled_at).not.toBeNull();
  });

  test('during which the loop was disabled gets no reply, even after the loop is enabled again', async () => {
    const d = await newLooped();
    await d.status('success');
    await d.comment('Please rename this.');
    await d.sync();
    await d.ran();
    const { headSha } = await d.pr(d.id);
    await d.choose({ enabled: false });
    await d.choose({ enabled: true });
    await d.sync();
    const pr = await d.pr(d.id);
    expect([pr.headSha !== headSha, pr.reviewLoop.status, pr.reviewLoop.passCount]).toEqual([
      true,
      'waiting_checks',
      0,
    ]);
    const answered = await s.service.ctx.db
      .selectFrom('review_points')
      .select('reply_sha')
      .where('loop_id', '=', pr.reviewLoop.id)
      .execute();
    expect(answered).toEqual([{ reply_sha: null }]);
  });

  test('ends while the organization may begin nothing new, and no other pass begins', async () => {
    const d = await newLooped();
    await d.status('failure');
    await d.sync();
    await d.ran();
    const { headSha } = await d.pr(d.id);
    const looked = await d.look();
    await driveLoop(looked, { mayBegin: false });
    expect((await d.loop()).status).toBe('fixing');
    await syncPullRequest(
      Object.assign(Object.create(s.service.ctx), {
        config: { ...s.service.ctx.config, disabled: ['sourceControl'] },
      }),
      looked.job as never,
      driveLoop,
    );
    const pr = await d.pr(d.id);
    expect([pr.headSha !== headSha, pr.reviewLoop.status]).toEqual([true, 'observing']);
    await d.status('failure');
    await driveLoop(await d.look(), { mayBegin: false });
    expect([(await d.passes()).length, (await d.loop()).status]).toEqual([1, 'observing']);
  });
});

test('no pass begins while a person updates the branch from its base', async () => {
  const d = await newLooped();
  await d.status('failure');
  await ok(s.call('POST', `${d.prs}/${d.id}/update-branch`, { conflictResolution: 'manual' }));
  await driveLoop(await d.look(), MAY);
  expect([await d.passes(), (await d.loop()).status]).toEqual([[], 'waiting_checks']);
  await d.sync();
  expect((await d.passes()).length).toBe(1);
});

test('a draft whose loop is disabled while it is marked ready is not merged', async () => {
  const d = await newLooped();
  await d.choose({ autoMerge: true });
  await ok(s.call('PATCH', `${d.prs}/${d.id}`, { draft: true }));
  await d.status('success');
  const { updatePullRequest } = localProvider;
  vi.spyOn(localProvider, 'updatePullRequest').mockImplementationOnce(async (...of) => {
    await d.choose({ enabled: false });
    return updatePullRequest(...of);
  });
  await d.sync();
  expect(await d.pr(d.id)).toMatchObject({ state: 'open', draft: false, reviewLoop: { status: 'disabled' } });
});

test("a user's run that completed after a failed pass restarts the loop, however late the look is", async () => {
  const d = await newLooped('```sh\nexit 3\n```');
  await d.status('failure');
  await d.sync();
  const sent = await ok(
    s.call('POST', `/api/threads/${d.threadId}/messages`, {
      content: NO_CHANGE,
    }),
  );
  await until('both runs are over', async () => {
    const all = await d.runs();
    return all.find((run: { id: string }) => run.id === sent.run.id)?.status === 'completed';
  });
  await d.sync();
  expect([(await d.passes()).length, await d.loop()]).toMatchObject([2, { status: 'fixing', passCount: 1 }]);
});

test.each([
  ['resolves', 'resolved', { status: 'waiting_checks', passCount: 1 }],
  ['does not resolve', 'unresolved', { status: 'blocked', blockedReason: 'merge_conflict', passCount: 1 }],
])(
  'the loop names the repair of an update that %s the conflict, even if no look saw it run',
  async (_, end, then) => {
    const d = await newLooped();
    await d.edit({ 'a.txt': 'ours\n' });
    await d.sync();
    await commitAsOther(s, { repositoryId: d.repositoryId, branch: 'main', files: { 'a.txt': 'theirs\n' } });
    const report = JSON.stringify({ status: end, summary: 'Read both.', checks: [] });
    const script = `\`\`\`sh\necho both > a.txt\necho '${report}' > .hoplite/repair/report.json\n\`\`\``;
    const metadata = { 'headrace.repairScript': script };
    await ok(s.call('PATCH', `/api/projects/${d.projectId}`, { metadata }));
    await d.status('success');
    await d.sync();
    expect(await d.loop()).toMatchObject({ status: 'fixing', lastFixRunId: null });
    const original = localProvider.getPullRequest;
    const away = vi.spyOn(localProvider, 'getPullRequest');
    away.mockRejectedValue(new ProviderError({ code: 'unavailable' }, '502'));
    await d.sync();
    await until('the repair is over', async () => (await d.runs())[0]?.finishedAt);
    away.mockImplementation(original);
    await d.sync();
    const [run, ...others] = await d.runs();
    expect([await d.loop(), run.kind, others]).toMatchObject([
      { ...then, lastFixRunId: run.id },
      'repair',
      [],
    ]);
    expect((await d.passes()).map((pass) => pass.settled_at !== null)).toEqual([true]);
  },
);

test('a provider that fails is retried after 30, 60 and 120 s, then the loop is in error until a successful look', async () => {
  const d = await newLooped();
  await d.status('success');
  await d.sync();
  const seen = [];
  for (let n = 0; n < 4; n++) {
    vi.spyOn(localProvider, 'getPullRequest').mockRejectedValueOnce(
      new ProviderError({ code: 'unavailable' }, '502'),
    );
    await d.sync();
    const { status, operationalRetryCount, waitUntil } = await d.loop();
    const next = (await d.row()).next_look_at!.toISOString();
    const seconds = Math.round((Date.parse(waitUntil) - Date.now()) / 10_000) * 10;
    seen.push([status, operationalRetryCount, seconds, next.slice(0, 19) === waitUntil.slice(0, 19)]);
  }
  expect(seen).toEqual([
    ['ready', 1, 30, true],
    ['ready', 2, 60, true],
    ['ready', 3, 120, true],
    ['error', 3, 300, true],
  ]);
  expect(await d.loop()).toMatchObject({ lastErrorCode: 'unavailable' });
  await d.sync();
  expect(await d.loop()).toMatchObject({ status: 'ready', operationalRetryCount: 0, waitUntil: null });
});

test('the loop waits 60 s for a provider that does not say whether it can merge, and then looks again', async () => {
  const d = await newLooped();
  await d.status('success');
  const { db } = s.service.ctx;
  const original = localProvider.getPullRequest;
  vi.spyOn(localProvider, 'getPullRequest').mockImplementation(async (...args) => ({
    ...(await original(...args)),
    mergeable: 'unknown',
  }));
  const unknownFor = async (seconds: number) => {
    const since = new Date(Date.now() - seconds * 1_000);
    await db.updateTable('pull_requests').set({ unknown_looks: 9 }).where('id', '=', d.id).execute();
    const loops = db.updateTable('review_loops').where('pull_request_id', '=', d.id);
    await loops.set({ unknown_since: since }).execute();
    await d.sync();
    const { status } = await d.loop();
    return [status, (await d.row()).next_look_at!.getTime() - since.getTime()];
  };
  await d.sync();
  expect(await unknownFor(50)).toEqual(['waiting_checks', 60_000]);
  expect((await unknownFor(61))[0]).toBe('ready');
});

test('a look that finds nothing new takes at most nine statements and publishes nothing', async () => {
  const d = await newLooped();
  await d.status('success');
  await d.sync();
  const { version } = await d.pr(d.id);
  const looked = await d.look();
  const { ctx, count } = failingAt(Infinity);
  await driveLoop({ ...looked, ctx }, MAY);
  expect(count()).toBeLessThanOrEqual(9);
  expect((await d.pr(d.id)).version).toBe(version);
});
