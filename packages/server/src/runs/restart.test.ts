/**
 * The service as a separate process on one database and data folder: stopped, or killed, in the middle of
 * work, and started again.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { startModelServer } from '../../../../checks/harness/model-server/index.ts';
import { makeServiceKey } from '../accounts/index.ts';
import { draftsOf, P } from '../applies/applies.fixture.ts';
import { createTestDatabase } from '../db/database.fixture.ts';
import { rowsOf } from '../fault-tables.fixture.ts';
import type { TestAnswer, TestServer } from '../service.fixture.ts';
import { newBench, ok, sh, until } from '../threads/threads.fixture.ts';

// Each test starts the whole service two or three times.
vi.setConfig({ testTimeout: 90_000 });

const MAIN = fileURLToPath(new URL('../main.ts', import.meta.url));
const opened: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

/** A data folder with a database; `start` starts a service on them. */
async function place(env: Record<string, string> = {}) {
  const database = await createTestDatabase();
  opened.push(() => database.drop());
  const dataDir = await mkdtemp(join(tmpdir(), 'headrace-test-'));
  opened.push(() => rm(dataDir, { recursive: true, force: true }));
  const key = makeServiceKey();
  const { host, port, user, database: name } = database.connection;
  let child: ChildProcess | undefined;
  const end = async (signal: 'SIGTERM' | 'SIGKILL') => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const over = once(child, 'exit');
    child.kill(signal);
    await over;
  };
  // Its runner exits by itself when it has had no request for half a minute.
  opened.push(() => end('SIGTERM'));
  return {
    end,
    /** Runs `work` on a separate connection. */
    async sql<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
      const client = new pg.Client(database.connection);
      await client.connect();
      return work(client).finally(() => client.end());
    },
    async start(roles = 'api,worker,runner'): Promise<TestServer> {
      child = spawn(process.execPath, [MAIN], {
        stdio: ['ignore', 'pipe', 'inherit'],
        env: {
          PATH: process.env.PATH,
          NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
          HEADRACE_PORT: '0',
          HEADRACE_DATA_DIR: dataDir,
          DATABASE_URL: `postgresql:///${name}?${new URLSearchParams({ host, port: String(port), user }).toString()}`,
          HEADRACE_SECRET_KEY: 'test secret of at least 32 characters',
          HEADRACE_BOOTSTRAP_KEY: key,
          HEADRACE_RATE_LIMIT: '1000000',
          HEADRACE_LOG_LEVEL: 'fatal',
          HEADRACE_ROLES: roles,
          ...env,
        },
      });
      let base = '';
      for await (const line of createInterface({ input: child.stdout! })) {
        base = /^headrace listening on (\S+)$/.exec(line)?.[1] ?? '';
        if (base) break;
      }
      expect(base).not.toBe('');
      const call = async (
        method: string,
        path: string,
        body?: unknown,
        options: { idem?: string | false } = {},
      ): Promise<TestAnswer> => {
        const response = await fetch(base + path, {
          method,
          headers: {
            'x-api-key': key,
            'idempotency-key': options.idem || randomUUID(),
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        const text = await response.text();
        return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
      };
      return { base, key, call } as TestServer;
    },
  };
}

/** A run's events in order, once its end is among them: the log shows it a moment after the run does. */
async function eventsOf(s: TestServer, app: string, runId: string): Promise<string[]> {
  const read = async () => (await ok(s.call('GET', `${app}/events?limit=500&runId=${runId}`))).events;
  await until('the end of the run in the log', async () =>
    (await read()).some((e: { type: string }) => /^run\.(completed|failed|cancelled)$/.test(e.type)),
  );
  return (await read())
    .map((e: { type: string; data: { status?: string } }) =>
      e.type === 'tool.updated' ? `${e.type}:${e.data.status!}` : e.type,
    )
    .filter((w: string) => w !== 'tool.updated:pending');
}

const WORK = sh(
  'echo one; while [ ! -e /tmp/go ]; do sleep 0.1; i=$((i+1)); [ $i -lt 40 ] || touch /tmp/go; done; echo two > two.txt',
);

const SIGNALS = ['SIGTERM', 'SIGKILL'] as const;

describe.each(rowsOf(SIGNALS, 0))('%s in the middle of a run', (signal) => {
  test('the runner goes on with it; the next start reads its journal again and doubles nothing', async () => {
    const at = await place();
    let s = await at.start();
    const b = await newBench(s);
    const { run } = await b.send([sh('echo first'), WORK].join('\n\n'));
    await until('the second call', async () =>
      (await ok(s.call('GET', `${b.at}/runs/${run.id}/tools`))).tools.some(
        (t: { status: string }) => t.status === 'running',
      ),
    );
    await at.end(signal);
    s = await at.start();
    const ended = (await ok(s.call('GET', `${b.at}/runs/${run.id}?waitSeconds=30`))).run;
    expect([ended.status, ended.error]).toEqual(['completed', null]);
    const events = (await eventsOf(s, b.app, run.id)).filter((w) => w !== 'platform.source.imported');
    expect(events).toEqual([
      'run.queued',
      'run.running',
      'tool.updated:running',
      'tool.updated:completed',
      'tool.updated:running',
      'tool.updated:completed',
      'checkpoint.created',
      'message.persisted',
      'run.completed',
    ]);
    expect(
      (await ok(s.call('GET', `${b.at}/runs/${run.id}/tools`))).tools.map(
        (t: { status: string }) => t.status,
      ),
    ).toEqual(['completed', 'completed']);
    const { run: next } = await ok(s.call('POST', `${b.at}/messages`, { content: sh('cat two.txt') }));
    expect((await ok(s.call('GET', `${b.at}/runs/${next.id}?waitSeconds=30`))).run.status).toBe('completed');
  });
});

describe.each(SIGNALS.map((signal, turn) => ({ signal, turn })))(
  '$signal in the middle of a run by a model',
  ({ signal, turn }) => {
    const script = (steps: unknown[]) => `Please.\n\n\`\`\`model\n${JSON.stringify(steps)}\n\`\`\``;
    const bash = (command: string) => ({ call: [{ tool: 'bash', input: { command } }] });

    async function modelled() {
      const models = await startModelServer();
      opened.push(() => models.close());
      const folder = await mkdtemp(join(tmpdir(), 'headrace-models-'));
      opened.push(() => rm(folder, { recursive: true, force: true }));
      await writeFile(
        join(folder, 'config.json'),
        JSON.stringify({
          providers: { local: { baseUrl: `${models.url}/v1`, wires: ['anthropic'], key: 'none' } },
          prices: { 'local/*': { inputMicros: 1_000_000, outputMicros: 1_000_000 } },
        }),
      );
      return { models, at: await place({ HEADRACE_CONFIG_FILE: join(folder, 'config.json') }) };
    }

    test.each(rowsOf(['in a run that messages have joined'], turn + 1))(
      '%s: each is read once, and told once',
      async () => {
        const { models, at } = await modelled();
        let s = await at.start();
        const b = await newBench(s, { thread: { modelId: 'local/model' } });
        // The second command outlasts the kill, the start, and the five seconds in which a worker that starts judges nobody.
        const { run } = await b.send(script([bash('sleep 1'), bash('sleep 18'), { say: 'Done.' }]));
        const tools = async () =>
          (await ok(s.call('GET', `${b.at}/runs/${run.id}/tools`))).tools as unknown[];
        await until('the first command', async () => (await tools()).length === 1);
        await b.send('First thought.');
        await until('the second command', async () => (await tools()).length === 2);
        await b.send('Second thought.');
        await at.end(signal);
        s = await at.start();
        expect((await ok(s.call('GET', `${b.at}/runs/${run.id}?waitSeconds=30`))).run).toMatchObject({
          status: 'completed',
          error: null,
        });
        expect((await ok(s.call('GET', `${b.at}/runs`))).runs).toHaveLength(1);
        const last = JSON.stringify(models.calls.at(-1)!.body);
        expect(['First thought.', 'Second thought.'].map((text) => last.split(text).length - 1)).toEqual([
          1, 1,
        ]);
        const { events } = await ok(s.call('GET', `${b.app}/events?limit=500&types=tool.updated`));
        const told = (events as { data: { id: string; status: string } }[]).map(
          ({ data }) => `${data.id} ${data.status}`,
        );
        expect(told).toEqual([...new Set(told)]);
      },
    );

    const MOMENTS: [string, object[], (tools: { status: string }[]) => boolean][] = [
      [
        'while a command runs',
        [bash('sleep 3; echo b > b.txt'), { say: 'Done.' }],
        (tools) => tools.length === 1,
      ],
      [
        'while the model speaks',
        [bash('echo b > b.txt'), { chunks: 60, delayMs: 50 }, { say: 'Done.' }],
        (tools) => tools[0]?.status === 'completed',
      ],
    ];
    test.each(rowsOf(MOMENTS, turn))(
      '%s: it goes on, and every call is settled',
      async (_, steps, isThere) => {
        const { models, at } = await modelled();
        let s = await at.start();
        const b = await newBench(s, { thread: { modelId: 'local/model' } });
        const { run } = await b.send(script(steps));
        await until('the moment', async () =>
          isThere((await ok(s.call('GET', `${b.at}/runs/${run.id}/tools`))).tools),
        );
        await until('the model to be asked', () => models.calls.length === (steps.length === 3 ? 2 : 1));
        await at.end(signal);
        // Ends the dead process's lease at once.
        await at.sql((db) => db.query("update model_calls set lease_until = now() where status = 'open'"));
        s = await at.start();
        const ended = (await ok(s.call('GET', `${b.at}/runs/${run.id}?waitSeconds=30`))).run;
        expect([ended.status, ended.error]).toEqual(['completed', null]);
        const contents = await ok(
          s.call('GET', `${b.app}/sources/${ended.resultSourceId as string}/file?path=b.txt`),
        );
        expect(contents.file.content).toBe('b\n');
        await until(
          'no call to be open',
          async () =>
            (await at.sql((db) => db.query("select 1 from model_calls where status = 'open'"))).rows
              .length === 0,
          40_000,
        );
        const {
          rows: [spending],
        } = await at.sql((db) =>
          db.query<{ spent: string; reserved: string; called: string }>(
            'select spent_micros as spent, reserved_micros as reserved, (select sum(cost_micros) from model_calls) as called from spending where scope_id = $1',
            [b.threadId],
          ),
        );
        expect(spending).toEqual({ spent: spending!.called, reserved: '0', called: spending!.called });
      },
    );
  },
);

describe('a service that is away', () => {
  const REPORT = `echo '${JSON.stringify({ status: 'resolved', summary: 'Both.', checks: [] })}' > .hoplite/repair/report.json`;
  /** A conflict that these commands repair; the first of them asks. */
  async function repairing(s: TestServer, ...commands: string[]) {
    const d = draftsOf(s);
    const draft = await d.diverged(
      { 'a.txt': 'base\n' },
      { 'a.txt': 'head\n', 'h.txt': 'h\n' },
      { 'a.txt': 'draft\n' },
    );
    const [app, thread] = [`${P}/apps/${draft.appId}`, `${P}/apps/${draft.appId}/threads/${draft.threadId}`];
    await ok(s.call('PATCH', app, { metadata: { 'headrace.repairScript': sh(commands.join('\n')) } }));
    await ok(s.call('PATCH', `${app}/settings`, { approvals: [{ tool: 'sh', decision: 'ask' }] }));
    const { id } = await d.queue(draft);
    const asked = await until(
      'the question',
      async () => (await ok(s.call('GET', `${thread}/approvals`))).approvals[0],
    );
    return {
      draft,
      thread,
      allow: (now: TestServer, question = asked) =>
        ok(now.call('POST', `${thread}/approvals/${question.id}`, { decision: 'approve' })),
      next: (now: TestServer) =>
        until('the next question', async () =>
          (await ok(now.call('GET', `${thread}/approvals`))).approvals.find(
            (a: { id: string; status: string }) => a.status === 'pending' && a.id !== asked.id,
          ),
        ),
      /** Waits for its end: it has moved the head once. */
      async applied(now: TestServer) {
        const apply = await until(
          'the end of the apply',
          async () => {
            const it = (await ok(now.call('GET', `${app}/applies/${id}?waitSeconds=5`))).apply;
            return it.status !== 'queued' && it;
          },
          60_000,
        );
        expect([apply.status, apply.error]).toEqual(['applied', null]);
        expect(await draftsOf(now).files(draft.appId, apply.resultSourceId)).toEqual({
          'a.txt': 'both\n',
          'h.txt': 'h\n',
        });
        expect(await draftsOf(now).head(draft.appId)).toMatchObject({
          sourceId: apply.resultSourceId,
          revision: 3,
        });
        return apply.repairs.map((r: { error: string | null }) => r.error?.split(':')[0] ?? null);
      },
    };
  }

  test('a repair goes on where its sandbox lives, and its apply with what it left', async () => {
    const at = await place();
    const repair = await repairing(await at.start(), 'test -f h.txt; echo both > a.txt', REPORT);
    await at.end('SIGKILL');
    const s = await at.start();
    await repair.allow(s);
    expect(await repair.applied(s)).toEqual([null]);
  });

  test('a repair whose runner is gone too is lost, and starts again', async () => {
    const at = await place();
    const repair = await repairing(await at.start(), 'echo both > a.txt', REPORT);
    const runner = await at.sql(
      async (db) =>
        (
          await db.query<{ runner_id: string }>('select runner_id from threads where id = $1', [
            repair.draft.threadId,
          ])
        ).rows[0]!.runner_id,
    );
    await at.end('SIGKILL');
    process.kill(Number(runner.split(':')[1]), 'SIGKILL');
    const s = await at.start();
    await repair.allow(s, await repair.next(s));
    expect(await repair.applied(s)).toEqual(['worker_lost', null]);
  });

  test('killed between the end of a repair and its place in the head, it is applied once', async () => {
    const at = await place();
    let s = await at.start();
    const repair = await repairing(s, 'echo both > a.txt', REPORT);
    await at.sql(async (held) => {
      await held.query('begin');
      await held.query('select id from projects where id = $1 for no key update', [repair.draft.appId]);
      await repair.allow(s);
      await until(
        'the apply to wait for its settling',
        async () =>
          (
            await at.sql((db) =>
              db.query(
                "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%\"projects\"%'",
              ),
            )
          ).rows.length > 0,
      );
      expect((await ok(s.call('GET', `${repair.thread}/runs`))).runs[0].status).toBe('completed');
      await at.end('SIGKILL');
    });
    s = await at.start();
    expect(await repair.applied(s)).toEqual([null]);
  });

  test('a question that was open stays the one question, and is answered after the start', async () => {
    const at = await place();
    let s = await at.start();
    const b = await newBench(s, { settings: { approvals: [{ tool: 'sh', decision: 'ask' }] } });
    const { run } = await b.send(sh('echo b > b.txt'));
    const pending = async () => (await ok(s.call('GET', `${b.at}/approvals`))).approvals;
    await until('the question', async () => (await pending()).length === 1);
    await at.end('SIGKILL');
    s = await at.start();
    const [asked] = await pending();
    expect(asked.status).toBe('pending');
    await ok(s.call('POST', `${b.at}/approvals/${asked.id}`, { decision: 'approve' }));
    expect((await ok(s.call('GET', `${b.at}/runs/${run.id}?waitSeconds=30`))).run.status).toBe('completed');
    expect((await pending()).length).toBe(1);
    const events = await eventsOf(s, b.app, run.id);
    for (const once of ['approval.requested', 'approval.resolved', 'run.waiting', 'tool.updated:completed'])
      expect(events.filter((e) => e === once)).toEqual([once]);
  });

  test('a command goes on and is run once; its retry gets what it did', async () => {
    const at = await place();
    let s = await at.start();
    const b = await newBench(s);
    const idem = randomUUID();
    const exec = () =>
      s.call('POST', `${b.at}/exec`, { command: 'echo x >> log.txt; sleep 2; echo done' }, { idem });
    const cut = exec().catch(() => 'cut');
    // Refused without effect either way.
    await until(
      'the command',
      async () =>
        (
          await s.call('POST', `${b.at}/edits`, {
            expectedSourceId: 'src_x',
            changes: [{ path: 'b', content: 'b' }],
          })
        ).body.error?.reason === 'exec',
    );
    await at.end('SIGKILL');
    expect(await cut).toBe('cut');
    s = await at.start();
    const answer = await until('the result', async () => {
      const again = await exec();
      return again.status === 200 && again;
    });
    expect([answer.headers.get('idempotent-replayed'), answer.body.exec.stdout]).toEqual(['true', 'done\n']);
    const { file } = await ok(
      s.call('GET', `${b.app}/sources/${answer.body.exec.sourceId as string}/file?path=log.txt`),
    );
    expect(file.content).toBe('x\n');
  });

  test('an api alone takes a stop and leaves runs queued; a worker does both', async () => {
    const at = await place();
    let s = await at.start();
    const b = await newBench(s);
    const { run } = await b.send(sh('sleep 60'));
    await b.working(run.id);
    await at.end('SIGKILL');
    s = await at.start('api');
    const { run: queued } = await ok(s.call('POST', `${b.at}/messages`, { content: 'Hello.' }));
    expect((await ok(s.call('GET', `${b.at}/runs/${queued.id}?waitSeconds=1`))).run.status).toBe('queued');
    expect((await ok(s.call('POST', `${b.at}/stop`, {}))).run.id).toBe(run.id);
    expect((await ok(s.call('GET', `${b.at}/runs/${run.id}?waitSeconds=1`))).run.status).toBe('running');
    await at.end('SIGTERM');
    s = await at.start();
    expect((await ok(s.call('GET', `${b.at}/runs/${run.id}?waitSeconds=30`))).run.status).toBe('cancelled');
    const { run: next } = await ok(s.call('POST', `${b.at}/messages`, { content: 'Hello.' }));
    expect((await ok(s.call('GET', `${b.at}/runs/${next.id}?waitSeconds=30`))).run.status).toBe('completed');
  });
});
