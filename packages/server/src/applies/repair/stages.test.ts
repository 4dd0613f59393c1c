/** Cancels and disturbs an apply at each of its steps, above all in repairs. */
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rowsOf } from '../../fault-tables.fixture.ts';
import { startTestServer } from '../../service.fixture.ts';
import type { TestServer } from '../../service.fixture.ts';
import { ok, sh, until, wordsDuring } from '../../threads/threads.fixture.ts';
import { holdMerges, P } from '../applies.fixture.ts';
import type { Draft } from '../applies.fixture.ts';
import { HELD, markers, repairsOf, report } from './repair.fixture.ts';
import type { Clash, Repaired } from './repair.fixture.ts';

let server: TestServer;
let r: ReturnType<typeof repairsOf>;
beforeAll(async () => {
  server = await startTestServer();
  r = repairsOf(server);
});
afterAll(() => server.close());

const readApply = async (appId: string, id: string): Promise<Repaired> =>
  (await ok(server.call('GET', `${P}/apps/${appId}/applies/${id}`))).apply;

/** Keeps all applies of an app from being settled, until `release`. */
async function holdSettling(appId: string) {
  const { db } = server.service.ctx;
  const held = await db.startTransaction().execute();
  await held.selectFrom('projects').select('id').where('id', '=', appId).forNoKeyUpdate().execute();
  return {
    begun: () =>
      until(
        'an apply to wait for its settling',
        async () =>
          (
            await sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%"projects"%'`.execute(
              db,
            )
          ).rows.length > 0,
      ),
    release: () => held.rollback().execute(),
  };
}

interface Stage {
  draft: Clash;
  id: string;
  release?: () => unknown;
}
const RESOLVES = ['echo both > a.txt', report('resolved')];

/** The steps of an apply in agent mode. Each makes an apply that waits there. */
const STAGES: Record<string, () => Promise<Stage>> = {
  async 'queued behind another'() {
    const draft = await r.clash(...RESOLVES);
    const other = await r.draft(draft.appId, draft.base, { z: 'z\n' });
    const { begun, release } = holdMerges(server);
    await r.queue(other);
    await begun();
    return { draft, id: (await r.queue(draft)).id, release };
  },
  async 'in the middle of its merge'() {
    const draft = await r.clash(...RESOLVES);
    const { begun, release } = holdMerges(server);
    const { id } = await r.queue(draft);
    await begun();
    return { draft, id, release };
  },
  async 'with a repair that waits for its turn'() {
    const draft = await r.clash(...RESOLVES);
    const busy = await r.draft(draft.appId, draft.base, {});
    await ok(
      server.call('PATCH', `${P}/apps/${draft.appId}/settings`, { concurrency: { runs: 1, builds: null } }),
    );
    await ok(
      server.call('POST', `${P}/apps/${draft.appId}/threads/${busy.threadId}/messages`, {
        content: sh(HELD),
      }),
    );
    await r.running(busy);
    const { id } = await r.queue(draft);
    await until('the repair to be held', async () => (await r.thread(draft)).waitingOn.includes('capacity'));
    return { draft, id, release: () => r.stop(busy) };
  },
  async 'with a repair at work'() {
    const draft = await r.clash('echo both > a.txt', HELD);
    const { id } = await r.queue(draft);
    await r.running(draft);
    return { draft, id };
  },
  async 'with a repair that asks'() {
    const draft = await r.clash(...RESOLVES);
    await r.ask(draft);
    const { id } = await r.queue(draft);
    await r.asked(draft);
    return { draft, id };
  },
  async 'between the end of its repair and the head'() {
    const draft = await r.clash(...RESOLVES);
    await r.ask(draft);
    const { id } = await r.queue(draft);
    const question = await r.asked(draft);
    const { begun, release } = await holdSettling(draft.appId);
    await r.allow(draft, question);
    await begun();
    return { draft, id, release };
  },
};

const ENDS: [string, (draft: Draft) => Promise<unknown>][] = [
  [
    'archiving its thread',
    ({ appId, threadId }) =>
      ok(server.call('PATCH', `${P}/apps/${appId}/threads/${threadId}`, { archived: true })),
  ],
  [
    'deleting its thread',
    ({ appId, threadId }) => ok(server.call('DELETE', `${P}/apps/${appId}/threads/${threadId}`)),
  ],
];

