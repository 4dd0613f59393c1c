import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '../ids.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestAnswer, TestServer } from '../service.fixture.ts';

const P = '/api/platform/v1';
const ROUNDS = 60;

let s: TestServer;
let client: pg.Client;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
  client = new pg.Client({ connectionString: s.service.ctx.config.databaseUrl! });
  await client.connect();
});
afterAll(async () => {
  await client?.end();
  await s?.close();
});

interface Shown {
  status: string;
  runStatus: string | null;
  pendingWakeups: number;
  waitingOn: string[];
}

/** What the writer of this test leaves after each of its transactions. */
const isOneMoment = ({ status, runStatus, pendingWakeups, waitingOn }: Shown) =>
  status === 'queued'
    ? runStatus === 'queued' && pendingWakeups === 1 && waitingOn.length === 0
    : status === 'waiting'
      ? runStatus === 'waiting' && pendingWakeups === 0 && waitingOn.length === 1
      : (runStatus === null || runStatus === 'completed') && pendingWakeups === 0 && waitingOn.length === 0;

test('a thread, the list of threads and an export never show two moments at once', async () => {
  const app: string = (await s.call('POST', `${P}/apps`, { name: 'x' })).body.app.id;
  const { rows } = await client.query<{ org_id: string }>('select org_id from projects where id = $1', [app]);
  const orgId = rows[0]!.org_id;
  const thread = newId('thr');
  await client.query(
    `insert into threads (org_id, id, project_id, status, initialization_state, created_by) values ($1, $2, $3, 'ready', 'completed', 'x')`,
    [orgId, thread, app],
  );
  const writing = { isDone: false };
  const write = async () => {
    for (let i = 0; i < ROUNDS; i++) {
      const run = newId('run');
      await client.query(
        `begin;
        insert into runs (org_id, id, project_id, thread_id, reply_message_id, kind, agent, model_id, status, created_by) values ('${orgId}', '${run}', '${app}', '${thread}', 'x', 'message', 'x', 'x', 'queued', 'x');
        update threads set status = 'queued' where id = '${thread}';
        commit`,
      );
      await client.query(
        `begin;
        update runs set status = 'waiting' where id = '${run}';
        insert into tools (org_id, id, thread_id, run_id, call_id, name, status, first_event_id) values ('${orgId}', 'tool${run}', '${thread}', '${run}', 'x', 'x', 'running', 'x');
        insert into approvals (org_id, id, thread_id, run_id, tool_id, request_id, title, status, expires_at) values ('${orgId}', 'apr${run}', '${thread}', '${run}', 'tool${run}', 'x', 'x', 'pending', now() + interval '1 hour');
        update threads set status = 'waiting' where id = '${thread}';
        commit`,
      );
      await client.query(
        `begin;
        update runs set status = 'completed', finished_at = now() where id = '${run}';
        update approvals set status = 'approved' where run_id = '${run}';
        update threads set status = 'ready' where id = '${thread}';
        commit`,
      );
    }
    writing.isDone = true;
  };
  const at = `${P}/apps/${app}/threads`;
  const seen = new Map<string, number>();
  const read = async (path: string, pick: (body: TestAnswer['body']) => Shown) => {
    while (!writing.isDone) {
      const shown = pick((await s.call('GET', path)).body);
      expect(shown).toSatisfy(isOneMoment);
      seen.set(shown.status, (seen.get(shown.status) ?? 0) + 1);
    }
  };
  await Promise.all([
    write(),
    ...Array.from({ length: 4 }, () => read(`${at}/${thread}`, (body) => body.thread)),
    read(at, (body) => body.threads[0]),
    read(`/api/threads/${thread}/export`, (body) => body.export.thread),
  ]);
  expect([...seen.keys()].toSorted()).toEqual(['queued', 'ready', 'waiting']);
});
