/** A service of several processes, a host of its owner that dials it over a line, and the folders of that host. */
import { execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Caller } from '../../harness/http.ts';
import { endOf, lastOf, OWNER } from '../../harness/service.ts';
import { startFleet } from '../lib/fleet.ts';
import { openTable } from '../lib/log-table.ts';
import type { Setup } from '../lib/part.ts';
import { takeOverSilent } from '../lib/takeover.ts';
import { openLine } from './line.ts';
import type { Line } from './line.ts';

const CLI = join(import.meta.dirname, '../../../packages/cli/src/main.ts');
const STOP = join(import.meta.dirname, 'stop-at-patch.ts');
const STEP_MS = 120_000,
  TAKEN_OVER_MS = 20_000;
export const FILES = 60;

export interface World {
  service: Caller;
  line: Line;
  /** Of the repository, on the host. */
  folder: string;
  project: string;
  /** Polls until `look` gives something. */
  until<T>(look: () => Promise<T | undefined | false>, what: string): Promise<T>;
  newThread(): Promise<string>;
  /** The number of the host's connection. */
  epoch(): Promise<number>;
  isOnline(): Promise<boolean>;
  /** All of them at the same moment: with -9, and they are started again. */
  kill(what: { host?: boolean; service?: boolean }): Promise<void>;
  /** The next worker that is about to write files into a worktree is stopped, and its work taken over. Resolves then. */
  stopAtPatch(): Promise<{ goOn(): Promise<void> }>;
  /** Processes that ended by themselves. */
  deaths: string[];
}

export async function makeWorld(setup: Setup): Promise<World> {
  const stopFile = join(setup.scratch, 'stop');
  const fleet = await startFleet(setup, {
    apis: 1,
    workers: 2,
    env: { TORTURE_STOP_FILE: stopFile },
    nodeArgs: ['--import', STOP],
  });
  const table = await openTable(setup, fleet.database.url);
  const [service, base] = [fleet.callers[0]!, fleet.bases[0]!];
  const folder = join(setup.scratch, 'site');
  makeRepository(folder);
  const { host, token } = await newHost(base);
  const line = await openLine(base);
  setup.atEnd(() => line.close());
  const tokenFile = join(setup.scratch, 'token');
  writeFileSync(tokenFile, token, { mode: 0o600 });
  const project = await newProject(service);
  const start = (): ChildProcess =>
    spawn(
      process.execPath,
      [
        CLI,
        'host',
        '--yes',
        `--url=${line.base}`,
        `--token-file=${tokenFile}`,
        '--share=organization',
        `--bind=site=${folder}`,
        '--agent=agent_a=scripted',
      ],
      {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { ...process.env, HOME: setup.scratch, XDG_STATE_HOME: join(setup.scratch, 'state') },
      },
    );
  let program = start(),
    said = lastOf(program);
  setup.atEnd(async () => {
    program.kill('SIGTERM');
    await endOf(program);
  });
  const until: World['until'] = async (look, what) => {
    for (const deadline = Date.now() + STEP_MS; ; await sleep(50)) {
      const found = await look();
      if (found) return found;
      if (Date.now() > deadline || setup.signal.aborted)
        throw new Error(`${what} did not happen; the host ${exitOf(program)}: ${said()}`);
    }
  };
  const world: World = {
    service,
    line,
    folder,
    project,
    until,
    async newThread() {
      const { bindings } = (await world.service.call('GET', `/api/hosts/${host}/bindings`)).body;
      const executionTarget = {
        kind: 'local',
        hostId: host,
        bindingId: bindings[0].id as string,
        provider: 'agent_a',
        workspaceMode: 'worktree',
      };
      const { body } = await world.service.call('POST', '/api/threads', {
        projectId: project,
        executionTarget,
      });
      const path = `/api/threads/${body.thread.id as string}`;
      await until(async () => {
        const { thread } = (await world.service.call('GET', path)).body;
        if (thread.initializationState === 'failed') throw new Error('A thread was not prepared.');
        return thread.initializationState === 'completed';
      }, 'the preparation of a thread');
      return path;
    },
    async epoch() {
      const { rows } = await table.query<{ epoch: number }>(
        'select epoch::int as epoch from hosts where id = $1',
        [host],
      );
      return rows[0]!.epoch;
    },
    async isOnline() {
      const { body } = await service.call('GET', `/api/hosts/${host}`);
      return body.host.status === 'online';
    },
    async kill({ host: isHost = false, service: isService = false }) {
      const before = await world.epoch();
      if (isHost) program.kill('SIGKILL');
      await Promise.all([
        ...(isHost ? [endOf(program)] : []),
        ...(isService ? fleet.members.map((member) => member.kill9()) : []),
      ]);
      if (isHost) {
        program = start();
        said = lastOf(program);
      }
      await fleet.allUp();
      await connected(before);
    },
    async stopAtPatch() {
      for (const end of ['.taken', '.pid', '.end']) rmSync(`${stopFile}${end}`, { force: true });
      writeFileSync(stopFile, '');
      const pid = Number(
        await until(
          async () => existsSync(`${stopFile}.pid`) && readFileSync(`${stopFile}.pid`, 'utf8'),
          'the stop of a worker',
        ),
      );
      const goOn = () => process.kill(pid, 'SIGCONT');
      const isTakenOver = await takeOverSilent(table, { limitMs: TAKEN_OVER_MS, signal: setup.signal }).catch(
        () => false,
      );
      if (!isTakenOver) {
        goOn();
        throw new Error('the work of a worker that was stopped was not taken over');
      }
      return {
        async goOn() {
          goOn();
          const end = await until(
            async () => existsSync(`${stopFile}.end`) && readFileSync(`${stopFile}.end`, 'utf8'),
            'the answer to a worker that was stopped',
          );
          // Else it has tried nothing.
          if (!/^\d+$/.test(end)) throw new Error(`a worker that was stopped did not reach the host: ${end}`);
        },
      };
    },
    deaths: fleet.deaths,
  };
  /** Online, over another connection than that. */
  const connected = async (before: number): Promise<void> => {
    await until(
      async () => (await world.epoch()) > before && (await world.isOnline()),
      'a host that is online',
    );
  };
  await connected(0);
  return world;
}