describe.each(Object.entries(STAGES).map(([name, stage], turn) => ({ name, stage, turn })))(
  '$name',
  ({ stage, turn }) => {
    test.each(rowsOf(ENDS, turn))('%s cancels it; others go on', async (_, end) => {
      const { draft, id, release } = await stage();
      await end(draft);
      const apply = await readApply(draft.appId, id);
      expect(apply).toMatchObject({
        status: 'failed',
        error: expect.stringMatching(/^cancelled: /),
        conflicts: [],
        resultSourceId: null,
      });
      await release?.();
      const next = await r.finish(await r.draft(draft.appId, draft.base, { next: 'n\n' }));
      expect(next.status).toBe('applied');
      expect(Object.keys(await r.files(draft.appId, next.resultSourceId!))).not.toContain('new.txt');
      expect(await readApply(draft.appId, id)).toEqual(apply);
      const { db } = server.service.ctx;
      expect(
        await db.selectFrom('repair_candidates').select('run_id').where('apply_id', '=', id).execute(),
      ).toEqual([]);
      await until('its runs to have ended', async () =>
        (
          await db.selectFrom('runs').select('status').where('thread_id', '=', draft.threadId).execute()
        ).every(({ status }) => status === 'cancelled' || status === 'completed'),
      );
    });
  },
);

describe('what is published', () => {
  /** The events of an app from `act` until the apply has ended, without those of workspaces. */
  const during = async (draft: Draft, act: () => Promise<unknown>) =>
    (await wordsDuring(server, `${P}/apps/${draft.appId}`, act)).filter(
      (w) => w !== 'tool.updated:pending' && w !== 'workspace.recovery.updated',
    );
  const repaired = [
    'run.running',
    'thread.updated:running',
    'tool.updated:running',
    'tool.updated:completed',
    'message.persisted:assistant',
    'run.completed',
    'thread.updated:blocked',
  ];

  test('of a repair that is refused, and one that gives up', async () => {
    const draft = await r.clash(
      `if [ "$(cat .hoplite/repair/failures.json)" = "[]" ]; then ${markers}; ${report('resolved')}\nelse ${report('unresolved', 'No.')}\nfi`,
    );
    await r.prepared(draft);
    expect(await during(draft, () => r.repair(draft))).toEqual([
      'platform.apply.queued',
      'thread.updated:blocked',
      'run.queued',
      ...repaired,
      'run.queued',
      ...repaired,
      'platform.apply.conflicted',
      'thread.updated:ready',
    ]);
  });

  test('by a stop, and by an archive, in the middle of one', async () => {
    const draft = await r.clash(HELD);
    await r.prepared(draft);
    const working = () =>
      until(
        'its command to run',
        async () =>
          (
            await server.service.ctx.db
              .selectFrom('tools')
              .select('id')
              .where('thread_id', '=', draft.threadId)
              .where('status', '=', 'running')
              .execute()
          ).length > 0,
      );
    const first = await r.queue(draft);
    await working();
    expect(
      await during(draft, async () => {
        await r.stop(draft);
        await r.ended(draft.appId, first.id);
      }),
    ).toEqual([
      'tool.updated:cancelled',
      'message.persisted:assistant',
      'run.cancelled',
      'thread.updated:blocked',
      'platform.apply.conflicted',
      'thread.updated:ready',
    ]);
    const second = await r.queue(draft);
    await working();
    const archive = () =>
      ok(server.call('PATCH', `${P}/apps/${draft.appId}/threads/${draft.threadId}`, { archived: true }));
    expect(
      await during(draft, async () => {
        await archive();
        await r.ended(draft.appId, second.id);
      }),
    ).toEqual([
      'tool.updated:cancelled',
      'message.persisted:assistant',
      'run.cancelled',
      'platform.apply.failed',
      'thread.updated:archived',
    ]);
  });

  test('by the deletion of the app in the middle of one, which leaves nothing at work', async () => {
    const draft = await r.clash('echo both > a.txt', HELD);
    const { id } = await r.queue(draft);
    await r.running(draft);
    await ok(server.call('DELETE', `${P}/apps/${draft.appId}`));
    const { db } = server.service.ctx;
    expect(
      await db.selectFrom('applies').select(['status', 'error']).where('id', '=', id).executeTakeFirst(),
    ).toMatchObject({ status: 'failed', error: expect.stringMatching(/^cancelled: /) });
    expect(await db.selectFrom('runs').select('status').where('apply_id', '=', id).execute()).toEqual([
      { status: 'cancelled' },
    ]);
    const types = async () =>
      (
        await db
          .selectFrom('events')
          .select('type')
          .where('project_id', '=', draft.appId)
          .orderBy('sequence', 'desc')
          .limit(12)
          .execute()
      ).map((e) => e.type);
    await until('the last event', async () => (await types())[0] === 'platform.app.deleted');
    expect((await types()).filter((type) => /^(run|platform)\./.test(type)).slice(0, 3)).toEqual([
      'platform.app.deleted',
      'platform.apply.failed',
      'run.cancelled',
    ]);
  });
});

