/**
 * Repositories of both providers, each with threads: the built-in one's and those of a stand-in for GitHub,
 * which fails one call in ten.
 */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { startGithubStandIn } from '../../../packages/server/src/scm/github/stand-in.fixture.ts';
import type { GithubStandIn, Trouble } from '../../../packages/server/src/scm/github/stand-in.fixture.ts';
import { deliver } from '../lib/delivery.ts';
import type { Delivered, Weather } from '../lib/delivery.ts';
import type { Fleet } from '../lib/fleet.ts';
import type { Setup } from '../lib/part.ts';

export const SCM = '/api/source-control/scm';
const READY_LIMIT_MS = 120_000;
const TROUBLES: Trouble[] = ['502', 'cut', '502 after', 'cut after'];
const FAILING = 0.1;
const FAILING_OFTEN = 0.25;

export interface TortureRepository {
  id: string;
  /** The bare repository on this machine, where nothing is hidden. */
  dir: string;
  /** Where others push to it, with what git has to send. */
  cloneUrl: string;
  env: Record<string, string>;
}

export interface TortureThread {
  id: string;
  projectId: string;
  repository: TortureRepository;
}

export interface World {
  setup: Setup;
  fleet: Fleet;
  weather: Weather;
  standIn: GithubStandIn;
  threads: TortureThread[];
  failures: string[];
}

/** Before the service starts: what its configuration names. */
export async function startStandIn(
  setup: Setup,
): Promise<{ standIn: GithubStandIn; env: Record<string, string> }> {
  const standIn = await startGithubStandIn();
  setup.atEnd(() => standIn.close());
  const file = join(setup.scratch, 'config.json');
  const installation = {
    name: 'Stand-in',
    provider: 'github',
    baseUrl: standIn.baseUrl,
    token: { env: 'TOKEN' },
  };
  writeFileSync(file, JSON.stringify({ scm: { installations: [installation] } }));
  const env = {
    TOKEN: standIn.token,
    HEADRACE_CONFIG_FILE: file,
    HEADRACE_SCM_ALLOW_PRIVATE: '1',
    HEADRACE_SCM_POLL_SECONDS: '1',
  };
  return { standIn, env };
}

/** From now on one call in ten fails, before or after its effect; of those to `oftenAt`, one in four. */
export function beginTrouble({ setup, standIn }: World, oftenAt?: string): void {
  const random = setup.random.fork('trouble');
  standIn.trouble = ({ path }) =>
    random.next() < (path === oftenAt ? FAILING_OFTEN : FAILING) ? random.pick(TROUBLES) : undefined;
}

export async function makeThreads(world: World, count: number): Promise<void> {
  const { fleet, standIn } = world;
  const files = Object.fromEntries(
    Array.from({ length: 20 }, (_, i) => [`src/file-${i}.txt`, `line ${i}\n`]),
  );
  const repositories: TortureRepository[] = [];
  for (const name of ['one', 'two']) {
    const body = { name, files: Object.entries(files).map(([path, content]) => ({ path, content })) };
    const { repository } = (await fleet.callers[0]!.call('POST', `${SCM}/repositories`, body)).body;
    repositories.push({
      id: repository.id,
      dir: join(fleet.dataDir, 'repositories', `${repository.id}.git`),
      cloneUrl: repository.cloneUrl,
      env: credential(`Authorization: Bearer ${fleet.key}`),
    });
    const made = await standIn.makeRepository({ name, files });
    repositories.push({
      id: await syncedId(world, made.fullName),
      dir: made.dir,
      cloneUrl: made.dir,
      env: {},
    });
  }
  for (const { dir } of repositories) await git(dir, 'config', 'core.logAllRefUpdates', 'always');
  for (let i = 0; i < count; i++)
    world.threads.push(await makeThread(world, repositories[i % repositories.length]!));
}

const credential = (header: string) => ({
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: 'http.extraHeader',
  GIT_CONFIG_VALUE_0: header,
});

