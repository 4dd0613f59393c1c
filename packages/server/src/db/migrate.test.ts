import { readdirSync, readFileSync } from 'node:fs';
import { Client } from 'pg';
import { afterEach, expect, test } from 'vitest';
import { createTestDatabase } from './database.fixture.ts';
import type { TestDatabase } from './database.fixture.ts';
import { isId } from '../ids.ts';
import { migrate } from './migrate.ts';

const FOLDER = new URL('./migrations/', import.meta.url);

let database: TestDatabase;
let client: Client;
afterEach(async () => {
  await client?.end();
  await database?.drop();
});

/** A database as the version with these migrations left it. */
async function databaseThrough(last: number): Promise<void> {
  database = await createTestDatabase();
  client = new Client(database.connection);
  await client.connect();
  await client.query('truncate schema_migrations');
  const { rows } = await client.query<{ drop: string }>(
    "select format('drop table %I cascade', tablename) as drop from pg_tables where schemaname = 'public' and tablename <> 'schema_migrations'",
  );
  for (const { drop } of rows) await client.query(drop.replace('drop table', 'drop table if exists'));
  const { rows: functions } = await client.query<{ drop: string }>(
    "select format('drop function %s', oid::regprocedure) as drop from pg_proc where pronamespace = 'public'::regnamespace",
  );
  for (const { drop } of functions) await client.query(drop);
  const { rows: sequences } = await client.query<{ drop: string }>(
    "select format('drop sequence %I', sequencename) as drop from pg_sequences where schemaname = 'public'",
  );
  for (const { drop } of sequences) await client.query(drop);
  for (const file of readdirSync(FOLDER).sort()) {
    const number = Number(file.slice(0, 4));
    if (number > last) continue;
    await client.query(readFileSync(new URL(file, FOLDER), 'utf8'));
    await client.query('insert into schema_migrations (number, name) values ($1, $2)', [number, file]);
  }
}

const insert = (table: string, row: Record<string, unknown>) => {
  const names = Object.keys(row);
  return client.query(
    `insert into ${table} (${names.join(', ')}) values (${names.map((_, i) => `$${i + 1}`).join(', ')})`,
    Object.values(row),
  );
};

test('0009: commands that were queued or running keep their jobs, and those that were settled lose theirs', async () => {
  await databaseThrough(8);
  await insert('organizations', { id: 'org_1', name: 'One' });
  await insert('projects', { org_id: 'org_1', id: 'prj_1', kind: 'platform', name: 'App' });
  const add = async (n: number, { status = 'pending', jobs }: { status?: string; jobs: object[] }) => {
    const [operationId, threadId] = [`op_${n}`, `thr_${n}`];
    await insert('operations', {
      org_id: 'org_1',
      id: operationId,
      actor_id: 'sa_1',
      idempotency_key: `key ${n}`,
      fingerprint: Buffer.of(),
      method: 'POST',
      path: '/',
      permissions: [],
      published: false,
      status,
      created_at: `2026-01-0${n}T00:00:00Z`,
    });
    await insert('threads', {
      org_id: 'org_1',
      id: threadId,
      project_id: 'prj_1',
      status: 'ready',
      initialization_state: 'completed',
      created_by: 'sa_1',
      exec_operation_id: status === 'pending' ? operationId : null,
    });
    for (const fields of jobs)
      await insert('jobs', {
        kind: 'exec.work',
        key: `thread:${threadId}`,
        fair_key: 'prj_1',
        payload: {
          operationId,
          requestId: `req ${n}`,
          threadId,
          command: `echo ${n}`,
          timeoutSeconds: 60 + n,
          ...fields,
        },
      });
  };
  await add(1, { jobs: [{ stdin: 'in\n' }] });
  await add(2, { jobs: [{ isStarted: true }] });
  // A job that failed too often was just replaced by the next one.
  await add(3, { jobs: [{}, { isStarted: true }] });
  await add(4, { status: 'succeeded', jobs: [{ isStarted: true }] });
  await insert('jobs', { kind: 'build.work', payload: { buildId: 'bld_1' } });

  await migrate(database.connection);

  const { rows: execs } = await client.query<object>('select * from execs order by id');
  const exec = (n: number, status: string, stdin: string | null) => ({
    org_id: 'org_1',
    id: `exe_${n}`,
    project_id: 'prj_1',
    thread_id: `thr_${n}`,
    operation_id: `op_${n}`,
    request_id: `req ${n}`,
    command: `echo ${n}`,
    stdin,
    timeout_seconds: 60 + n,
    status,
    created_at: new Date(`2026-01-0${n}T00:00:00Z`),
  });
  expect(execs).toEqual([exec(1, 'queued', 'in\n'), exec(2, 'running', null), exec(3, 'running', null)]);
  const { rows: jobs } = await client.query<object>('select key, payload from jobs order by id');
  expect(jobs).toEqual([
    { key: 'thread:thr_1', payload: { execId: 'exe_1' } },
    { key: 'thread:thr_2', payload: { execId: 'exe_2' } },
    { key: 'thread:thr_3', payload: { execId: 'exe_3' } },
    { key: 'thread:thr_3', payload: { execId: 'exe_3' } },
    { key: null, payload: { buildId: 'bld_1' } },
  ]);
  const { rows: threads } = await client.query<object>('select id, active_exec_id from threads order by id');
  expect(threads).toEqual([
    { id: 'thr_1', active_exec_id: 'exe_1' },
    { id: 'thr_2', active_exec_id: 'exe_2' },
    { id: 'thr_3', active_exec_id: 'exe_3' },
    { id: 'thr_4', active_exec_id: null },
  ]);
});

