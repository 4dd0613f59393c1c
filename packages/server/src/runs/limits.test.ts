/** The organization's limit of runs over all its apps; an app's limit is tested in runs.test.ts. */
import { afterAll, describe, expect, test } from 'vitest';
import { signedIn } from '../accounts/callers.fixture.ts';
import { startTestServer } from '../service.fixture.ts';
import { newBench, ok, sh, until } from '../threads/threads.fixture.ts';
import type { Bench } from '../threads/threads.fixture.ts';

const s = await startTestServer();
afterAll(() => s.close());

const runOf = async (threadAt: string, id: string) =>
  (await ok(s.call('GET', `${threadAt}/runs/${id}?waitSeconds=20`))).run;
const newThread = async (b: Bench) =>
  `${b.app}/threads/${(await ok(s.call('POST', `${b.app}/threads`, {}))).thread.id as string}`;
const send = async (at: string, command: string) =>
  (await ok(s.call('POST', `${at}/messages`, { content: sh(command) }))).run.id as string;

describe.skipIf(s.service.ctx.runnerStatus()?.ok !== true)("the organization's limit", () => {
  test('bounds the runs of all its apps together; a thread with more to do does not keep its place from others', async () => {
    const [a, b] = [await newBench(s), await newBench(s)];
    await ok(s.call('PATCH', '/api/settings', { concurrency: { runs: 1 } }, { cookie: await signedIn(s) }));
    await ok(
      s.call('PATCH', `${a.app}/settings`, {
        approvals: [{ tool: 'sh', pattern: ': gate', decision: 'ask' }],
      }),
    );
    await a.send(sh(': gate'));
    const gate = await until(
      'the question',
      async () => (await ok(s.call('GET', `${a.at}/approvals`))).approvals[0],
    );
    const [sameApp, otherApp] = [await newThread(a), await newThread(b)];
    // The last one belongs to the thread whose run has the place: its worker would start it at once.
    const waiting = [
      [sameApp, await send(sameApp, 'true')],
      [otherApp, await send(otherApp, 'true')],
      [a.at, await send(a.at, 'true')],
    ] as const;
    for (const at of [sameApp, otherApp])
      await until('capacity', async () =>
        (await ok(s.call('GET', at))).thread.waitingOn.includes('capacity'),
      );
    await ok(s.call('POST', `${a.at}/approvals/${gate.id}`, { decision: 'approve' }));
    const ended = await Promise.all(waiting.map(([at, id]) => runOf(at, id)));
    expect(ended.map((r) => r.status)).toEqual(['completed', 'completed', 'completed']);
    const inOrder = ended.toSorted((x, y) => Date.parse(x.startedAt) - Date.parse(y.startedAt));
    expect(inOrder.map((r) => ended.indexOf(r))).toEqual([1, 0, 2]);
    for (const [i, r] of inOrder.entries())
      if (i > 0)
        expect(Date.parse(r.startedAt)).toBeGreaterThanOrEqual(Date.parse(inOrder[i - 1]!.finishedAt));
  });

  test('lets go of what waits when it is taken back', async () => {
    const [a, b] = [await newBench(s), await newBench(s)];
    const cookie = await signedIn(s);
    await ok(s.call('PATCH', '/api/settings', { concurrency: { runs: 1 } }, { cookie }));
    const { run } = await a.send(sh('sleep 60'));
    await a.working(run.id);
    const waiting = await send(b.at, 'true');
    await until('capacity', async () =>
      (await ok(s.call('GET', b.at))).thread.waitingOn.includes('capacity'),
    );
    await ok(s.call('PATCH', '/api/settings', { concurrency: null }, { cookie }));
    expect((await runOf(b.at, waiting)).status).toBe('completed');
    await ok(s.call('POST', `${a.at}/stop`, {}));
  });
});
