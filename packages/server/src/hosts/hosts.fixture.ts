/** For tests: a host of a test server, with its program in this process. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { agentOf, folderOf, runHost } from '@headrace/runner/host';
import { expectStatus, signedIn } from '../accounts/callers.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { ok, until } from '../threads/threads.fixture.ts';

export interface TestHost {
  id: string;
  token: string;
  folder: string;
  bindingId: string;
  state: string;
  cookie: string;
  target(fields?: Record<string, unknown>): Record<string, unknown>;
  is(status: 'online' | 'offline'): Promise<void>;
  /** What `runHost` returns. */
  ended: Promise<string | undefined>;
  stop(): Promise<string | undefined>;
  remove(): void;
}

interface Options {
  /** Its folder is a repository with one commit. */
  isGit?: boolean;
  /** A repository that its folder is a clone of. */
  clone?: string;
  /** Where it dials; the server's own address by default. */
  url?: string;
  share?: 'owner' | 'organization';
  files?: Record<string, string>;
}

/** Its program, once the host is online with the folder `notes`. */
export async function startTestHost(
  s: TestServer,
  {
    url = s.base,
    clone,
    isGit = false,
    share = 'organization',
    files = { 'README.md': '# Notes\n' },
  }: Options = {},
): Promise<TestHost> {
  const cookie = await signedIn(s);
  const place = mkdtempSync(join(tmpdir(), 'headrace-host-'));
  const [folder, state] = [join(place, 'notes'), join(place, 'state')];
  if (clone !== undefined) execFileSync('git', ['clone', '--quiet', clone, folder]);
  else mkdirSync(folder);
  for (const [path, content] of Object.entries(clone === undefined ? files : {}))
    writeFileSync(join(folder, path), content);
  if (isGit)
    for (const args of [
      ['init', '--quiet'],
      ['add', '--all'],
      ['commit', '--quiet', '--message', 'Begin'],
    ])
      execFileSync('git', ['-c', 'user.name=Kim', '-c', 'user.email=kim@example.com', ...args], {
        cwd: folder,
      });
  const made = await s.call('POST', '/api/hosts', { name: 'Laptop' }, { cookie });
  const { host, token } = expectStatus(made, 201).body;
  const program = startProgram(s, { url, token, folder, state, share });
  const at = `/api/hosts/${host.id as string}`;
  const is = async (status: 'online' | 'offline') => {
    await until(`the host to be ${status}`, async () => (await ok(s.call('GET', at))).host.status === status);
  };
  await is('online');
  const { bindings } = await ok(s.call('GET', `${at}/bindings`));
  return {
    id: host.id,
    token,
    folder,
    state,
    cookie,
    bindingId: bindings[0].id,
    target: (fields = {}) => ({
      kind: 'local',
      hostId: host.id,
      bindingId: bindings[0].id,
      provider: 'agent_a',
      workspaceMode: 'direct',
      ...fields,
    }),
    is,
    ...program,
    remove: () => rmSync(place, { recursive: true, force: true }),
  };
}

/** The program alone, for a host that is there. */
export function startProgram(
  s: TestServer,
  {
    token,
    folder,
    state,
    share = 'organization',
    url = s.base,
  }: { token: string; folder: string; state: string } & Options,
) {
  const end = new AbortController();
  const ended = runHost({
    url,
    token,
    version: '1.2.3',
    share,
    folders: [folderOf(`notes=${folder}`, '/')],
    agents: [agentOf('agent_a=scripted')],
    env: { ...process.env, XDG_STATE_HOME: state },
    signal: end.signal,
    onOnline: () => {},
    onAway: () => {},
  });
  return {
    ended,
    stop() {
      end.abort();
      return ended;
    },
  };
}

/** A line to the server that can be cut, and mended. */
export async function startLine(s: TestServer) {
  const { port, hostname } = new URL(s.base);
  const open = new Set<Socket>();
  let isCut = false;
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from);
      from.on('error', () => from.destroy());
      from.on('close', () => to.destroy());
      from.pipe(to);
    }
    if (isCut) near.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = () => {
    isCut = true;
    for (const socket of open) socket.destroy();
    open.clear();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    mend() {
      isCut = false;
    },
    close() {
      cut();
      server.close();
    },
  };
}