const exitOf = ({ exitCode, signalCode }: ChildProcess): string =>
  exitCode === null && signalCode === null ? 'lives' : `has ended with ${exitCode ?? signalCode}`;

function makeRepository(folder: string): void {
  mkdirSync(join(folder, 'many'), { recursive: true });
  writeFileSync(join(folder, 'README.md'), '# Site\n');
  for (let i = 0; i < FILES; i++) writeFileSync(join(folder, `many/${i}.txt`), '0\n');
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, stdio: 'ignore' });
  git('init', '--quiet', '--initial-branch=main');
  git('add', '--all');
  git('-c', 'user.name=T', '-c', 'user.email=t@example.com', 'commit', '--quiet', '--message', 'Begin');
}

async function newHost(base: string): Promise<{ host: string; token: string }> {
  const signedIn = await fetch(`${base}/api/auth/sign-in/email`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: base },
    body: JSON.stringify({ email: OWNER.email, password: OWNER.password }),
  });
  const cookie = signedIn.headers
    .getSetCookie()
    .map((text) => text.split(';')[0])
    .join('; ');
  const answer = await fetch(`${base}/api/hosts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: base, cookie, 'idempotency-key': 'host' },
    body: JSON.stringify({ name: 'Torture' }),
  });
  const { host, token } = (await answer.json()) as { host: { id: string }; token: string };
  return { host: host.id, token };
}

async function newProject(service: Caller): Promise<string> {
  const { body } = await service.call('POST', '/api/projects', { name: 'Torture' });
  return body.project.id as string;
}