describe('conflicts', () => {
  test('are named while a repair works, and after each end but applied', async () => {
    const draft = await r.clash(
      'if [ "$(cat a.txt)" = again ]; then echo both > a.txt',
      `${report('resolved')}\nelse`,
      `${report('unresolved', 'No.')}\nfi`,
    );
    await r.ask(draft);
    const { id } = await r.queue(draft);
    const question = await r.asked(draft);
    expect(await readApply(draft.appId, id)).toMatchObject({
      status: 'queued',
      conflicts: ['a.txt'],
      headSourceId: null,
      resultSourceId: null,
      repairs: [{ headSourceId: draft.head, error: null, report: null }],
    });
    await r.allow(draft, question);
    expect(await r.ended(draft.appId, id)).toMatchObject({ status: 'conflicted', conflicts: ['a.txt'] });
    const edited = (
      await ok(
        server.call('POST', `${P}/apps/${draft.appId}/threads/${draft.threadId}/edits`, {
          expectedSourceId: draft.sourceId,
          changes: [{ path: 'a.txt', content: 'again\n' }],
        }),
      )
    ).source.id;
    const again = await r.queue({ ...draft, sourceId: edited });
    await r.allow(draft, await r.asked(draft));
    expect(await r.ended(draft.appId, again.id)).toMatchObject({ status: 'applied', conflicts: [] });
    expect(await readApply(draft.appId, id)).toMatchObject({ status: 'conflicted', conflicts: ['a.txt'] });
  });

  test('a pinned apply under repair whose head moves is stale, whatever the repair made', async () => {
    const draft = await r.clash(...RESOLVES);
    await r.ask(draft);
    const { id } = await r.queue(draft, { expectedHeadSourceId: draft.head });
    const question = await r.asked(draft);
    const other = await r.finish(await r.draft(draft.appId, draft.head, { z: 'z\n' }));
    await r.allow(draft, question);
    expect(await r.ended(draft.appId, id)).toMatchObject({
      status: 'conflicted',
      conflicts: [],
      error: expect.stringMatching(/^stale_head: /),
      resultSourceId: null,
    });
    expect((await r.head(draft.appId)).sourceId).toBe(other.resultSourceId);
    expect((await r.thread(draft)).sealedAt).toBe(null);
  });
});

