import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStream } from '../../events/events.fixture.ts';
import { startTestServer } from '../../service.fixture.ts';
import type { TestServer } from '../../service.fixture.ts';
import { ok, until, wordsDuring } from '../../threads/threads.fixture.ts';
import { packPatch } from '../../workspaces/index.ts';
import { P } from '../applies.fixture.ts';
import { HELD, lines, markers, repairsOf, report } from './repair.fixture.ts';
import type { Repaired } from './repair.fixture.ts';

let server: TestServer;
let r: ReturnType<typeof repairsOf>;
beforeAll(async () => {
  server = await startTestServer();
  r = repairsOf(server);
});
afterAll(() => server.close());

describe('a repair that resolves', () => {
  test('shows its reply as a draft on the stream of its thread', async () => {
    const d = await r.clash('echo both > a.txt; echo said', report('resolved'));
    const reader = await openStream(server, `${P}/apps/${d.appId}/events/stream?threadId=${d.threadId}`);
    const apply = await r.repair(d);
    await until('the end of the draft', () => reader.frames.some((f) => f.event === 'draft.removed'));
    const drafts = reader.frames.filter((f) => f.event === 'draft');
    expect(drafts.at(-1)!.data).toMatchObject({
      runId: apply.repairs[0]!.runId,
      content: expect.stringContaining('said'),
    });
    reader.close();
  });

  test('is applied; published row by row, without a checkpoint', async () => {
    const d = await r.clash('echo both > a.txt', report('resolved', 'Kept both.', ['a.txt has both']));
    await r.prepared(d);
    let apply!: Repaired;
    const words = await wordsDuring(server, `${P}/apps/${d.appId}`, async () => {
      apply = await r.repair(d);
    });
    expect(words.filter((w) => w !== 'tool.updated:pending')).toEqual([
      'platform.apply.queued',
      'thread.updated:blocked',
      'run.queued',
      'run.running',
      'thread.updated:running',
      'tool.updated:running',
      'tool.updated:completed',
      'message.persisted:assistant',
      'run.completed',
      'thread.updated:blocked',
      'platform.source.imported',
      'platform.apply.applied',
      'platform.head.updated',
      'thread.updated:ready',
    ]);
    expect(apply).toMatchObject({ status: 'applied', conflicts: [], error: null, headSourceId: d.head });
    expect(apply.repairs).toEqual([
      {
        runId: expect.stringMatching(/^run_/),
        headSourceId: d.head,
        revision: 2,
        startedAt: expect.any(String),
        error: null,
        report: { status: 'resolved', summary: 'Kept both.', checks: ['a.txt has both'] },
        candidateFingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    ]);
    const { source } = await ok(server.call('GET', `${P}/apps/${d.appId}/sources/${apply.resultSourceId}`));
    expect(source).toMatchObject({
      origin: 'apply',
      parentSourceIds: [d.head, d.sourceId],
      sha256: apply.repairs[0]!.candidateFingerprint,
    });
    expect(await r.files(d.appId, source.id)).toEqual({
      '.gitignore': 'cache\n',
      'a.txt': 'both\n',
      'm.txt': lines({ 2: 'HEAD', 18: 'DRAFT' }),
      'head.txt': 'h\n',
      'new.txt': 'new\n',
    });
    expect((await r.list(d, 'runs'))[0]).toMatchObject({
      id: apply.repairs[0]!.runId,
      kind: 'repair',
      status: 'completed',
      resultSourceId: null,
    });
    expect(
      await server.service.ctx.db
        .selectFrom('repair_candidates')
        .select('apply_id')
        .where('apply_id', '=', apply.id)
        .execute(),
    ).toEqual([]);
  });

  test('starts as the clean merge with the conflict as in the draft, and finds what each side has', async () => {
    const d = await r.clash(
      'set -x; test "$(cat a.txt)" = draft; sed -n 2p m.txt | grep -q HEAD; sed -n 18p m.txt | grep -q DRAFT; test -f head.txt; test -f new.txt',
      'cd .hoplite/repair',
      'for side in base head draft; do test "$(cat $side/a.txt)" = $side; done; test "$(cat merge/a.txt)" = draft; cmp merge/m.txt ../../m.txt; test ! -e base/new.txt',
      'grep -q \'"path": "a.txt"\' conflicts.json; grep -q hunks conflicts.json; test "$(cat failures.json)" = "[]"',
      'cd ../..; cp .hoplite/repair/head/a.txt a.txt',
      report('resolved'),
    );
    const apply = await r.repair(d);
    expect([apply.status, apply.error, apply.repairs.length]).toEqual(['applied', null, 1]);
    expect(Object.keys(await r.files(d.appId, apply.resultSourceId!))).toEqual([
      '.gitignore',
      'a.txt',
      'head.txt',
      'm.txt',
      'new.txt',
    ]);
  });

  test('that is just the head needs no new source', async () => {
    const d = await r.clash(
      'cp .hoplite/repair/head/* .; rm new.txt',
      report('resolved', 'Took the head; m.txt and new.txt go with it.'),
    );
    expect(await r.repair(d)).toMatchObject({ status: 'applied', resultSourceId: d.head });
  });

  test('hears why it was refused, and begins anew each time', async () => {
    const d = await r.clash(
      'test ! -e left.txt; test ! -e .hoplite/repair/report.json; touch left.txt',
      `if grep -q conflict_markers .hoplite/repair/failures.json; then echo both > a.txt; rm left.txt; else ${markers}; fi`,
      report('resolved'),
    );
    const apply = await r.repair(d);
    expect([apply.status, apply.repairs.map((x) => x.error?.split(':')[0] ?? null)]).toEqual([
      'applied',
      ['conflict_markers', null],
    ]);
    expect(Object.keys(await r.files(d.appId, apply.resultSourceId!))).not.toContain('left.txt');
  });

  test('a script without a fence is a shell script', async () => {
    const d = await r.clash();
    await ok(
      server.call('PATCH', `${P}/apps/${d.appId}`, {
        metadata: { 'headrace.repairScript': `echo both > a.txt\n${report('resolved')}` },
      }),
    );
    expect((await r.repair(d)).status).toBe('applied');
  });
});

describe('what a repair changes beside the conflicts', () => {
  const both =
    'echo both > a.txt; echo x >> m.txt; chmod +x new.txt; rm head.txt; mkdir -p lib; touch lib/one lib/two';

  test('goes with a word in its report', async () => {
    const d = await r.clash(
      both,
      report('resolved', 'Kept both; m.txt follows.', ['new.txt runs', 'head.txt is in lib/ now']),
    );
    const apply = await r.repair(d);
    expect([apply.status, apply.repairs.map((x) => x.error)]).toEqual(['applied', [null]]);
    expect(Object.keys(await r.files(d.appId, apply.resultSourceId!))).toEqual([
      '.gitignore',
      'a.txt',
      'lib/one',
      'lib/two',
      'm.txt',
      'new.txt',
    ]);
  });

  test('is refused without one, by its paths; the agent hears of it', async () => {
    const d = await r.clash(
      `${both}; if grep -q undeclared_changes .hoplite/repair/failures.json; then touch .hoplite/told; fi`,
      `if [ -e .hoplite/told ]; then ${report('resolved', 'Also m.txt, new.txt, head.txt and lib/.')}\nelse ${report('resolved', 'Kept both, as lib/one and m.text show.')}\nfi`,
    );
    const apply = await r.repair(d);
    expect(apply.repairs.map((x) => x.error)).toEqual([
      'undeclared_changes: Not in conflict, but changed without a word in the report: head.txt, lib/two, m.txt, new.txt. Put it back, or name it in the summary or a check.',
      null,
    ]);
    expect(apply.status).toBe('applied');
  });

  test('is named as far as ten paths; three alike end it', async () => {
    const d = await r.clash(
      'echo both > a.txt; for i in $(seq 10 22); do touch f$i; done',
      report('resolved'),
    );
    const apply = await r.repair(d);
    expect([
      apply.status,
      apply.error?.split(':')[0],
      apply.repairs.map((x) => x.error?.split(':')[0]),
    ]).toEqual(['conflicted', 'identical_candidates', Array(3).fill('undeclared_changes')]);
    expect(apply.repairs[0]!.error).toContain(
      ': f10, f11, f12, f13, f14, f15, f16, f17, f18, f19 and 3 more. ',
    );
    await r.expectReopened(d);
  });

  test('both paths of a moved file are in conflict, and free', async () => {
    const text = lines();
    const d = await r.diverged(
      { 'old.txt': text },
      { 'old.txt': null, 'new.txt': lines({ 3: 'HEAD' }) },
      { 'old.txt': lines({ 3: 'DRAFT' }) },
    );
    await r.script(d, 'rm -f new.txt; echo both > old.txt', report('resolved'));
    const apply = await r.repair(d);
    expect([apply.status, apply.repairs.map((x) => x.error)]).toEqual(['applied', [null]]);
    expect(await r.files(d.appId, apply.resultSourceId!)).toEqual({ 'old.txt': 'both\n' });
  });

  test('has no conflict markers that were not there', async () => {
    const text = '<<<<<<< as text\n';
    const d = await r.diverged(
      { 'a.txt': 'base\n', 'git.txt': text, 'm.txt': 'm\n' },
      { 'a.txt': 'head\n' },
      { 'a.txt': 'draft\n' },
    );
    await r.script(
      d,
      "echo both > a.txt; echo more >> git.txt; printf '<<<<<<< head\\n' >> m.txt",
      report('resolved', 'Both; git.txt and m.txt too.'),
    );
    const apply = await r.repair(d);
    expect(apply.repairs.map((x) => x.error)).toEqual(
      Array(3).fill('conflict_markers: Conflict markers are left in m.txt.'),
    );
  });
});

describe('whatever the conflict is', () => {
  const long = lines();
  test.each<[string, Record<string, string>, Record<string, string | null>, Record<string, string | null>]>([
    ['a file against a folder', { z: 'z\n' }, { 'x/y': 'head\n' }, { x: 'draft\n' }],
    ['a folder against a file', { z: 'z\n' }, { x: 'head\n' }, { 'x/y': 'draft\n' }],
    [
      'deleted in the head, changed in the draft',
      { x: long },
      { x: null, z: 'z\n' },
      { x: lines({ 5: 'DRAFT' }) },
    ],
    [
      'changed in the head, deleted in the draft',
      { x: long, z: 'z\n' },
      { x: lines({ 5: 'HEAD' }) },
      { x: null },
    ],
    ['added by both', { z: 'z\n' }, { 'd/x': 'head\n' }, { 'd/x': 'draft\n' }],
    ['moved to two places', { x: long }, { x: null, h: long }, { x: null, d: long }],
    ['names that differ in case', { z: 'z\n' }, { Name: 'head\n' }, { name: 'draft\n' }],
  ])('%s is repaired', async (_, base, head, draft) => {
    const d = await r.diverged(base, head, draft);
    await r.script(
      d,
      'test -s .hoplite/repair/conflicts.json; rm -rf x d h Name name; echo done > result',
      report('resolved', 'Put into result.'),
    );
    const apply = await r.repair(d);
    expect([apply.status, apply.error, apply.repairs.map((x) => x.error)]).toEqual(['applied', null, [null]]);
    expect((await r.files(d.appId, apply.resultSourceId!)).result).toBe('done\n');
  });
});

describe('a repair that stops', () => {
  test('unresolved: with its summary; the draft is open in a workspace of its own files', async () => {
    const d = await r.clash(
      'echo half > a.txt; touch cache',
      report('unresolved', 'The intents exclude each other.'),
    );
    const apply = await r.repair(d);
    expect(apply).toMatchObject({
      status: 'conflicted',
      conflicts: ['a.txt'],
      error: 'unresolved: The intents exclude each other.',
      headSourceId: d.head,
      resultSourceId: null,
    });
    expect(apply.repairs[0]).toMatchObject({ error: null, report: { status: 'unresolved' } });
    await r.expectReopened(d);
  });

  test('without a script: at once, and with no repair', async () => {
    const d = await r.clash();
    const apply = await r.repair(d);
    expect([apply.status, apply.conflicts, apply.repairs, apply.error?.split(':')[0]]).toEqual([
      'conflicted',
      ['a.txt'],
      [],
      'not_configured',
    ]);
    expect(await r.list(d, 'runs')).toEqual([]);
  });

  test('with a model that is not configured: by its run', async () => {
    const d = await r.clash('true');
    await ok(server.call('PATCH', `${P}/apps/${d.appId}/settings`, { modelId: 'nobody/nothing' }));
    const apply = await r.repair(d);
    expect([apply.status, apply.error?.split(':')[0], apply.repairs.length]).toEqual([
      'conflicted',
      'not_configured',
      1,
    ]);
  });

  test.each([
    ['leaves conflict markers', `${markers}\n${report('resolved')}`, 'conflict_markers', 'completed'],
    ['leaves no report', 'echo both > a.txt', 'invalid_report', 'completed'],
    [
      'leaves a report that is none',
      `echo both > a.txt; echo '{"status":"fine","summary":"","checks":[]}' > .hoplite/repair/report.json`,
      'invalid_report',
      'completed',
    ],
    [
      'leaves a link for a report',
      'echo both > a.txt; ln -s /etc/passwd .hoplite/repair/report.json',
      'invalid_report',
      'completed',
    ],
    [
      'leaves a pipe for a report',
      'echo both > a.txt; mkfifo .hoplite/repair/report.json',
      'invalid_report',
      'completed',
    ],
    [
      'breaks a rule for sources',
      `echo both > a.txt; head -c 8388609 /dev/zero > big.bin\n${report('resolved')}`,
      'invalid_result',
      'failed',
    ],
    ['fails', `echo both > a.txt\n${report('resolved')}\nexit 3`, 'script_failed', 'failed'],
  ])('identical_candidates: one that %s three times', async (_, script, error, status) => {
    const d = await r.clash(script);
    const apply = await r.repair(d);
    expect([
      apply.status,
      apply.conflicts,
      apply.error?.split(':')[0],
      apply.repairs.map((x) => x.error?.split(':')[0]),
    ]).toEqual(['conflicted', ['a.txt'], 'identical_candidates', [error, error, error]]);
    expect([
      new Set(apply.repairs.map((x) => x.candidateFingerprint)).size,
      new Set(apply.repairs.map((x) => x.runId)).size,
    ]).toEqual([1, 3]);
    expect((await r.list(d, 'runs')).map((run: { status: string }) => run.status)).toEqual([
      status,
      status,
      status,
    ]);
    await r.expectReopened(d);
  });

  test('markers that a side had before are its text', async () => {
    const text = '<<<<<<< like this\n';
    const d = await r.diverged({ 'a.txt': 'base\n' }, { 'a.txt': `${text}head\n` }, { 'a.txt': 'draft\n' });
    await r.script(
      d,
      'cat .hoplite/repair/head/a.txt .hoplite/repair/draft/a.txt > a.txt',
      report('resolved'),
    );
    const apply = await r.repair(d);
    expect([apply.status, await r.files(d.appId, apply.resultSourceId!)]).toEqual([
      'applied',
      { 'a.txt': `${text}head\ndraft\n` },
    ]);
  });

  test('cancelled: by a stop of its run', async () => {
    const d = await r.clash('echo both > a.txt', HELD);
    const { id } = await r.queue(d);
    const run = await r.running(d);
    await r.stop(d);
    const apply = (await r.ended(d.appId, id)) as Repaired;
    expect([apply.status, apply.conflicts, apply.error?.split(':')[0], apply.repairs[0]?.runId]).toEqual([
      'conflicted',
      ['a.txt'],
      'cancelled',
      run.id,
    ]);
    await r.expectReopened(d);
  });

  test('cancelled: by an archive, which keeps nothing of it', async () => {
    const d = await r.clash('echo both > a.txt', HELD);
    const { id } = await r.queue(d);
    await r.running(d);
    await until(
      'the repair to have written',
      async () =>
        (
          await server.service.ctx.db
            .selectFrom('tools')
            .select('id')
            .where('thread_id', '=', d.threadId)
            .where('status', '=', 'running')
            .execute()
        ).length > 0,
    );
    await ok(server.call('PATCH', `${P}/apps/${d.appId}/threads/${d.threadId}`, { archived: true }));
    expect(await r.ended(d.appId, id)).toMatchObject({
      status: 'failed',
      conflicts: [],
      error: expect.stringMatching(/^cancelled:/),
    });
    await until(
      'the workspace to be put away',
      async () => (await r.thread(d)).workspaceStatus === 'archived',
    );
    await ok(server.call('PATCH', `${P}/apps/${d.appId}/threads/${d.threadId}`, { archived: false }));
    await r.expectReopened(d);
  });

  test('by a worker that died after it: what it left is kept as no source', async () => {
    const d = await r.clash('true', report('unresolved'));
    await r.repair(d);
    const { ctx } = server.service;
    const row = () => ctx.db.selectFrom('threads').where('id', '=', d.threadId);
    await until(
      'the workspace to be put back',
      async () =>
        (await row().select('workspace_source_id').executeTakeFirst())?.workspace_source_id === d.sourceId,
    );
    await ctx.db
      .updateTable('threads')
      .set({ workspace_source_id: null })
      .where('id', '=', d.threadId)
      .execute();
    await ctx.runner.patch(
      d.threadId,
      await packPatch(ctx, {
        projectId: d.appId,
        from: new Map(),
        to: new Map(),
        remove: ['new.txt'],
      }),
    );
    await r.expectReopened(d);
  });
});

describe('others go on while a repair works', () => {
  test('its thread takes no work, and its candidate is merged with the head of then', async () => {
    const d = await r.clash('echo both > a.txt', report('resolved'));
    await r.ask(d);
    const { id } = await r.queue(d);
    const question = await r.asked(d);
    const refused = await server.call('POST', `${P}/apps/${d.appId}/threads/${d.threadId}/edits`, {
      expectedSourceId: d.sourceId,
      changes: [{ path: 'x', content: 'x' }],
    });
    expect([refused.status, refused.body.error.code]).toEqual([409, 'thread_busy']);
    const other = await r.finish(await r.draft(d.appId, d.head, { 'head.txt': 'later\n' }));
    expect([other.status, (await r.thread(d)).status]).toEqual(['applied', 'waiting']);
    await r.allow(d, question);
    const apply = (await r.ended(d.appId, id)) as Repaired;
    expect([apply.status, apply.headSourceId, apply.repairs.map((x) => x.headSourceId)]).toEqual([
      'applied',
      other.resultSourceId,
      [d.head],
    ]);
    expect(await r.files(d.appId, apply.resultSourceId!)).toMatchObject({
      'a.txt': 'both\n',
      'head.txt': 'later\n',
      'new.txt': 'new\n',
    });
  });

  test('where it conflicts with that head, it is repaired again for it', async () => {
    const d = await r.clash(
      'cat .hoplite/repair/head/a.txt .hoplite/repair/draft/a.txt > a.txt',
      report('resolved'),
    );
    await r.ask(d);
    const { id } = await r.queue(d);
    const question = await r.asked(d);
    const other = await r.finish(await r.draft(d.appId, d.head, { 'a.txt': 'later\n' }));
    expect(other.status).toBe('applied');
    await r.allow(d, question);
    await r.allow(d, await r.asked(d));
    const apply = (await r.ended(d.appId, id)) as Repaired;
    expect([
      apply.status,
      apply.headSourceId,
      apply.repairs.map((x) => [x.headSourceId, x.revision, x.error]),
    ]).toEqual([
      'applied',
      other.resultSourceId,
      [
        [d.head, 2, null],
        [other.resultSourceId, 3, null],
      ],
    ]);
    expect((await r.files(d.appId, apply.resultSourceId!))['a.txt']).toBe('later\ndraft\n');
  });
});

describe('the time for repairs', () => {
  let short: TestServer;
  beforeAll(async () => {
    short = await startTestServer({ HEADRACE_REPAIR_BUDGET_SECONDS: '3' });
  });
  afterAll(() => short.close());

  test('budget: ends the repair that works', async () => {
    const own = repairsOf(short);
    const d = await own.clash('echo both > a.txt', HELD);
    const apply = await own.repair(d);
    expect([apply.status, apply.conflicts, apply.error?.split(':')[0], apply.repairs.length]).toEqual([
      'conflicted',
      ['a.txt'],
      'budget',
      1,
    ]);
    await own.expectReopened(d);
  });

  test('budget: ends those that fail in ever new ways', async () => {
    const own = repairsOf(short);
    const d = await own.clash('date +%N > a.txt');
    const apply = await own.repair(d);
    expect([apply.status, apply.error?.split(':')[0], apply.repairs.length > 1]).toEqual([
      'conflicted',
      'budget',
      true,
    ]);
    await own.expectReopened(d);
  });
});
