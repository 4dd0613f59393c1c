/**
 * While a build may be alive, its thread takes no other work, and its project and organization cannot be
 * deleted.
 */
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { RunnerError } from '@headrace/runner/client';
import type { RunnerClient } from '@headrace/runner/client';
import { newAccount, tenant } from '../accounts/callers.fixture.ts';
import { startTestServer } from '../service.fixture.ts';
import { newBench, newThread, until } from './builds.fixture.ts';
import type { Bench } from './builds.fixture.ts';

const server = await startTestServer();
afterAll(() => server.close());
const { ctx } = server.service;
const status = ctx.runnerStatus();
if (!status?.ok)
  process.stderr.write(`SKIPPED, no sandbox can be made here: ${status?.missing.join('; ')}\n`);
const { runner } = ctx;
afterEach(() => {
  Object.assign(ctx, { runner });
});

/** Keeps the runner from confirming that a sandbox is gone; returns how to end that. */
function stickSandboxes(): { free(): void; tries: () => number } {
  let [isStuck, tries] = [true, 0];
  ctx.runner = Object.assign(Object.create(runner) as RunnerClient, {
    deleteTask: async (id: string) => {
      tries++;
      if (isStuck) throw new RunnerError(500, 'not_confirmed', 'still alive');
      return runner.deleteTask(id);
    },
  });
  return {
    free() {
      isStuck = false;
    },
    tries: () => tries,
  };
}
const outcomeOf = async (id: string) =>
  (await ctx.db.selectFrom('builds').select('outcome').where('id', '=', id).executeTakeFirstOrThrow())
    .outcome;

/** The answer to each kind of work in the thread. */
async function refusals({ thread, sourceId }: Bench): Promise<Record<string, string>> {
  const work: [string, object][] = [
    ['edits', { expectedSourceId: sourceId, changes: [{ path: 'b.txt', content: 'b' }] }],
    ['apply', { expectedSourceId: sourceId, clientOperationId: 'apply-1' }],
    ['exec', { command: 'true' }],
    ['messages', { content: 'hello' }],
    ['retry', {}],
    ['builds', { command: 'true', outputDirectory: '.' }],
  ];
  return Object.fromEntries(
    await Promise.all(
      work.map(async ([name, body]) => {
        const {
          status: code,
          body: { error },
        } = await server.call('POST', `${thread}/${name}`, body, name === 'apply' ? { idem: 'apply-1' } : {});
        return [name, [code, error?.code, error?.reason].join(' ')];
      }),
    ),
  );
}
const BUSY = Object.fromEntries(
  ['edits', 'apply', 'exec', 'messages', 'retry', 'builds'].map((name) => [name, '409 thread_busy build']),
);

describe.skipIf(!status?.ok)('a thread with a build', () => {
  test('takes no other work while it is queued, building, or its sandbox is not confirmed gone; then it does', async () => {
    const bench = await newBench(server);
    await server.call('PATCH', `${bench.url}/settings`, { concurrency: { builds: 1 } });
    const before = await bench.submit(
      'sleep 60',
      {},
      `${bench.url}/threads/${await newThread(server, bench.url)}`,
    );
    await bench.started(before.id);
    const { id } = await bench.submit(
      'until [ -e /nowhere ]; do sleep 0.1; [ $((i += 1)) -gt 10 ] && break; done; mkdir dist',
    );
    expect([(await bench.read(id)).status, await refusals(bench)]).toEqual(['queued', BUSY]);
    const stuck = stickSandboxes();
    await server.call('POST', `${bench.url}/builds/${before.id}/cancel`);
    // The place is taken until the sandbox is gone.
    await until(async () => stuck.tries() >= 2);
    expect((await bench.read(id)).status).toBe('queued');
    stuck.free();
    await bench.started(id);
    expect(await refusals(bench)).toEqual(BUSY);
    const again = stickSandboxes();
    await until(async () => (await outcomeOf(id)) === 'ready' && again.tries() >= 2);
    expect([(await bench.read(id)).status, await refusals(bench)]).toEqual(['building', BUSY]);
    again.free();
    expect((await bench.ended(id)).status).toBe('ready');
    const edit = await server.call('POST', `${bench.thread}/edits`, {
      expectedSourceId: bench.sourceId,
      changes: [{ path: 'b.txt', content: 'b' }],
    });
    expect([edit.status, edit.text]).toEqual([201, edit.text]);
  });

  test('keeps its app and organization while its sandbox may live: 409 build_busy; once that is gone they can be deleted', async () => {
    const { cookie, organization } = await tenant(server);
    const { key } = await newAccount(server, cookie);
    const bench = await newBench({
      ...server,
      call: (method, path, body, options) => server.call(method, path, body, { key, ...options }),
    });
    const stuck = stickSandboxes();
    const { id } = await bench.submit('mkdir dist');
    await until(async () => (await outcomeOf(id)) === 'ready');
    const remove = async (path: string, as: object) => {
      const answer = await server.call('DELETE', path, undefined, as);
      return [answer.status, answer.body.error?.code];
    };
    // A cancelled build counts too: its row ends with its sandbox.
    for (const cancels of [false, true]) {
      if (cancels)
        expect(
          (await server.call('POST', `${bench.url}/builds/${id}/cancel`, undefined, { key })).status,
        ).toBe(202);
      expect(await remove(bench.url, { key })).toEqual([409, 'build_busy']);
      expect(await remove(`/api/organizations/${organization.id}`, { cookie })).toEqual([409, 'build_busy']);
      expect((await bench.read(id)).status).toBe('building');
    }
    stuck.free();
    expect((await bench.ended(id)).error.code).toBe('cancelled');
    expect(await remove(bench.url, { key })).toEqual([200, undefined]);
    expect(await remove(`/api/organizations/${organization.id}`, { cookie })).toEqual([200, undefined]);
  });
});
