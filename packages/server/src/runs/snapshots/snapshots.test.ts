/** Real sandboxes and runners, which are killed in mid-run. Seen over HTTP, but for the snapshots themselves. */
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { startTestServer } from '../../service.fixture.ts';
import { cleanUpObjects } from '../../sources/index.ts';
import { newBench, ok, sh, until } from '../../threads/threads.fixture.ts';
import type { Bench } from '../../threads/threads.fixture.ts';
import { away, faultsOf, loseWorker, recoveries, settled } from '../../workspaces/workspaces.fixture.ts';
import { applyDelta } from '../../trees/manifest.ts';
import { pace } from './pace.ts';

vi.setConfig({ testTimeout: 60_000 });

const s = await startTestServer();
afterAll(() => s.close());
const { ctx } = s.service;
const { faultAt, mend } = faultsOf(() => s);
const canRun = ctx.runnerStatus()?.ok === true;

const usual = { ...pace };
const SHORT = { lookMs: 50, quietMs: 200, fullMs: 400, againMs: 100 };
beforeAll(() => void Object.assign(pace, SHORT));
afterAll(() => void Object.assign(pace, usual));
beforeEach(() => void Object.assign(pace, SHORT));
let b: Bench;
afterEach(() => mend());

/** Goes on once the test says so, in a later call. */
const WAIT = sh('while [ ! -e /tmp/go ]; do sleep 0.05; done');

const snapshotOf = (runId: string) =>
  ctx.db.selectFrom('run_snapshots').selectAll().where('run_id', '=', runId).executeTakeFirst();
/** Waits for a snapshot with this file, written. */
const captured = (runId: string, path: string) =>
  until(`a snapshot with ${path}`, async () => {
    const snapshot = await snapshotOf(runId);
    return snapshot !== undefined && (applyDelta(new Map(), snapshot.delta).get(path)?.byteSize ?? 0) > 0;
  });
/** Waits for a snapshot that begins after this moment. */
async function newer(runId: string): Promise<void> {
  const before = (await snapshotOf(runId))?.created_at ?? new Date(0);
  await until('a newer snapshot', async () => {
    const now = await snapshotOf(runId);
    return now !== undefined && now.created_at > before;
  });
}

async function killRunner(): Promise<void> {
  const { pid } = ctx.runnerStatus()!;
  process.kill(pid, 'SIGKILL');
  await until('another runner', () => {
    const now = ctx.runnerStatus();
    return now !== null && now.pid !== pid;
  });
}

/** Waits until the store has no object of the app that no source names; those of a deleted app go later. */
const cleaned = (bench: Bench) =>
  until('no object that nothing names', async () => {
    await cleanUpObjects(ctx);
    const { rows } = await sql<{ key: string }>`
      select key from objects o where project_id = ${bench.appId} and not exists (select from packs where object_key = o.key)
        and (delete_after is null or not exists (select from projects where id = project_id and deleted_at is not null))`.execute(
      ctx.db,
    );
    return rows.length === 0;
  });
const fileList = async (sourceId: string) => Object.keys(await b.files(sourceId)).sort();

async function bench(files: Record<string, string> = { 'a.txt': 'a\n' }): Promise<void> {
  b = await newBench(s, { files });
  await b.ready();
}