test('0015: open sessions stay open, with ids in the order of their start', async () => {
  await databaseThrough(14);
  await insert('users', { id: 'usr_1', email: 'kim@example.test', name: 'Kim', password_hash: '' });
  const starts = ['2026-01-02T00:00:00.123Z', '2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.124Z'];
  for (const [n, start] of starts.entries())
    await insert('sessions', {
      token_hash: Buffer.of(n),
      user_id: 'usr_1',
      expires_at: '2030-01-01T00:00:00Z',
      created_at: start,
    });
  await migrate(database.connection);
  const { rows } = await client.query<{ id: string; start: Date; seen: Date }>(
    'select id, created_at as start, last_seen_at as seen from sessions order by id collate "C"',
  );
  expect(rows.map((row) => row.start.toISOString())).toEqual(starts.toSorted());
  expect(rows.map((row) => row.seen)).toEqual(rows.map((row) => row.start));
  expect(rows.filter((row) => !isId('ses', row.id))).toEqual([]);
  expect(rows.map((row) => timeOf(row.id)).toSorted()).toEqual(starts.toSorted());
});

test('0015: a restore that was queued keeps its source', async () => {
  await databaseThrough(14);
  const at = { org_id: 'org_1', project_id: 'prj_1', thread_id: 'thr_1' };
  await insert('organizations', { id: 'org_1', name: 'One' });
  await insert('projects', { org_id: 'org_1', id: 'prj_1', kind: 'platform', name: 'App' });
  await insert('threads', {
    org_id: 'org_1',
    id: 'thr_1',
    project_id: 'prj_1',
    status: 'queued',
    initialization_state: 'completed',
    created_by: 'sa_1',
  });
  const { project_id: _, ...checkpointAt } = at;
  await client.query('set session_replication_role = replica');
  await insert('checkpoints', { ...checkpointAt, id: 'chk_1', source_id: 'src_1', kind: 'edit' });
  for (const [id, checkpoint] of [
    ['run_1', 'chk_1'],
    ['run_2', null],
  ])
    await insert('runs', {
      ...at,
      id,
      reply_message_id: `msg_${id}`,
      kind: checkpoint ? 'restore' : 'message',
      agent: 'scripted',
      model_id: 'scripted',
      status: 'queued',
      checkpoint_id: checkpoint,
      created_by: 'sa_1',
    });
  await migrate(database.connection);
  const { rows } = await client.query('select id, restore_source_id from runs order by id');
  expect(rows).toEqual([
    { id: 'run_1', restore_source_id: 'src_1' },
    { id: 'run_2', restore_source_id: null },
  ]);
});

test('0027: rows of Direct projects and of deleted apps are off the lists of all apps', async () => {
  await databaseThrough(26);
  await client.query('set session_replication_role = replica');
  await insert('organizations', { id: 'org_1', name: 'One' });
  const kinds = { app: 'platform', gone: 'platform', direct: 'direct' };
  for (const [name, kind] of Object.entries(kinds)) {
    const at = { org_id: 'org_1', id: name, project_id: name };
    const deletedAt = name === 'gone' ? new Date() : null;
    await insert('projects', { org_id: 'org_1', id: name, kind, name, deleted_at: deletedAt });
    await insert('threads', {
      ...at,
      status: 'ready',
      initialization_state: 'completed',
      created_by: 'sa_1',
      deleted_at: deletedAt,
    });
    const of = { ...at, thread_id: name, status: 'failed', created_by: 'sa_1' };
    await insert('applies', { ...of, sequence: 1, conflict_resolution: 'agent', draft_source_id: 'src_1' });
    const build = { source_id: 'src_1', command: 'x', output_directory: '.', timeout_seconds: 1 };
    await insert('builds', { ...of, ...build });
    await insert('previews', { ...of, token: name, command: 'x', port: 1 });
  }
  await migrate(database.connection);
  for (const list of ['applies', 'builds', 'previews', 'threads']) {
    const more = list === 'threads' ? 'and deleted_at is null' : '';
    const { rows } = await client.query(`select id from ${list} where listed ${more}`);
    expect(rows, list).toEqual([{ id: 'app' }]);
  }
});