describe('the end of repairs', () => {
  test('spend_limit_reached: nothing left of the thread’s limit for a model that costs', async () => {
    const draft = await r.clash('true');
    await ok(
      server.call('PATCH', `${P}/apps/${draft.appId}/threads/${draft.threadId}`, { spendLimitMicros: 500 }),
    );
    await server.service.ctx.db
      .updateTable('threads')
      .set({ model_id: 'nobody/nothing' })
      .where('id', '=', draft.threadId)
      .execute();
    await server.service.ctx.db
      .insertInto('spending')
      .values({ org_id: 'org', scope_id: draft.threadId, period: '', spent_micros: 500 })
      .execute();
    const apply = await r.repair(draft);
    expect([apply.status, apply.conflicts, apply.error, apply.repairs.map((x) => x.error)]).toEqual([
      'conflicted',
      ['a.txt'],
      "spend_limit_reached: The thread's spend limit is reached. Raise it to go on.",
      [apply.error],
    ]);
    expect((await r.list(draft, 'runs'))[0]).toMatchObject({
      kind: 'repair',
      status: 'failed',
      error: { code: 'spend_limit_reached' },
    });
    await ok(
      server.call('PATCH', `${P}/apps/${draft.appId}/threads/${draft.threadId}`, { spendLimitMicros: 501 }),
    );
    expect((await r.repair(draft)).error?.split(':')[0]).toBe('not_configured');
  });

  test('a limit that is reached does not keep the scripted agent, which costs nothing', async () => {
    const draft = await r.clash(...RESOLVES);
    await ok(
      server.call('PATCH', `${P}/apps/${draft.appId}/threads/${draft.threadId}`, { spendLimitMicros: 0 }),
    );
    expect((await r.repair(draft)).status).toBe('applied');
  });

  test('identical_candidates: the third one, with other errors and other files between', async () => {
    const draft = await r.clash(
      'tries=$(grep -c : .hoplite/repair/failures.json || true)',
      markers,
      'case $tries in',
      `0|2) ${report('resolved')}\n;;`,
      '1) echo other > a.txt;;',
      '3) ;;',
      '*) exit 9;;',
      'esac',
    );
    const apply = await r.repair(draft);
    expect(apply.repairs.map((x) => x.error?.split(':')[0])).toEqual([
      'conflict_markers',
      'invalid_report',
      'conflict_markers',
      'invalid_report',
    ]);
    const prints = apply.repairs.map((x) => x.candidateFingerprint);
    expect([prints[2], prints[3], prints[1] === prints[0]]).toEqual([prints[0], prints[0], false]);
    expect([apply.status, apply.conflicts, apply.error?.split(':')[0]]).toEqual([
      'conflicted',
      ['a.txt'],
      'identical_candidates',
    ]);
    await r.expectReopened(draft);
  });

  test('the time of all counts from the first one, also for a head that moves', async () => {
    const draft = await r.clash(
      'cat .hoplite/repair/head/a.txt > a.txt; echo and draft >> a.txt',
      report('resolved'),
    );
    await r.ask(draft);
    const { id } = await r.queue(draft);
    const deadline = async () =>
      (
        await server.service.ctx.db
          .selectFrom('applies')
          .select('repair_deadline')
          .where('id', '=', id)
          .executeTakeFirstOrThrow()
      ).repair_deadline;
    let question = await r.asked(draft);
    const first = await deadline();
    for (const words of ['later', 'latest']) {
      await r.finish(
        await r.draft(draft.appId, (await r.head(draft.appId)).sourceId, { 'a.txt': `${words}\n` }),
      );
      await r.allow(draft, question);
      question = await until(
        'the next question',
        async () =>
          ((await r.list(draft, 'approvals')) as { id: string; status: string }[]).find(
            (a) => a.status === 'pending' && a.id !== question,
          )?.id,
      );
      expect(await deadline()).toEqual(first);
    }
    await r.allow(draft, question);
    const apply = (await r.ended(draft.appId, id)) as Repaired;
    expect([apply.status, apply.repairs.map((x) => x.revision)]).toEqual(['applied', [2, 3, 4]]);
    expect((await r.files(draft.appId, apply.resultSourceId!))['a.txt']).toBe('latest\nand draft\n');
  });
});

describe('a runner that is killed', () => {
  let own: TestServer;
  beforeAll(async () => {
    own = await startTestServer();
  });
  afterAll(() => own.close());

  test('loses the repair, which is begun anew', async () => {
    const at = repairsOf(own);
    const draft = await at.clash(
      `grep -q sandbox_lost .hoplite/repair/failures.json || ${HELD}`,
      ...RESOLVES,
    );
    const { id } = await at.queue(draft);
    await at.running(draft);
    await until(
      'its command to run',
      async () =>
        (
          await own.service.ctx.db
            .selectFrom('tools')
            .select('id')
            .where('thread_id', '=', draft.threadId)
            .where('status', '=', 'running')
            .execute()
        ).length > 0,
    );
    process.kill(own.service.ctx.runnerStatus()!.pid, 'SIGKILL');
    const apply = (await at.ended(draft.appId, id)) as Repaired;
    expect([apply.status, apply.repairs.map((x) => [x.error, x.candidateFingerprint === undefined])]).toEqual(
      [
        'applied',
        [
          ['sandbox_lost: The sandbox of this repair was lost.', true],
          [null, false],
        ],
      ],
    );
    expect(await at.files(draft.appId, apply.resultSourceId!)).toMatchObject({
      'a.txt': 'both\n',
      'new.txt': 'new\n',
    });
  });
});