describe.skipIf(!canRun)('a runner that is killed in mid-run', () => {
  beforeEach(() => bench());

  test('leaves the work to the next message; the latest source stays', async () => {
    const { run } = await b.send([sh('mkdir d; echo b >> a.txt; echo one > d/one.txt'), WAIT].join('\n'));
    await captured(run.id, 'd/one.txt');
    const words = await b.during(async () => {
      await killRunner();
      const ended = await b.ended(run.id);
      expect([ended.status, ended.error.code, ended.resultSourceId]).toEqual([
        'failed',
        'sandbox_lost',
        null,
      ]);
    });
    expect(words.filter((word) => !/^(tool|thread)/.test(word))).toEqual([
      'platform.source.imported',
      'checkpoint.created',
      'message.persisted:assistant',
      'run.failed',
      'workspace.recovery.updated',
    ]);
    expect((await b.thread()).latestSourceId).toBe(b.sourceId);
    expect(await recoveries(b)).toEqual([{ 'a.txt': 'a\nb\n', 'd/one.txt': 'one\n' }]);

    const next = await b.work(sh('cat d/one.txt; grep b a.txt; echo two > two.txt'));
    expect(await b.files(next.resultSourceId)).toEqual({
      'a.txt': 'a\nb\n',
      'd/one.txt': 'one\n',
      'two.txt': 'two\n',
    });
    expect((await ok(s.call('GET', `${b.app}/sources/${next.resultSourceId}`))).source).toMatchObject({
      origin: 'run',
      parentSourceIds: [b.sourceId],
    });
    // That was the end of it: what comes next begins from the new source.
    const last = await b.work(sh('rm two.txt'));
    expect(await fileList(last.resultSourceId)).toEqual(['a.txt', 'd/one.txt']);
    await cleaned(b);
  });

  test('takes the work along where it was not captured', async () => {
    Object.assign(pace, { quietMs: 60_000, fullMs: 60_000 });
    const { run } = await b.send([sh('echo one > one.txt'), WAIT].join('\n'));
    await b.working(run.id, 1);
    await killRunner();
    expect((await b.ended(run.id)).status).toBe('failed');
    expect(await recoveries(b)).toEqual([]);
    await b.work(sh('test ! -e one.txt'));
  });

  test('a retry begins again from the latest source', async () => {
    const { run } = await b.send(
      [sh('test ! -e one.txt; echo one > one.txt'), sh('test -e /tmp/x || sleep 60')].join('\n'),
    );
    await captured(run.id, 'one.txt');
    await killRunner();
    await b.ended(run.id);
    const again = (await ok(s.call('POST', `${b.at}/retry`, {}))).run;
    await captured(again.id, 'one.txt');
    await ok(s.call('POST', `${b.at}/stop`, {}));
    expect((await b.ended(again.id)).status).toBe('cancelled');
    // Stopped, it is not gone on with.
    await b.work(sh('test ! -e one.txt'));
  });

  test('an edit in between counts, and the recovery can be restored', async () => {
    const { run } = await b.send([sh('echo one > one.txt'), WAIT].join('\n'));
    await captured(run.id, 'one.txt');
    await killRunner();
    await b.ended(run.id);
    await ok(
      s.call('POST', `${b.at}/edits`, {
        expectedSourceId: b.sourceId,
        changes: [{ path: 'e.txt', content: 'e\n' }],
      }),
    );
    await b.work(sh('test -e e.txt; test ! -e one.txt'));
    const [recovery] = (await b.list('checkpoints')).filter((c: { kind: string }) => c.kind === 'recovery');
    const { result } = await ok(s.call('POST', `${b.at}/checkpoints/${recovery.id}/restore`, {}));
    await b.ended(result.runId);
    await b.work(sh('test -e one.txt; test ! -e e.txt'));
  });

  test('again and again: the newest work that was captured counts', async () => {
    const { run: first } = await b.send([sh('echo one > one.txt'), WAIT].join('\n'));
    await captured(first.id, 'one.txt');
    await killRunner();
    await b.ended(first.id);
    // Lost before it was captured: that of the run before stays.
    Object.assign(pace, { quietMs: 60_000, fullMs: 60_000 });
    const { run: second } = await b.send([sh('test -e one.txt; echo lost > lost.txt'), WAIT].join('\n'));
    await b.working(second.id, 1);
    await killRunner();
    await b.ended(second.id);
    Object.assign(pace, SHORT);
    const { run: third } = await b.send(
      [sh('test -e one.txt; test ! -e lost.txt; echo three > three.txt'), WAIT].join('\n'),
    );
    await captured(third.id, 'three.txt');
    await killRunner();
    await b.ended(third.id);
    const last = await b.work(sh('cat one.txt three.txt'));
    expect(await fileList(last.resultSourceId)).toEqual(['a.txt', 'one.txt', 'three.txt']);
    expect((await recoveries(b)).map((files) => Object.keys(files).length).toSorted()).toEqual([2, 3]);
    await cleaned(b);
  });

  test('while it is read: the capture before counts', async () => {
    const { run } = await b.send(
      [
        sh('echo one > one.txt'),
        sh('echo $$ > /tmp/pid; while :; do date +%N > now.txt; sleep 0.05; done'),
      ].join('\n'),
    );
    await captured(run.id, 'one.txt');
    let isKilled = false;
    faultAt('before blobs', async () => {
      isKilled = true;
      await killRunner();
    });
    await until('the kill', () => isKilled);
    expect((await b.ended(run.id)).status).toBe('failed');
    await b.work(sh('grep one one.txt'));
    await cleaned(b);
  });

  test('a capture that was read before the kill is waited for', async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let isReached = false;
    faultAt('before put', async () => {
      isReached = true;
      await held;
    });
    const { run } = await b.send([sh('echo one > one.txt'), WAIT].join('\n'));
    await until('the capture', () => isReached);
    await killRunner();
    release();
    await b.ended(run.id);
    await b.work(sh('grep one one.txt'));
  });
});

