/** The operator's bound of the bytes that an organization's workspaces take. */
import { afterAll, describe, expect, test } from 'vitest';
import { newAccount, tenant } from '../accounts/callers.fixture.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { newBench, ok, sh, until } from '../threads/threads.fixture.ts';
import type { Bench } from '../threads/threads.fixture.ts';
import { surplusWorkspaces } from './store.ts';

const MiB = 1024 * 1024;
const s = await startTestServer({ HEADRACE_ORG_WORKSPACE_BYTES: String(50 * MiB) });
afterAll(() => s.close());

async function organization(): Promise<TestServer> {
  const { key } = await newAccount(s, (await tenant(s)).cookie);
  return {
    ...s,
    key,
    call: (method, path, body, options) => s.call(method, path, body, { key, ...options }),
  };
}
const files = { '.gitignore': '*.bin\n', 'a.txt': 'a\n' };
const fill = (caller: TestServer, b: Bench) =>
  ok(
    caller.call('POST', `${b.at}/exec`, {
      command: 'head -c 20971520 /dev/zero > big.bin; echo mark > mark.txt',
    }),
  );
const statusOf = async (b: Bench) => (await b.thread()).workspaceStatus as string;

describe.skipIf(s.service.ctx.runnerStatus()?.ok !== true)('bytes of workspaces', () => {
  test("beyond an organization's bound its least recently used idle workspace is put away with what it holds", async () => {
    const [ours, theirs] = [await organization(), await organization()];
    const own: Bench[] = [];
    for (let i = 0; i < 3; i++) own.push(await newBench(ours, { files }));
    const other = await newBench(theirs, { files });
    await fill(theirs, other);
    for (const b of own) await fill(ours, b);
    await until('the first to be put away', async () => (await statusOf(own[0]!)) === 'archived');
    expect(await Promise.all([own[1]!, own[2]!, other].map(statusOf))).toEqual(['ready', 'ready', 'ready']);
    const { exec } = await ok(ours.call('POST', `${own[0]!.at}/exec`, { command: 'cat mark.txt; ls' }));
    expect(exec.stdout).toBe('mark\na.txt\nmark.txt\n');
  });

  test('one in use counts, and is not put away', async () => {
    const ours = await organization();
    const [busy, idle] = [await newBench(ours, { files }), await newBench(ours, { files })];
    const { run } = await busy.send(
      sh('head -c 47185920 /dev/zero > big.bin; while [ ! -e go ]; do sleep 0.1; done'),
    );
    await fill(ours, idle);
    await until('the idle one to be put away', async () => (await statusOf(idle)) === 'archived');
    expect((await ok(ours.call('GET', `${busy.at}/runs/${run.id as string}`))).run.status).toBe('running');
    expect(await statusOf(busy)).toBe('ready');
    await ok(ours.call('POST', `${busy.at}/stop`));
    await busy.ended(run.id as string);
    const { db } = s.service.ctx;
    expect(await surplusWorkspaces(db, 50 * MiB, 10)).toEqual([]);
    // A workspace that was put away takes nothing.
    await until(
      'its size to be forgotten',
      async () =>
        (await db.selectFrom('workspace_sizes').selectAll().where('thread_id', '=', idle.threadId).execute())
          .length === 0,
    );
  });
});
