/** The organization's limit of runs over all its apps; an app's own is tested with the runs. */
import { afterAll, describe, expect, test } from 'vitest';
import { signedIn } from '../accounts/test-callers.ts';
import { startTestServer } from '../test-server.ts';
import { newBench, ok, sh, until } from '../threads/fixture.ts';
import type { Bench } from '../threads/fixture.ts';

const s = await startTestServer();
afterAll(() => s.close());

const runOf = async (threadAt: string, id: string) => (await ok(s.call('GET', `${threadAt}/runs/${id}?waitSeconds=20`))).run;
const newThread = async (b: Bench) => `${b.app}/threads/${(await ok(s.call('POST', `${b.app}/threads`, {}))).thread.id as string}`;
const send = async (at: string, command: string) => (await ok(s.call('POST', `${at}/messages`, { content: sh(command) }))).run.id as string;

describe.skipIf(s.service.ctx.runnerStatus()?.ok !== true)('the organization\'s limit', () => {
  test('bounds the runs of all its apps together; a thread with more to do does not keep its place from others', async () => {
    const [a, b] = [await newBench(s), await newBench(s)];
    await ok(s.call('PATCH', '/api/settings', { concurrency: { runs: 1 } }, { cookie: await signedIn(s) }));
    const { run } = await a.send(sh('sleep 60'));
    await a.working(run.id);
    // The thread has more to do itself; others of its app, and of another app, wait.
    const [sameApp, otherApp] = [await newThread(a), await newThread(b)];
    const [own, same, other] = [await send(a.at, 'true'), await send(sameApp, 'true'), await send(otherApp, 'true')];
    for (const at of [sameApp, otherApp]) await until('capacity', async () => (await ok(s.call('GET', at))).thread.waitingOn.includes('capacity'));
    await ok(s.call('POST', `${a.at}/stop`, {}));
    const ended = [await runOf(otherApp, other), await runOf(sameApp, same)];
    expect(ended.map((r) => r.status)).toEqual(['completed', 'completed']);
    expect(Date.parse(ended[1]!.startedAt)).toBeGreaterThanOrEqual(Date.parse(ended[0]!.finishedAt));
    // A stop cancels what is queued behind it.
    expect((await runOf(a.at, own)).status).toBe('cancelled');
  });

  test('lets go of what waits when it is taken back', async () => {
    const [a, b] = [await newBench(s), await newBench(s)];
    const cookie = await signedIn(s);
    await ok(s.call('PATCH', '/api/settings', { concurrency: { runs: 1 } }, { cookie }));
    const { run } = await a.send(sh('sleep 60'));
    await a.working(run.id);
    const waiting = await send(b.at, 'true');
    await until('capacity', async () => (await ok(s.call('GET', b.at))).thread.waitingOn.includes('capacity'));
    await ok(s.call('PATCH', '/api/settings', { concurrency: null }, { cookie }));
    expect((await runOf(b.at, waiting)).status).toBe('completed');
    await ok(s.call('POST', `${a.at}/stop`, {}));
  });
});