test('0028: messages have the sizes of their attachments', async () => {
  await databaseThrough(27);
  await client.query('set session_replication_role = replica');
  const message = { org_id: 'org_1', thread_id: 'thr_1', role: 'user', content: 'Look.' };
  const attachments = [
    { mediaType: 'image/png', data: 'iVBORw==' },
    { mediaType: 'text/plain', data: '' },
  ];
  await insert('messages', {
    ...message,
    id: 'msg_1',
    sequence: 1,
    attachments: JSON.stringify(attachments),
  });
  await insert('messages', { ...message, id: 'msg_2', sequence: 2 });
  await migrate(database.connection);
  const { rows } = await client.query('select attachment_sizes as sizes from messages order by id');
  expect(rows).toEqual([
    {
      sizes: [
        { mediaType: 'image/png', byteSize: 4 },
        { mediaType: 'text/plain', byteSize: 0 },
      ],
    },
    { sizes: null },
  ]);
});

test('0029: an organization, and each of its projects, has at most one variable of a name', async () => {
  await databaseThrough(28);
  await insert('organizations', { id: 'org_1', name: 'One' });
  for (const id of ['prj_1', 'prj_2'])
    await insert('projects', { org_id: 'org_1', id, kind: 'platform', name: 'App' });
  await migrate(database.connection);
  const variable = (id: string, projectId: string | null, name: string) =>
    insert('variables', {
      org_id: 'org_1',
      id,
      project_id: projectId,
      name,
      value_sealed: Buffer.of(1),
      byte_size: 2,
      is_secret: true,
      targets: ['exec'],
    });
  await variable('env_1', null, 'A');
  await variable('env_2', 'prj_1', 'A');
  await variable('env_3', 'prj_2', 'A');
  await variable('env_4', null, 'a');
  await expect(variable('env_5', null, 'A')).rejects.toThrow(/unique/);
  await expect(variable('env_6', 'prj_1', 'A')).rejects.toThrow(/unique/);
});

test('0033: an organization, and each of its projects, has at most one skill of a name', async () => {
  await databaseThrough(29);
  await insert('organizations', { id: 'org_1', name: 'One' });
  await insert('projects', { org_id: 'org_1', id: 'prj_1', kind: 'platform', name: 'App' });
  await insert('objects', { org_id: 'org_1', key: 'before', project_id: 'prj_1' });
  await migrate(database.connection);
  const skill = (id: string, projectId: string | null) =>
    insert('skills', {
      org_id: 'org_1',
      id,
      project_id: projectId,
      name: 'a',
      description: 'd',
      file_count: 1,
      byte_size: 1,
      sha256: 'x',
      archive_key: id,
      archive_sha256: 'x',
      archive_byte_size: 1,
    });
  await skill('skl_1', null);
  await skill('skl_2', 'prj_1');
  await expect(skill('skl_3', null)).rejects.toThrow(/unique/);
  await expect(skill('skl_4', 'prj_1')).rejects.toThrow(/unique/);
  await insert('objects', { org_id: 'org_1', key: 'of the organization', project_id: null });
});

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
/** An id's first ten characters are its milliseconds. */
const timeOf = (id: string) =>
  new Date(
    Array.from(id.split('_')[1]!.slice(0, 10)).reduce((ms, letter) => ms * 32 + ALPHABET.indexOf(letter), 0),
  ).toISOString();

test('0037: jobs that were under way are counted', async () => {
  await databaseThrough(36);
  const job = (status: string, project: string, isWaiting = false) =>
    insert('jobs', {
      kind: 'run.work',
      payload: {},
      status,
      fair_org: 'org_1',
      fair_key: project,
      waiting: isWaiting,
    });
  for (const project of ['prj_1', 'prj_1', 'prj_2']) await job('active', project);
  await job('active', 'prj_1', true);
  await job('queued', 'prj_1');
  await migrate(database.connection);
  await job('active', 'prj_2');
  const { rows } = await client.query<object>(
    'select fair_key as project, sum(change)::int as n from busy_counts group by 1 order by 1',
  );
  expect(rows).toEqual([
    { project: 'prj_1', n: 2 },
    { project: 'prj_2', n: 2 },
    { project: null, n: 4 },
  ]);
});
