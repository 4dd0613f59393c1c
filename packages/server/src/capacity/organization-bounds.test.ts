/** What the operator lets each organization have: beyond it its own work waits or is refused, nobody else's. */
import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newAccount, tenant } from '../accounts/callers.fixture.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { newApp, newBench, ok, P, refusal, sh, until } from '../threads/threads.fixture.ts';

/** The same service, as a further organization calls it. */
async function organizationOf(s: TestServer): Promise<TestServer> {
  const { key } = await newAccount(s, (await tenant(s)).cookie);
  return {
    ...s,
    key,
    call: (method, path, body, options) => s.call(method, path, body, { key, ...options }),
  };
}

const newThread = async (s: TestServer, app: string) =>
  `${app}/threads/${(await ok(s.call('POST', `${app}/threads`, {}))).thread.id as string}`;

describe('what is refused', () => {
  let ours: TestServer, theirs: TestServer, s: TestServer;
  beforeAll(async () => {
    s = await startTestServer({
      HEADRACE_ROLES: 'api',
      HEADRACE_ORG_EXECS: '1',
      HEADRACE_ORG_PREVIEWS: '2',
      HEADRACE_ORG_STREAMS: '2',
    });
    [ours, theirs] = [await organizationOf(s), await organizationOf(s)];
  });
  afterAll(async () => {
    await s?.close();
  });

  test('a command beyond the bound is 429, and its key is free', async () => {
    const { at } = await newApp(ours);
    const [first, second] = [await newThread(ours, at), await newThread(ours, at)];
    const { at: other } = await newApp(theirs);
    const gone = new AbortController();
    const begin = (caller: TestServer, thread: string) =>
      fetch(`${s.base}${thread}/exec`, {
        method: 'POST',
        headers: {
          'x-api-key': caller.key,
          'idempotency-key': randomUUID(),
          'content-type': 'application/json',
        },
        body: JSON.stringify({ command: 'true' }),
        signal: gone.signal,
      }).catch(() => {});
    void begin(ours, first);
    const { db } = s.service.ctx;
    const open = async () => (await db.selectFrom('execs').selectAll().execute()).length;
    await until('the command to be taken', async () => (await open()) === 1);
    const idem = randomUUID();
    const refused = await ours.call('POST', `${second}/exec`, { command: 'true' }, { idem });
    expect([refused.status, refused.body.error.code]).toEqual([429, 'rate_limited']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await refusal(ours.call('POST', `${second}/exec`, { command: 'date' }, { idem }))).toBe(
      '429 rate_limited',
    );
    void begin(theirs, await newThread(theirs, other));
    await until('another organization to have its own', async () => (await open()) === 2);
    gone.abort();
  });

  test('two commands at once cannot both take the last place', async () => {
    const caller = await organizationOf(s);
    const { at } = await newApp(caller);
    const threads = await Promise.all(Array.from({ length: 6 }, () => newThread(caller, at)));
    const gone = new AbortController();
    const statuses: number[] = [];
    for (const thread of threads)
      void fetch(`${s.base}${thread}/exec`, {
        method: 'POST',
        headers: {
          'x-api-key': caller.key,
          'idempotency-key': randomUUID(),
          'content-type': 'application/json',
        },
        body: JSON.stringify({ command: 'true' }),
        signal: gone.signal,
      })
        .then((answer) => statuses.push(answer.status))
        .catch(() => {});
    await until('all but one to be refused', () => statuses.length === 5);
    expect(statuses).toEqual([429, 429, 429, 429, 429]);
    gone.abort();
  });

  test('a preview beyond the bound is 429 until one is removed', async () => {
    const { at } = await newApp(ours);
    const thread = await newThread(ours, at);
    const open = (caller: TestServer, on: string) =>
      caller.call('POST', `${on}/previews`, { command: 'true', port: 3000 });
    const first = (await ok(open(ours, thread))).preview.id as string;
    await ok(open(ours, thread));
    const refused = await open(ours, await newThread(ours, at));
    expect([refused.status, refused.body.error.code]).toEqual([429, 'rate_limited']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    await ok(open(theirs, await newThread(theirs, (await newApp(theirs)).at)));
    await ok(ours.call('DELETE', `${at}/previews/${first}`));
    expect((await open(ours, thread)).status).toBe(201);
  });

  describe('streams and long polls', () => {
    const stream = async (caller: TestServer) => {
      const gone = new AbortController();
      const { status } = await fetch(`${s.base}${P}/events/stream`, {
        headers: { 'x-api-key': caller.key },
        signal: gone.signal,
      });
      return { status, close: () => gone.abort() };
    };

    test('beyond the bound are 429, other reads and other organizations are not', async () => {
      const open = [await stream(ours), await stream(ours)];
      expect(open.map(({ status }) => status)).toEqual([200, 200]);
      expect(await stream(ours)).toMatchObject({ status: 429 });
      const poll = `${P}/events?waitSeconds=1&types=platform.app.deleted`;
      const refused = await ours.call('GET', poll);
      expect([refused.status, refused.body.error.code]).toEqual([429, 'rate_limited']);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      expect((await ours.call('GET', `${P}/events?waitSeconds=0`)).status).toBe(200);
      expect((await theirs.call('GET', poll)).status).toBe(200);
      open.pop()!.close();
      await until('a place to be given back', async () => (await ours.call('GET', poll)).status === 200);
      open.pop()!.close();
    });

    test('a refused one, and one that has ended, keeps no place', async () => {
      const caller = await organizationOf(s);
      for (let i = 0; i < 4; i++) {
        expect((await caller.call('GET', `${P}/events/stream?threadId=thr_none`)).status).toBeGreaterThan(
          399,
        );
        expect((await caller.call('GET', `${P}/events?waitSeconds=1&cursor=wrong`)).body.error.code).toBe(
          'invalid_cursor',
        );
      }
      const open = [await stream(caller), await stream(caller)];
      expect(open.map(({ status }) => status)).toEqual([200, 200]);
      for (const one of open) one.close();
    });

    test('a caller that ends its side and reads no more gives its place back', async () => {
      const caller = await organizationOf(s);
      const { hostname, port } = new URL(s.base);
      const sockets = [1, 2].map(() => {
        const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
        socket.write(
          `GET ${P}/events/stream HTTP/1.1\r\nhost: ${hostname}\r\nx-api-key: ${caller.key}\r\n\r\n`,
        );
        socket.once('data', () => socket.pause());
        return socket.on('error', () => {});
      });
      await until('both to be open', async () => (await stream(caller)).status === 429);
      for (const socket of sockets) socket.end();
      const again = await until('a place to be given back', async () => {
        const one = await stream(caller);
        return one.status === 200 && one;
      });
      again.close();
      for (const socket of sockets) socket.destroy();
    });
  });
});

describe('what waits', async () => {
  const s = await startTestServer({ HEADRACE_ORG_RUNS: '1', HEADRACE_ORG_BUILDS: '1' });
  afterAll(() => s.close());
  const isHeld = async (caller: TestServer, at: string) =>
    (await ok(caller.call('GET', at))).thread.waitingOn.includes('capacity');

  test.skipIf(s.service.ctx.runnerStatus()?.ok !== true)(
    'a run beyond the bound waits for capacity, also while the other one waits for an answer',
    async () => {
      const [ours, theirs] = [await organizationOf(s), await organizationOf(s)];
      const [a, b, other] = [await newBench(ours), await newBench(ours), await newBench(theirs)];
      await ok(ours.call('PATCH', `${a.app}/settings`, { approvals: [{ tool: 'sh', decision: 'ask' }] }));
      const first = (await a.send(sh('true'))).run.id as string;
      const asked = await until(
        'the question',
        async () => (await ok(ours.call('GET', `${a.at}/approvals`))).approvals[0],
      );
      const second = (await b.send(sh('true'))).run.id as string;
      await until('the second to be held', () => isHeld(ours, b.at));
      await other.work(sh('true'));
      expect((await ok(ours.call('GET', `${b.at}/runs/${second}`))).run.status).toBe('queued');
      await ok(ours.call('POST', `${a.at}/approvals/${asked.id as string}`, { decision: 'approve' }));
      expect((await a.ended(first)).status).toBe('completed');
      expect((await b.ended(second)).status).toBe('completed');
      expect(await isHeld(ours, b.at)).toBe(false);
    },
  );

  test.skipIf(s.service.ctx.runnerStatus()?.ok !== true)(
    'a build beyond the bound waits for capacity, and begins when the other one has ended',
    async () => {
      const [ours, theirs] = [await organizationOf(s), await organizationOf(s)];
      const [a, b, other] = [await newBench(ours), await newBench(ours), await newBench(theirs)];
      const submit = async (caller: TestServer, at: string, command: string) =>
        (await ok(caller.call('POST', `${at}/builds`, { command, outputDirectory: '.' }))).build.id as string;
      const statusOf = async (app: string, id: string) =>
        (await ok(s.call('GET', `${app}/builds/${id}?waitSeconds=20`, undefined, { key: ours.key }))).build
          .status as string;
      const first = await submit(ours, a.at, 'sleep 60');
      await until(
        'the first to begin',
        async () => (await ok(ours.call('GET', `${a.app}/builds/${first}`))).build.status === 'building',
      );
      const second = await submit(ours, b.at, 'true');
      await until('the second to be held', () => isHeld(ours, b.at));
      const third = await submit(theirs, other.at, 'true');
      expect((await ok(theirs.call('GET', `${other.app}/builds/${third}?waitSeconds=20`))).build.status).toBe(
        'ready',
      );
      await ok(ours.call('POST', `${a.app}/builds/${first}/cancel`));
      expect(await statusOf(b.app, second)).toBe('ready');
      expect(await isHeld(ours, b.at)).toBe(false);
    },
  );
});
