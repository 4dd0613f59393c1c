/**
 * A person's own machine as the place of work: `headrace host` dials the service, and a thread works in a worktree of the repository
 * there. Where bubblewrap can, that machine has a network of its own, which reaches the service only through a socket.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import type { Server } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '@headrace/client';
import type { Client } from '@headrace/client';
import { must, RUN_LIMIT_MS } from './examples.ts';
import { git } from './repository.ts';
import type { Story } from './repository.ts';
import { DEMO_OWNER } from './service.ts';

const MACHINE = join(import.meta.dirname, 'machine.ts');
const START_LIMIT_MS = 60_000;
/** Its own network, and its own processes, so that none outlives it. */
const ALONE = '--bind / / --dev /dev --proc /proc --unshare-net --unshare-pid --die-with-parent'.split(' ');
const PATH = 'overdue-list.md';

/** `clone`: a repository of the machine. */
export async function demoOwnMachine(story: Story, repositoryId: string, clone: string): Promise<void> {
  const { client, output } = story;
  const owner = await signIn(story);
  if (!owner) {
    output.detail(
      'machine',
      'left out: the data is of a demo whose owner has another password; --fresh begins anew',
    );
    return;
  }
  const { host, token } = await owner.hosts.create({ name: 'Laptop' });
  const isAlone = spawnSync('bwrap', [...ALONE, 'true']).status === 0;
  const machine = await startMachine(story, { clone, token: token!, isAlone });
  try {
    await output.step('machine', async () => {
      await until(async () => (await client.hosts.get(host.id)).status === 'online', machine.said);
      return `host "${host.name}" online${isAlone ? ', on a network of its own' : ''}`;
    });
    await output.step('worktree', async () => {
      const [binding] = (await client.hosts.bindings(host.id)).items;
      const project = await client.projects.create({ name: 'Workshop, on a laptop', repositoryId });
      const { thread } = await client.threads.createDirect({
        projectId: project.id,
        title: 'Overdue list',
        executionTarget: {
          kind: 'local',
          hostId: host.id,
          bindingId: binding!.id,
          provider: 'agent_a',
          workspaceMode: 'worktree',
        },
      });
      const content = `\`\`\`sh\nprintf '# Overdue\\n' > ${PATH}\ngit add ${PATH}\nhostname\n\`\`\``;
      const ended = await client
        .thread(thread.id)
        .messages.send({ content })
        .done({ timeoutMs: RUN_LIMIT_MS });
      must(
        ended.status === 'completed',
        `the run completes (${ended.status}: ${ended.error?.message ?? ''})`,
      );
      const branch = `headrace/${thread.id.slice(-6)}`;
      const list = await git(story, clone, 'worktree', 'list', '--porcelain');
      const part = list.split('\n\n').find((one) => one.includes(`branch refs/heads/${branch}`));
      const tree = /^worktree (.*)$/m.exec(part ?? '')?.[1];
      must(tree !== undefined, `the repository has a worktree on ${branch}`);
      must(
        (await readFile(join(tree!, PATH), 'utf8')) === '# Overdue\n',
        'the worktree has what the run wrote',
      );
      must(!existsSync(join(clone, PATH)), 'the folder itself is as it was');
      return `a run on ${branch}, beside the folder, which is as it was`;
    });
  } finally {
    await machine.stop();
    await owner.hosts.delete(host.id);
  }
}

/** The owner's session; undefined where the data has another owner. */
async function signIn({ address }: Story): Promise<Client | undefined> {
  const headers = { origin: address };
  const answer = await createClient({ baseUrl: address, session: true, headers })
    .session.signIn(DEMO_OWNER)
    .asResponse()
    .catch(() => undefined);
  if (!answer) return undefined;
  await answer.body?.cancel();
  const cookie = answer.headers.getSetCookie().map((one) => one.split(';')[0]!);
  return createClient({
    baseUrl: address,
    session: true,
    headers: { ...headers, cookie: cookie.join('; ') },
  });
}

interface Machine {
  said(): string;
  stop(): Promise<void>;
}

/** Another machine: a process that reaches nothing of this one's network but the socket. */
async function startMachine(
  { address, folder }: Story,
  { clone, token, isAlone }: { clone: string; token: string; isAlone: boolean },
): Promise<Machine> {
  const home = join(folder, 'laptop');
  await mkdir(home, { recursive: true });
  const tokenFile = join(home, 'token');
  await writeFile(tokenFile, token, { mode: 0o600 });
  const socket = join(home, 'service.sock');
  await rm(socket, { force: true });
  const relay = await relayTo(new URL(address), socket);
  const command = [process.execPath, MACHINE, socket, tokenFile, clone];
  const [program, ...args] = isAlone ? ['bwrap', ...ALONE, '--', ...command] : command;
  const child = spawn(program!, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, HOME: home, XDG_STATE_HOME: join(home, 'state') },
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (part: Buffer) => {
      said = (said + part.toString()).slice(-2000);
    });
  const ended = new Promise<void>((resolve) => {
    child.once('error', () => resolve()).once('exit', () => resolve());
  });
  return {
    said: () => said,
    async stop() {
      child.kill('SIGTERM');
      await ended;
      relay.close();
    },
  };
}

async function relayTo({ hostname, port }: URL, socket: string): Promise<Server> {
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    near.on('error', () => far.destroy()).pipe(far);
    far.on('error', () => near.destroy()).pipe(near);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(socket, resolve);
  });
  return server;
}

async function until(look: () => Promise<boolean>, said: () => string): Promise<void> {
  for (const deadline = Date.now() + START_LIMIT_MS; !(await look()); await sleep(100))
    if (Date.now() > deadline) throw new Error(`The machine did not come online: ${said()}`);
}
