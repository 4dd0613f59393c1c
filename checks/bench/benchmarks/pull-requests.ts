/** From the end of a run to its commit on the pull request's branch, and what polls of many quiet ones cost. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '../../../packages/server/src/db/database.ts';
import { openDatabase } from '../../../packages/server/src/db/database.ts';
import { runGit } from '../../../packages/server/src/git/run-git.ts';
import { localFolder } from '../../../packages/server/src/scm/local/folders.ts';
import { sql } from 'kysely';
import { pidOf, startDatabase, startServiceOn } from '../../harness/database.ts';
import type { Service } from '../../harness/service.ts';
import { summarize } from '../../harness/statistics.ts';
import type { Benchmark, Row, Setup } from '../lib/benchmark.ts';
import { cpuOfTree } from '../lib/cpu.ts';

const READY_MS = 60_000;
/** Five times as seldom without a review loop: each one is looked at every 60 seconds. */
const POLL_SECONDS = 12;
const POLLED_MS = 60_000;

export const pullRequestsBenchmark: Benchmark = {
  name: 'pull-requests',
  title: 'Pushes of runs, and polls of pull requests',
  async run(setup) {
    const service = await setup.start();
    const opened = await openOne(service);
    const pushes = summarize(await pushTimes(service, opened, setup.quick ? 3 : 20));
    setup.say(`completed to pushed: ${pushes.median.toFixed(0)} ms`);
    await service.stop();
    const polls = await pollMany(setup, setup.quick ? 100 : 1_000);
    return {
      rows: [{ what: 'run completed to pushed', unit: 'ms', figures: pushes }, ...polls],
      aims: [
        { what: 'run completed to pushed', bound: 'most', limit: 500, value: pushes.median, unit: 'ms' },
      ],
      notes: [
        'CPU of a look is that of the service with its git processes, and of PostgreSQL, all else that they do meanwhile included.',
        "Counted from the run's finishedAt to the moment in which a caller that waits has read the new headSha, by the clock of one machine.",
      ],
    };
  },
};

interface Opened {
  repositoryId: string;
  threadId: string;
  prId: string;
}

async function openOne(service: Service): Promise<Opened> {
  const post = async (path: string, body: object) => (await service.call('POST', path, body)).body;
  const { repository } = await post('/api/source-control/scm/repositories', {
    name: 'benchmark',
    files: [{ path: 'a.txt', content: 'a\n' }],
  });
  const { project } = await post('/api/projects', { name: 'Benchmark', repositoryId: repository.id });
  const { thread } = await post('/api/threads', { projectId: project.id, title: 'Benchmark' });
  const threadId = thread.id as string;
  const now = async () => (await service.call('GET', `/api/threads/${threadId}`)).body.thread;
  for (const deadline = Date.now() + READY_MS; (await now()).initializationState !== 'completed';) {
    if (Date.now() > deadline) throw new Error('the thread was not ready in time');
    await sleep(50);
  }
  await post(`/api/threads/${threadId}/edits`, {
    expectedSourceId: (await now()).latestSourceId,
    changes: [{ path: 'b.txt', content: 'b\n' }],
  });
  const { pullRequest } = await post(`/api/threads/${threadId}/pull-requests`, {});
  return { repositoryId: repository.id as string, threadId, prId: pullRequest.id as string };
}

async function pushTimes(service: Service, { threadId, prId }: Opened, rounds: number): Promise<number[]> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const read = async (query = '') =>
      (await service.call('GET', `/api/threads/${threadId}/pull-requests/${prId}${query}`)).body.pullRequest;
    const { headSha } = await read();
    const { run } = (
      await service.call('POST', `/api/threads/${threadId}/messages`, {
        content: `\`\`\`file b.txt\n${round}\n\`\`\``,
      })
    ).body;
    let now = await read();
    while (now.headSha === headSha) now = await read(`?afterVersion=${now.version as number}&waitSeconds=30`);
    const seen = Date.now();
    const ended = (await service.call('GET', `/api/threads/${threadId}/runs/${run.id as string}`)).body.run;
    times.push(seen - Date.parse(ended.finishedAt));
  }
  return times;
}

async function pollMany(setup: Setup, count: number): Promise<Row[]> {
  const server = await startDatabase(setup.scratch);
  setup.atEnd(() => server.stop());
  const service = await startServiceOn(setup, server, { HEADRACE_SCM_POLL_SECONDS: String(POLL_SECONDS) });
  const database = openDatabase({ connectionString: server.url }, 1);
  setup.atEnd(() => database.close());
  const { db } = database;
  await copyPullRequest(db, service, await openOne(service), count);
  const cpu = () => [cpuOfTree(service.pid), cpuOfTree(pidOf(server))] as const;
  await allLookedAt(db);
  const [jobs, [ours, postgres], from] = [await lastJob(db), cpu(), performance.now()];
  await sleep(setup.quick ? POLLED_MS / 4 : POLLED_MS);
  const [oursNow, postgresNow] = cpu();
  const looks = (await lastJob(db)) - jobs;
  const seconds = (performance.now() - from) / 1_000;
  setup.say(`${looks} looks at ${count} pull requests in ${seconds.toFixed(0)} s`);
  return [
    { what: 'looks', unit: 'requests/s', figures: summarize([looks / seconds]) },
    { what: 'CPU of a look: service', unit: 'ms', figures: summarize([(oursNow - ours) / looks]) },
    { what: 'CPU of a look: PostgreSQL', unit: 'ms', figures: summarize([(postgresNow - postgres) / looks]) },
  ];
}

/** Jobs of a service at which nothing else happens: its looks. */
async function lastJob(db: Db): Promise<number> {
  const { rows } = await sql<{ last: number }>`select last_value as last from jobs_id_seq`.execute(db);
  return rows[0]!.last;
}

/** Copies of a pull request in its repository, each with a thread and a branch of its own. */
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
  await copy('threads', `t.id = '${of.threadId}'`, `'id', ${id('thr')}`);
  await copy('local_pull_requests', `t.repository_id = '${of.repositoryId}' and t.number = ${first}`, branch);
  const times = `'looked_at', null, 'next_look_at', now() + random() * interval '1 minute'`;
  await copy(
    'pull_requests',
    `t.id = '${of.prId}'`,
    `'id', ${id('pr')}, 'thread_id', ${id('thr')}, ${times}, ${branch}`,
  );
}

async function allLookedAt(db: Db): Promise<void> {
  for (const deadline = Date.now() + 5 * READY_MS; Date.now() < deadline; await sleep(500)) {
    const { rows } = await sql`select from pull_requests where looked_at is null limit 1`.execute(db);
    if (rows.length === 0) return;
  }
  throw new Error('not all were looked at in time');
}
