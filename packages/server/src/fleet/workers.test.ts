/** Several workers and one runner; what a runner reports that is not its own; peers that are none. */
import { once } from 'node:events';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { PROTOCOL_RANGE } from '@headrace/runner/registration';
import { TlsAgent, TlsCredentials } from '@headrace/runner/tls';
import { WorkerLinks } from '../../../runner/src/machine/worker-links.ts';
import { newBench, ok, sh, until } from '../threads/threads.fixture.ts';
import type { Bench } from '../threads/threads.fixture.ts';
import { closeFleet, startFleet } from './fleet.fixture.ts';
import type { TestFleet, TestRunner } from './fleet.fixture.ts';

vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 });

let fleet: TestFleet;
let second: Awaited<ReturnType<TestFleet['beside']>>;
let runner: TestRunner;
let bench: Bench;
beforeAll(async () => {
  fleet = await startFleet();
  second = await fleet.beside('worker');
  runner = await fleet.runner('node-a', { capacity: 1 });
  bench = await newBench(fleet.s);
});
afterAll(closeFleet);
const db = () => fleet.s.service.ctx.db;

describe('one runner', () => {
  test('has a place for one of two threads; the other one waits for it, and says so', async () => {
    const other = await newBench(fleet.s);
    const { run: first } = await bench.send(sh('until test -e /tmp/go; do sleep 0.1; done'));
    await bench.working(first.id as string);
    const { run } = await other.send(sh('true'));
    await until('it to wait for room', async () =>
      ((await other.thread()).waitingOn as string[]).includes('capacity'),
    );
    await ok(fleet.s.call('POST', `${bench.at}/stop`, {}));
    await bench.ended(first.id as string);
    expect(await other.ended(run.id as string)).toMatchObject({ status: 'completed' });
  });

  test('goes on with its run when the worker that drives it stops: another one drives it', async () => {
    const third = await fleet.beside('worker');
    const { run } = await bench.send(sh('sleep 6; echo done > done.txt'));
    await bench.working(run.id as string);
    const key = `thread:${bench.threadId}`;
    const driverOf = async () =>
      await db()
        .selectFrom('jobs')
        .select(['worker_id', 'attempt'])
        .where('key', '=', key)
        .executeTakeFirst();
    const before = await driverOf();
    await Promise.all([second.s.service.stop(), third.s.service.stop()]);
    expect(await bench.ended(run.id as string)).toMatchObject({ status: 'completed' });
    expect(before).toBeDefined();
  });

  test('ends and deletes what the database does not give to it', async () => {
    await bench.work(sh('true'));
    const { client } = await fleet.s.service.ctx.fleet!.find(runner.bootId);
    expect(await client.workspaceExists(bench.threadId)).toBe(true);
    await client.startTask('bld_stray', {
      kind: 'build',
      command: 'sleep 100',
      outputDirectory: '.',
      timeoutMs: 100_000,
    });
    // As after it was lost for a while.
    await sql`update threads set workspace_status = 'error' where id = ${bench.threadId}`.execute(db());
    await until('the workspace to be forgotten', async () => !(await client.workspaceExists(bench.threadId)));
    await until('the task to be forgotten', async () => (await client.tasks()).length === 0);
    await bench.work(sh('cat a.txt'));
  });
});

describe('a peer at the listener', () => {
  const callerOf = (...roles: string[]) =>
    new WorkerLinks(
      [{ host: '127.0.0.1', port: fleet.port }],
      new TlsCredentials(fleet.authority.of(...roles)),
    );
  const bootId = `rnr_${'z'.repeat(26)}`;
  const reportWith = (given: object = {}) =>
    JSON.stringify({
      name: 'n',
      address: 'n.test:4403',
      pool: 'spare',
      protocol: PROTOCOL_RANGE,
      capacity: 1,
      isDraining: false,
      status: {
        id: bootId,
        pid: 1,
        driver: null,
        ok: false,
        missing: [],
        limits: { memory: 'watchdog', processes: 'rlimit', cpu: 'none', warnings: [] },
      },
      tasks: [],
      workspaces: [],
      groups: [],
      ...given,
    });
  const put = async (links: WorkerLinks, body: string, id = bootId) => {
    const answer = await links.call('PUT', `/runners/${id}`, body, () => {});
    return [answer.status, (JSON.parse(answer.body || '{}') as { error?: { code: string } }).error?.code];
  };

  test('of another role is refused', async () => {
    await expect(put(callerOf('worker'), reportWith())).rejects.toThrow();
    await expect(put(callerOf('api', 'worker'), reportWith())).rejects.toThrow();
  });

  test('is a runner of this release or the next one, with a report that can be read', async () => {
    const runnerLinks = callerOf('runner');
    expect(await put(runnerLinks, reportWith())).toEqual([200, undefined]);
    const [, newest] = PROTOCOL_RANGE;
    expect(await put(runnerLinks, reportWith({ protocol: [newest, newest + 1] }))).toEqual([200, undefined]);
    expect(await put(runnerLinks, reportWith({ protocol: [newest + 1, newest + 2] }))).toEqual([
      409,
      'unsupported_protocol',
    ]);
    expect(await put(runnerLinks, '{')).toEqual([400, 'invalid_request']);
    expect(await put(runnerLinks, reportWith({ capacity: 0 }))).toEqual([400, 'invalid_request']);
    expect(await put(runnerLinks, reportWith(), 'local')).toEqual([404, 'not_found']);
  });

  test('joins a sandbox to the model gateway, which knows the task by the first line', async () => {
    const socket = (await callerOf('runner').dial())!;
    socket.write(
      `task run_${'0'.repeat(26)}\nGET /v1/nothing HTTP/1.1\r\nhost: gateway\r\nconnection: close\r\n\r\n`,
    );
    const parts: Buffer[] = [];
    for await (const part of socket) parts.push(part as Buffer);
    expect(Buffer.concat(parts).toString()).toMatch(/^HTTP\/1\.1 40[134] /);
    expect(await callerOf('worker').dial()).toBeUndefined();
  });

  test('may report late over the same connection', async () => {
    const target = {
      host: '127.0.0.1',
      port: fleet.port,
      tls: new TlsCredentials(fleet.authority.of('runner')),
    };
    const agent = new TlsAgent(target, 'worker');
    const req = request({ ...target, agent, method: 'PUT', path: `/runners/${bootId}` }).end(reportWith());
    const [res] = (await once(req, 'response')) as [IncomingMessage];
    expect([res.statusCode, res.headers['keep-alive']]).toEqual([200, 'timeout=60']);
    res.resume();
    await once(res, 'end');
    agent.destroy();
  });

  test('that counts as gone has to register anew', async () => {
    const runnerLinks = callerOf('runner');
    await put(runnerLinks, reportWith());
    expect((await runnerLinks.call('DELETE', `/runners/${bootId}`, '', () => {})).status).toBe(204);
    expect(await put(runnerLinks, reportWith())).toEqual([409, 'gone']);
  });
});