/** The repository's id, once a sync has seen it. */
async function syncedId({ fleet, setup }: World, fullName: string): Promise<string> {
  const caller = fleet.callers[0]!;
  const { installations } = (await caller.call('GET', `${SCM}/installations`)).body;
  const { id } = installations.find((one: { provider: string }) => one.provider !== 'local');
  await caller.call('POST', `${SCM}/installations/${id}/sync`, {});
  for (
    const deadline = Date.now() + READY_LIMIT_MS;
    Date.now() < deadline;
    await sleep(100, undefined, { signal: setup.signal })
  ) {
    const { repositories } = (await caller.call('GET', `${SCM}/repositories?installationId=${id}`)).body;
    const found = repositories.find((one: { fullName: string }) => one.fullName === fullName);
    if (found) return found.id;
  }
  throw new Error(`${fullName} was not seen by a sync.`);
}

async function makeThread({ fleet, setup }: World, repository: TortureRepository): Promise<TortureThread> {
  const caller = fleet.callers[0]!;
  const { project } = (
    await caller.call('POST', '/api/projects', { name: 'Torture', repositoryId: repository.id })
  ).body;
  const { thread } = (await caller.call('POST', '/api/threads', { projectId: project.id })).body;
  for (
    const deadline = Date.now() + READY_LIMIT_MS;
    Date.now() < deadline;
    await sleep(50, undefined, { signal: setup.signal })
  ) {
    const now = (await caller.call('GET', `/api/threads/${thread.id}`)).body.thread;
    if (now.initializationState === 'completed') return { id: thread.id, projectId: project.id, repository };
    if (now.initializationState === 'failed')
      throw new Error(`${thread.id}: ${now.initializationErrorMessage}`);
  }
  throw new Error(`${thread.id} was not ready in time.`);
}

/** A write until it is answered. */
export const write = (
  { fleet, weather, setup }: World,
  { method, path, body, key }: { method: string; path: string; body: object; key: string },
): Promise<Delivered> =>
  deliver(
    fleet.callers,
    { method, path, body, key },
    { random: setup.random.fork(key), weather, signal: setup.signal },
  );

const READ_LIMIT_MS = 60_000;

/** A read, from whichever api answers. */
// oxlint-disable-next-line typescript/no-explicit-any -- checks reach into answers by name; a wrong one fails them
export async function read({ fleet, setup }: World, path: string): Promise<any> {
  for (const deadline = Date.now() + READ_LIMIT_MS; ; await sleep(50, undefined, { signal: setup.signal })) {
    for (const caller of fleet.callers) {
      const answer = await caller.send('GET', path, { signal: setup.signal }).catch(() => null);
      if (answer?.status === 200) return JSON.parse(answer.text);
      if (answer && answer.status < 500)
        throw new Error(`GET ${path}: ${answer.status} ${answer.text.slice(0, 300)}`);
    }
    if (Date.now() > deadline) throw new Error(`GET ${path}: no answer within ${READ_LIMIT_MS / 1000} s`);
  }
}

const run = promisify(execFile);

/** git as a person runs it, in a folder; throws what it says. */
export async function git(cwd: string, ...args: string[]): Promise<string> {
  return gitWith(cwd, {}, ...args);
}

export async function gitWith(cwd: string, env: Record<string, string>, ...args: string[]): Promise<string> {
  const { stdout } = await run('git', args, {
    cwd,
    maxBuffer: 64 * 1024 * 1024,
    timeout: 60_000,
    env: { ...PERSON, PATH: process.env.PATH, ...env },
  });
  return stdout.trim();
}

const PERSON = {
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
  GIT_AUTHOR_NAME: 'Another',
  GIT_AUTHOR_EMAIL: 'another@example.test',
  GIT_COMMITTER_NAME: 'Another',
  GIT_COMMITTER_EMAIL: 'another@example.test',
};
