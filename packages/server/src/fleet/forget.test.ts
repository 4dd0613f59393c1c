import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Forget } from '@headrace/runner/registration';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { newApp, ok, sh } from '../threads/threads.fixture.ts';
import type { Report } from '../runner/store.ts';
import { findForgettable } from './forget.ts';

let s: TestServer;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
});
afterAll(async () => {
  await s?.close();
});
const db = () => s.service.ctx.db;

const [HERE, THERE] = ['a', 'b'].map((letter) => `rnr_${letter.repeat(26)}`) as [string, string];
/** What each of the two may forget of these. */
async function forgotten(reported: Partial<Forget>): Promise<[Forget, Forget]> {
  const report = (bootId: string) =>
    ({ bootId, tasks: [], workspaces: [], groups: [], ...reported }) as unknown as Report;
  const found = await findForgettable(db(), [report(HERE), report(THERE)]);
  return [found.get(HERE)!, found.get(THERE)!];
}

test('a workspace is of the runner that its thread names, from before it is made until its end is confirmed', async () => {
  const { at } = await newApp(s);
  const id = (await ok(s.call('POST', `${at}/threads`, {}))).thread.id as string;
  for (const status of ['preparing', 'ready', 'cleanup_pending', 'archived', 'error']) {
    await sql`update threads set runner_id = ${HERE}, workspace_status = ${status} where id = ${id}`.execute(
      db(),
    );
    const [here, there] = await forgotten({ workspaces: [id] });
    expect([status, here.workspaces, there.workspaces]).toEqual([
      status,
      ['archived', 'error'].includes(status) ? [id] : [],
      [id],
    ]);
  }
});

test('a task is needed while what it is for is under way at that runner', async () => {
  const { at, appId } = await newApp(s);
  const newThread = async () =>
    `${at}/threads/${(await ok(s.call('POST', `${at}/threads`, {}))).thread.id as string}`;
  const { run } = await ok(s.call('POST', `${await newThread()}/messages`, { content: sh('true') }));
  const thread = await newThread();
  const { build } = await ok(s.call('POST', `${thread}/builds`, { command: 'true', outputDirectory: '.' }));
  const { preview } = await ok(s.call('POST', `${thread}/previews`, { command: 'true', port: 3000 }));
  const ids = [run.id, `${run.id}-report`, build.id, preview.id] as string[];
  const strangers = [`op_${'0'.repeat(26)}`, 'set_unknown', 'bld_stray'];
  const [queued] = await forgotten({ tasks: [...ids, ...strangers] });
  expect(queued.tasks.toSorted()).toEqual([...ids, ...strangers].toSorted());
  await sql`update threads set runner_id = ${HERE} where project_id = ${appId}`.execute(db());
  await sql`update runs set status = 'waiting' where id = ${run.id}`.execute(db());
  await sql`update builds set status = 'building', runner_id = ${HERE} where id = ${build.id}`.execute(db());
  await sql`update previews set runner_id = ${HERE} where id = ${preview.id}`.execute(db());
  const [here, there] = await forgotten({ tasks: [...ids, ...strangers] });
  expect(here.tasks.toSorted()).toEqual(strangers.toSorted());
  expect(there.tasks.toSorted()).toEqual([...ids, ...strangers].toSorted());
});

test('what is kept for a project is needed until it is deleted', async () => {
  const { at, appId } = await newApp(s);
  const unknown = `prj_${'0'.repeat(26)}`;
  expect((await forgotten({ groups: [appId, unknown] }))[0].groups).toEqual([unknown]);
  await ok(s.call('DELETE', at));
  expect((await forgotten({ groups: [appId] }))[1].groups).toEqual([appId]);
});
