/** A service, a host of its owner that dials it over a line, and the folders of that host. */
import { execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { endOf, OWNER } from '../../harness/service.ts';
import type { Service } from '../../harness/service.ts';
import type { Setup } from '../lib/part.ts';
import { openLine } from './line.ts';
import type { Line } from './line.ts';

const CLI = join(import.meta.dirname, '../../../packages/cli/src/main.ts');
const STEP_MS = 120_000;
export const FILES = 60;

export interface World {
  service: Service;
  line: Line;
  /** Of the repository, on the host. */
  folder: string;
  project: string;
  /** Polls until `look` gives something. */
  until<T>(look: () => Promise<T | undefined | false>, what: string): Promise<T>;
  newThread(): Promise<string>;
  killHost(): Promise<void>;
  killService(): Promise<void>;
}

export async function makeWorld(setup: Setup): Promise<World> {
  const service = await setup.start();
  const folder = join(setup.scratch, 'site');
  makeRepository(folder);
  const { host, token } = await newHost(service);
  const line = await openLine(service.base);
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
        stdio: 'ignore',
        env: { ...process.env, HOME: setup.scratch, XDG_STATE_HOME: join(setup.scratch, 'state') },
      },
    );
  let program = start();
  setup.atEnd(async () => {
    program.kill('SIGTERM');
    await endOf(program);
  });
  const until: World['until'] = async (look, what) => {
    for (const deadline = Date.now() + STEP_MS; ; await sleep(50)) {
      const found = await look();
      if (found) return found;
      if (Date.now() > deadline || setup.signal.aborted) throw new Error(`${what} did not happen`);
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
    async killHost() {
      program.kill('SIGKILL');
      await endOf(program);
      program = start();
      await isOnline();
    },
    async killService() {
      const { dataDir, key } = world.service;
      await world.service.kill9();
      world.service = await setup.start({ dataDir, key });
      line.leadTo(world.service.base);
      await isOnline();
    },
  };
  const isOnline = (): Promise<unknown> =>
    until(async () => {
      const { body } = await world.service.call('GET', `/api/hosts/${host}`);
      const { bindings } = (await world.service.call('GET', `/api/hosts/${host}/bindings`)).body;
      return body.host.status === 'online' && bindings.length > 0;
    }, 'a host that is online');
  await isOnline();
  return world;
}

function makeRepository(folder: string): void {
  mkdirSync(join(folder, 'many'), { recursive: true });
  writeFileSync(join(folder, 'README.md'), '# Site\n');
  for (let i = 0; i < FILES; i++) writeFileSync(join(folder, `many/${i}.txt`), '0\n');
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, stdio: 'ignore' });
  git('init', '--quiet', '--initial-branch=main');
  git('add', '--all');
  git('-c', 'user.name=T', '-c', 'user.email=t@example.com', 'commit', '--quiet', '--message', 'Begin');
}

async function newHost(service: Service): Promise<{ host: string; token: string }> {
  const signedIn = await fetch(`${service.base}/api/auth/sign-in/email`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: service.base },
    body: JSON.stringify({ email: OWNER.email, password: OWNER.password }),
  });
  const cookie = signedIn.headers
    .getSetCookie()
    .map((text) => text.split(';')[0])
    .join('; ');
  const answer = await fetch(`${service.base}/api/hosts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: service.base, cookie, 'idempotency-key': 'host' },
    body: JSON.stringify({ name: 'Torture' }),
  });
  const { host, token } = (await answer.json()) as { host: { id: string }; token: string };
  return { host: host.id, token };
}

async function newProject(service: Service): Promise<string> {
  const { body } = await service.call('POST', '/api/projects', { name: 'Torture' });
  return body.project.id as string;
}
