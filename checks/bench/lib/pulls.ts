/** Pull requests of the built-in provider: opened through the API, and copied by the thousand in the database. */
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Db } from '../../../packages/server/src/db/database.ts';
import { openDatabase } from '../../../packages/server/src/db/database.ts';
import { runGit } from '../../../packages/server/src/git/run-git.ts';
import { localFolder } from '../../../packages/server/src/scm/local/folders.ts';
import { pidOf, startDatabase, startServiceOn } from '../../harness/database.ts';
import type { Service } from '../../harness/service.ts';
import { summarize } from '../../harness/statistics.ts';
import type { Row, Setup } from './benchmark.ts';
import { cpuOfTree } from './cpu.ts';

const READY_MS = 60_000;
const POLLED_MS = 60_000;

export interface Opened {
  repositoryId: string;
  projectId: string;
  threadId: string;
  prId: string;
  headSha: string;
}

const post = async (service: Service, path: string, body: object) =>
  (await service.call('POST', path, body)).body;

/** A project with its own repository. */
export async function newProject(service: Service): Promise<Pick<Opened, 'repositoryId' | 'projectId'>> {
  const { repository } = await post(service, '/api/source-control/scm/repositories', {
    name: 'benchmark',
    files: [{ path: 'a.txt', content: 'a\n' }],
  });
  const { project } = await post(service, '/api/projects', {
    name: 'Benchmark',
    repositoryId: repository.id,
  });
  return { repositoryId: repository.id as string, projectId: project.id as string };
}

/** A thread with one edit, and its pull request; `body` is that of the POST that opens it. */
export async function openPull(
  service: Service,
  project: Pick<Opened, 'repositoryId' | 'projectId'>,
  body: object = {},
): Promise<Opened> {
  const { thread } = await post(service, '/api/threads', {
    projectId: project.projectId,
    title: 'Benchmark',
  });
  const threadId = thread.id as string;
  const now = async () => (await service.call('GET', `/api/threads/${threadId}`)).body.thread;
  for (const deadline = Date.now() + READY_MS; (await now()).initializationState !== 'completed';) {
    if (Date.now() > deadline) throw new Error('the thread was not ready in time');
    await sleep(50);
  }
  await post(service, `/api/threads/${threadId}/edits`, {
    expectedSourceId: (await now()).latestSourceId,
    changes: [{ path: 'b.txt', content: `${threadId}\n` }],
  });
  const { pullRequest } = await post(service, `/api/threads/${threadId}/pull-requests`, body);
  return {
    ...project,
    threadId,
    prId: pullRequest.id as string,
    headSha: pullRequest.headSha as string,
  };
}

interface Polled {
  count: number;
  env: Record<string, string>;
  /** The body of the POST that opens the original. */
  body?: object;
  /** An SQL condition for idle pull requests `p` with their loops `l`. */
  atRest: string;
}

/** Measures looks at `count` idle pull requests of one repository, and their CPU time. */
export async function pollMany(
  setup: Setup,
  { count, env, body, atRest }: Polled,
): Promise<{ rows: Row[]; looksPerSecond: number; cpuMs: number }> {
  const server = await startDatabase(setup.scratch);
  setup.atEnd(() => server.stop());
  const service = await startServiceOn(setup, server, env);
  const database = openDatabase({ connectionString: server.url }, { max: 1 });
  setup.atEnd(() => database.close());
  const { db } = database;
  await copyPullRequest(db, service, await openPull(service, await newProject(service), body), count);
  const cpu = () => [cpuOfTree(service.pid), cpuOfTree(pidOf(server))] as const;
  await allAtRest(db, atRest);
  const [jobs, [ours, postgres], from] = [await lastJob(db), cpu(), performance.now()];
  await sleep(setup.quick ? POLLED_MS / 4 : POLLED_MS);
  const [oursNow, postgresNow] = cpu();
  const looks = (await lastJob(db)) - jobs;
  const seconds = (performance.now() - from) / 1_000;
  setup.say(`${looks} looks at ${count} pull requests in ${seconds.toFixed(0)} s`);
  const [ofService, ofPostgres] = [(oursNow - ours) / looks, (postgresNow - postgres) / looks];
  return {
    rows: [
      { what: 'looks', unit: 'requests/s', figures: summarize([looks / seconds]) },
      { what: 'CPU of a look: service', unit: 'ms', figures: summarize([ofService]) },
      { what: 'CPU of a look: PostgreSQL', unit: 'ms', figures: summarize([ofPostgres]) },
    ],
    looksPerSecond: looks / seconds,
    cpuMs: ofService + ofPostgres,
  };
}

/** The number of jobs so far. While nothing else happens, each new job is a look. */
async function lastJob(db: Db): Promise<number> {
  const { rows } = await sql<{ last: number }>`select last_value as last from jobs_id_seq`.execute(db);
  return rows[0]!.last;
}

/** Copies a pull request in its repository. Each copy has its own thread, branch and, if the original has one, loop. */
async function copyPullRequest(db: Db, { dataDir }: Service, of: Opened, count: number): Promise<void> {
  const { head_sha: head, number: first } = await db
    .selectFrom('pull_requests')
    .select(['head_sha', 'number'])
    .where('id', '=', of.prId)
    .executeTakeFirstOrThrow();
  const input = Array.from({ length: count - 1 }, (_, i) => i + 2).map(
    (n) => `create refs/heads/copy-${n} ${head}\ncreate refs/pull/${n}/head ${head}\n`,
  );
  const folder = localFolder({ dataDir }, of.repositoryId);
  await runGit(folder, ['update-ref', '--stdin'], { input: input.join('') });
  await runGit(folder, ['pack-refs', '--all']);
  const copy = (table: string, key: string, changes: string) =>
    sql`insert into ${sql.table(table)} select (jsonb_populate_record(t, jsonb_build_object(${sql.raw(changes)}))).*
      from ${sql.table(table)} t, generate_series(2, ${count}::int) n where ${sql.raw(key)}`.execute(db);
  const id = (prefix: string) => `'${prefix}_0' || lpad(n::text, 25, '0')`;
  const branch = `'number', n, 'head_ref', 'copy-' || n`;
  const thread = `'thread_id', ${id('thr')}`;
  await copy('threads', `t.id = '${of.threadId}'`, `'id', ${id('thr')}`);
  await copy('local_pull_requests', `t.repository_id = '${of.repositoryId}' and t.number = ${first}`, branch);
  const times = `'looked_at', null, 'next_look_at', now() + random() * interval '1 minute'`;
  await copy('pull_requests', `t.id = '${of.prId}'`, `'id', ${id('pr')}, ${thread}, ${times}, ${branch}`);
  await copy(
    'review_loops',
    `t.pull_request_id = '${of.prId}'`,
    `'id', ${id('rvl')}, 'pull_request_id', ${id('pr')}, ${thread}`,
  );
}

async function allAtRest(db: Db, atRest: string): Promise<void> {
  for (const deadline = Date.now() + 5 * READY_MS; Date.now() < deadline; await sleep(500)) {
    const { rows } =
      await sql`select from pull_requests p left join review_loops l on l.pull_request_id = p.id
      where not (${sql.raw(atRest)}) limit 1`.execute(db);
    if (rows.length === 0) return;
  }
  throw new Error('not all were looked at in time');
}
