/** What several runners share: the bytes of an organization's workspaces, and the places of runs that wait. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { newApp, newBench, ok, sh, until } from '../threads/threads.fixture.ts';
import type { Bench } from '../threads/threads.fixture.ts';
import { recordSizes } from '../workspaces/index.ts';
import { closeFleet, startFleet } from './fleet.fixture.ts';
import type { TestFleet } from './fleet.fixture.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const MiB = 1024 * 1024;
let fleet: TestFleet;
beforeAll(async () => {
  fleet = await startFleet({ HEADRACE_ORG_WORKSPACE_BYTES: String(50 * MiB) });
});
afterAll(closeFleet);

const db = () => fleet.s.service.ctx.db;
const runnerOf = async ({ threadId }: Bench) =>
  (await db().selectFrom('threads').select('runner_id').where('id', '=', threadId).executeTakeFirstOrThrow())
    .runner_id!;
const placesOf = async (id: string) =>
  (await db().selectFrom('runners').select('reserved').where('boot_id', '=', id).executeTakeFirstOrThrow())
    .reserved;
const exec = (b: Bench, command: string) => ok(fleet.s.call('POST', `${b.at}/exec`, { command }));

test("beyond an organization's bound over all runners its least recently used idle workspace is put away", async () => {
  const files = { '.gitignore': '*.bin\n', 'a.txt': 'a\n' };
  const [a, b] = [await fleet.runner('size-a'), await fleet.runner('size-b')];
  const own = [await newBench(fleet.s, { files })];
  // Until each has one: a report may come between, which says again that the former one has room.
  for (let at: string[] = []; new Set(at).size < 2; at = await Promise.all(own.map(runnerOf))) {
    const former = await runnerOf(own.at(-1)!);
    await db().updateTable('runners').set({ capacity: 0 }).where('boot_id', '=', former).execute();
    own.push(await newBench(fleet.s, { files }));
  }
  own.splice(1, own.length - 2);
  own.push(await newBench(fleet.s, { files }));
  for (const one of own) await exec(one, 'head -c 20971520 /dev/zero > big.bin; echo mark > mark.txt');
  const statuses = () => Promise.all(own.map(async (one) => (await one.thread()).workspaceStatus as string));
  await until('the first to be put away', async () => (await statuses())[0] === 'archived');
  expect((await statuses()).slice(1)).toEqual(['ready', 'ready']);
  const sizes = await db().selectFrom('workspace_sizes').select(['thread_id', 'bytes']).execute();
  for (const one of own.slice(1))
    expect(sizes.find((row) => row.thread_id === one.threadId)!.bytes).toBeGreaterThan(20 * MiB);
  // A runner says nothing of workspaces elsewhere.
  const [, second] = own;
  const there = await runnerOf(second!);
  const elsewhere = there === a.bootId ? b.bootId : a.bootId;
  await recordSizes(
    db(),
    [elsewhere, there].map((runnerId, i) => ({
      runnerId,
      sizes: [{ id: second!.threadId, bytes: (21 + i) * MiB, idleMs: 0 }],
    })),
  );
  const row = () =>
    db()
      .selectFrom('workspace_sizes')
      .select(['runner_id', 'bytes'])
      .where('thread_id', '=', second!.threadId)
      .executeTakeFirstOrThrow();
  expect((await row()).runner_id).toBe(there);
  const { exec: shown } = await exec(own[0]!, 'cat mark.txt; ls');
  expect(shown.stdout).toBe('mark\na.txt\nmark.txt\n');
  for (const one of [a, b]) one.kill('SIGINT');
  await db().updateTable('runners').set({ state: 'gone' }).execute();
  await until(
    'what they took to be forgotten',
    async () => {
      const left = await db().selectFrom('workspace_sizes').select('thread_id').execute();
      return left.length === 0;
    },
    60_000,
  );
});

describe('a run that waits for a person', () => {
  test('gives its place to another one, and takes it again before it goes on', async () => {
    const only = await fleet.runner('wait-a', { capacity: 1 });
    const b = await newBench(fleet.s, {
      settings: { approvals: [{ tool: 'sh', pattern: ': gate*', decision: 'ask' }] },
    });
    const { run } = await b.send(sh(': gate; echo gone on'));
    const gate = await until('the question', async () => (await b.list('approvals'))[0]);
    await until('its place to be given back', async () => (await placesOf(only.bootId)) === 0);
    // The only place is another thread's now.
    const { at: app } = await newApp(fleet.s);
    const other = (await ok(fleet.s.call('POST', `${app}/threads`, {}))).thread.id as string;
    const at = `${app}/threads/${other}`;
    const taker = (
      await ok(
        fleet.s.call('POST', `${at}/messages`, { content: sh('while [ ! -e go ]; do sleep 0.1; done') }),
      )
    ).run.id as string;
    const runAt = async (where: string, id: string) =>
      (await ok(fleet.s.call('GET', `${where}/runs/${id}`))).run;
    await until('the other to run', async () => (await runAt(at, taker)).status === 'running');
    await ok(fleet.s.call('POST', `${b.at}/approvals/${gate.id}`, { decision: 'approve' }));
    await until('it to be told to go on', async () => (await runAt(b.at, run.id)).status === 'running');
    const holders = async () =>
      (await db().selectFrom('runner_places').select('holder').execute()).map((place) => place.holder);
    expect(await holders()).toEqual([`thread:${other}`]);
    // While there is no room its agent has no answer.
    const began = performance.now();
    await until('some rounds of its watch', () => performance.now() - began > 3_000);
    const tools = (await ok(fleet.s.call('GET', `${b.at}/runs/${run.id as string}/tools`))).tools;
    expect(tools.map((tool: { status: string }) => tool.status)).not.toContain('completed');
    await ok(fleet.s.call('POST', `${at}/stop`));
    expect((await b.ended(run.id)).status).toBe('completed');
    await until('all places to be free', async () => (await placesOf(only.bootId)) === 0);
  });
});