describe.skipIf(!canRun)('snapshots of a run', () => {
  beforeEach(() => bench());

  test('are taken when something changed, replace one another, and go with the end of the run', async () => {
    const { run: idle } = await b.send([sh('true'), WAIT].join('\n'));
    const captures = vi.spyOn(ctx.runner, 'capture');
    await until('three captures', () => captures.mock.calls.length >= 3);
    expect(await snapshotOf(idle.id)).toBeUndefined();
    captures.mockRestore();
    await ok(s.call('POST', `${b.at}/stop`, {}));
    await b.ended(idle.id);

    const { run } = await b.send(
      sh(
        'for i in 1 2 3 4 5 6 7 8 9; do echo $i$i > $i.txt; sleep 0.3; done; rm -f [1-9].txt; echo end > end.txt',
      ),
    );
    await newer(run.id);
    await newer(run.id);
    await newer(run.id);
    const ended = await b.ended(run.id);
    expect([ended.status, await snapshotOf(run.id)]).toEqual(['completed', undefined]);
    expect(await fileList(ended.resultSourceId)).toEqual(['a.txt', 'end.txt']);
    await cleaned(b);
    expect(await recoveries(b)).toEqual([]);
  });

  test('do not disturb what runs: a command and its background processes count on', async () => {
    const { run } = await b.send(
      sh(`(i=0; while [ ! -e /tmp/stop ]; do i=$((i+1)); echo $i >> back.txt; done) & back=$!
i=0; while [ $i -lt 1500 ]; do i=$((i+1)); echo $i >> fore.txt; [ $((i % 30)) -ne 0 ] || sleep 0.01; done; touch /tmp/stop; wait $back
[ "$(wc -l < fore.txt)" = "$(tail -n 1 fore.txt)" ]; [ "$(wc -l < back.txt)" = "$(tail -n 1 back.txt)" ]`),
    );
    await newer(run.id);
    expect(await b.ended(run.id)).toMatchObject({ status: 'completed', error: null });
  });

  test('that fail are made again soon, not a pace later', async () => {
    faultAt('before put', async () => {
      Object.assign(pace, { quietMs: 60_000, fullMs: 60_000 });
      throw away('before put');
    });
    const { run } = await b.send([sh('echo one > one.txt'), WAIT].join('\n'));
    await captured(run.id, 'one.txt');
    expect(pace.fullMs).toBe(60_000);
    await ok(s.call('POST', `${b.at}/stop`, {}));
    await b.ended(run.id);
  });

  test('are skipped while the store is away: the run goes on', async () => {
    let refused = 0;
    faultAt(
      'before put',
      async () => {
        refused++;
        throw away('before put');
      },
      'always',
    );
    const { run } = await b.send(
      [sh('echo one > one.txt'), sh('sleep 3'), sh('echo two > two.txt')].join('\n'),
    );
    await until('two refusals', () => refused >= 2);
    mend();
    await captured(run.id, 'one.txt');
    expect((await b.ended(run.id)).status).toBe('completed');
    await cleaned(b);
  });

  /** Holds the next put until it is released. */
  function holdPut() {
    const { promise, resolve } = Promise.withResolvers<void>();
    const hold = { isReached: false, release: resolve };
    faultAt('before put', async () => {
      hold.isReached = true;
      await promise;
    });
    return hold;
  }

  test.each(['run', 'app'])('change nothing after the end of the %s', async (what) => {
    const hold = holdPut();
    const { run } = await b.send([sh('echo one > one.txt'), sh('sleep 2')].join('\n'));
    await until('the capture', () => hold.isReached);
    Object.assign(pace, { quietMs: 60_000, fullMs: 60_000 });
    if (what === 'run') await b.ended(run.id);
    else {
      await ok(s.call('DELETE', b.app));
      await settled(s, b);
    }
    hold.release();
    await cleaned(b);
    expect(await snapshotOf(run.id)).toBeUndefined();
  });

  test('of a worker that has lost the run change nothing', async () => {
    const hold = holdPut();
    const { run } = await b.send(
      sh('i=0; while [ $i -lt 100 ]; do i=$((i+1)); echo $i > n.txt; sleep 0.1; done'),
    );
    await until('the capture', () => hold.isReached);
    await loseWorker(s, b);
    await newer(run.id);
    Object.assign(pace, { quietMs: Infinity, fullMs: Infinity });
    const kept = (await snapshotOf(run.id))!;
    hold.release();
    await until('the end of the late one', async () => {
      await cleanUpObjects(ctx);
      const left = await ctx.db
        .selectFrom('objects')
        .select('key')
        .where('project_id', '=', b.appId)
        .where('committed_at', 'is', null)
        .execute();
      return left.length === 0;
    });
    expect((await snapshotOf(run.id))!.object_key).toBe(kept.object_key);
    await ok(s.call('POST', `${b.at}/stop`, {}));
    await b.ended(run.id);
    await cleaned(b);
  });
});
