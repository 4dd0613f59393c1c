import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scratch } from '../runner.fixture.ts';
import { tarOf } from '../tar.ts';
import type { Line } from './fake-service.fixture.ts';
import { startHost, turnOf, worktree, type TestHost } from './host.fixture.ts';

/** What a service may try that was taken over: no attempt may read, write or run anything beyond the bound folder. */
const top = scratch();
const SECRET = 'secret-of-another-folder';
let host: TestHost;
let line: Line;
let outside: string, tree: string;
/** All that the service ever got. */
let got = '';
let attempts = 0;

beforeAll(async () => {
  const folder = join(top, 'site');
  outside = join(top, 'outside');
  for (const path of [join(folder, 'sub'), outside]) mkdirSync(path, { recursive: true });
  writeFileSync(join(outside, 'secret.txt'), SECRET);
  writeFileSync(join(folder, 'README.md'), '# Site\n');
  writeFileSync(join(folder, 'sub/secret.txt'), 'plain\n');
  symlinkSync(outside, join(folder, 'out'));
  symlinkSync(join(outside, 'secret.txt'), join(folder, 'file-out'));
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder });
  git('init', '--quiet', '--initial-branch=main');
  git('add', '--all');
  git('-c', 'user.name=T', '-c', 'user.email=t@example.com', 'commit', '--quiet', '--message', 'Begin');
  host = await startHost({ folder, state: join(top, 'state') });
  line = host.line;
  await line.put('/workspaces/thr_direct', { binding: 'site', mode: 'direct', branch: 'headrace/d' });
  await line.put('/workspaces/thr_tree', { binding: 'site', mode: 'worktree', branch: 'headrace/t' });
  tree = worktree(host.git, 'headrace/t')!;
  await line.post('/workspaces/thr_direct/capture', { basePaths: [] });
});
afterAll(() => host.stop());

/** What must hold whatever was tried. */
function expectUnharmed(): void {
  expect(readdirSync(outside)).toEqual(['secret.txt']);
  expect(readFileSync(join(outside, 'secret.txt'), 'utf8')).toBe(SECRET);
  expect(got).not.toContain(SECRET);
  expect(got).not.toContain(host.folder);
  expect(existsSync(join(top, 'pwned'))).toBe(false);
}

async function attempt(path: string, how: Parameters<Line['ask']>[1] = {}): Promise<number> {
  attempts++;
  const { status, body } = await line.ask(path, how);
  got += body.toString('latin1');
  return status;
}

const patchOf = (header: object, files: { path: string; content: string; target?: string }[] = []): Buffer =>
  tarOf([{ path: '.headrace-patch.json', content: JSON.stringify(header) }, ...files]);

describe('refused', () => {
  test.each([
    ['GET', '/'],
    ['GET', '/metrics'],
    ['GET', '/workspaces'],
    ['GET', '/tasks'],
    ['GET', '/sources?group=x'],
    ['GET', '/groups'],
    ['DELETE', '/groups/x'],
    ['PUT', '/histories/x?group=y'],
    ['PUT', '/contexts/x?group=y'],
    ['PUT', '/gateways/x'],
    ['PUT', '/tasks/run_x/source'],
    ['GET', '/tasks/run_x/output'],
    ['GET', '/tasks/run_x/connect'],
    ['POST', '/tasks/run_x/pause'],
    ['POST', '/status'],
    ['PATCH', '/workspaces/thr_tree'],
    ['OPTIONS', '*'],
    ['TRACE', '/status'],
    ['GET', '/status/x'],
    ['GET', '/__proto__'],
    ['GET', '/workspaces/..'],
    ['GET', '/workspaces/%2e%2e'],
    ['GET', '/workspaces/a%2fb'],
    ['GET', '/workspaces/a%00b'],
    ['GET', `/workspaces/${'x'.repeat(200)}`],
    ['DELETE', '/workspaces/../../outside'],
    ['DELETE', '/workspaces/'],
    ['GET', '/tasks/../lock'],
    ['GET', '/tasks/..%2f..%2foutside%2fsecret/journal'],
    ['GET', '//etc/passwd'],
  ])('%s %s', async (method, path) => {
    expect(await attempt(path, { method })).toBe(404);
    expectUnharmed();
  });

  test.each<[string, object]>([
    ['a folder by its path', { binding: '/etc' }],
    ['a folder beside the bound one', { binding: '../outside' }],
    ['a folder that is a member of all objects', { binding: 'constructor' }],
    ['a mode that there is not', { mode: 'copy' }],
    ['a branch outside of its names', { branch: 'main' }],
    ['a branch with dots', { branch: 'headrace/../main' }],
    ['a branch that is an option', { branch: '--force' }],
  ])('a workspace in %s', async (_, change) => {
    const body = { binding: 'site', mode: 'worktree', branch: 'headrace/w', ...change };
    expect(await attempt('/workspaces/thr_new', { method: 'PUT', body })).toBeGreaterThanOrEqual(400);
    expectUnharmed();
  });

  test('a workspace that is to become another one', async () => {
    const body = { binding: 'site', mode: 'direct', branch: 'headrace/t' };
    expect(await attempt('/workspaces/thr_tree', { method: 'PUT', body })).toBe(409);
  });

  test.each<[string, object]>([
    ['an agent that there is not', { provider: 'agent_b' }],
    ['an agent that is a member of all objects', { provider: 'constructor' }],
    ['another binding than its workspace has', { binding: 'other' }],
    ['another mode than its workspace has', { mode: 'worktree' }],
    ['a workspace that there is not', { workspaceId: '../thr_direct' }],
    ['a kind of another runner', { kind: 'exec', command: `touch ${join(top, 'pwned')}` }],
    ['a model with a line end', { model: 'x\nLD_PRELOAD=/tmp/x.so' }],
    ['a model with a NUL', { model: 'x\0y' }],
    ['no end', { timeoutMs: 1e12 }],
  ])('a turn with %s', async (_, change) => {
    const body = turnOf({ workspaceId: 'thr_direct', ...change });
    expect(await attempt('/tasks/run_refused', { method: 'POST', body })).toBeGreaterThanOrEqual(400);
    expectUnharmed();
  });

  test.each<[string, Buffer]>([
    ['above its folder', patchOf({ delete: [] }, [{ path: '../../../../outside/x', content: 'x' }])],
    ['at an absolute path', patchOf({ delete: [] }, [{ path: '/tmp/x', content: 'x' }])],
    ["in git's folder", patchOf({ delete: [] }, [{ path: '.git', content: 'gitdir: /tmp' }])],
    [
      'over reserved names in another case',
      patchOf({ delete: [] }, [{ path: 'a/.GIT/hooks/x', content: 'x' }]),
    ],
    ['by deleting above its folder', patchOf({ delete: ['../../../../outside/secret.txt'] })],
    ['by deleting the folder', patchOf({ delete: ['.'] })],
    ['by deleting bytes above its folder', patchOf({ delete: [], deleteBytes: ['../x'] })],
    ['with a list that is none', patchOf({ delete: 'all' })],
    ['without a header', tarOf([{ path: 'x', content: 'x' }])],
    ['that is no tar', Buffer.alloc(4096, 'x')],
  ])('a patch %s', async (_, raw) => {
    expect(await attempt('/workspaces/thr_tree/patch', { method: 'POST', raw })).toBe(400);
    expectUnharmed();
    expect(readdirSync(tree).sort()).toEqual(['.git', 'README.md', 'file-out', 'out', 'sub']);
  });

  test('a patch of a bound folder', async () => {
    const raw = patchOf({ delete: ['README.md'] });
    expect(await attempt('/workspaces/thr_direct/patch', { method: 'POST', raw })).toBe(409);
    expect(existsSync(join(host.folder, 'README.md'))).toBe(true);
  });

  test.each(['../outside/secret.txt', '/etc/passwd', 'out/secret.txt', 'file-out', '.git/config'])(
    'the content of %s',
    async (path) => {
      const body = { paths: [path] };
      expect(await attempt('/workspaces/thr_direct/blobs', { method: 'POST', body })).toBe(409);
      expectUnharmed();
    },
  );

  test('the content of a file whose folder became a link', async () => {
    renameSync(join(host.folder, 'sub'), join(host.folder, 'moved'));
    symlinkSync(outside, join(host.folder, 'sub'));
    const body = { paths: ['sub/secret.txt'] };
    expect(await attempt('/workspaces/thr_direct/blobs', { method: 'POST', body })).toBe(409);
    expectUnharmed();
  });

  test.each([
    ['JSON that is none', '{'],
    ['a body of 65 MiB', Buffer.alloc(65 * 1024 ** 2, ' ')],
    ['nothing', ''],
  ])('%s', async (_, raw) => {
    const status = await attempt('/tasks/run_x', { method: 'POST', raw }).catch(() => 400);
    expect(status).toBeGreaterThanOrEqual(400);
  });
});

describe('without effect', () => {
  test('links in a patch, and files below links', async () => {
    const raw = patchOf({ delete: ['out/secret.txt'], links: { x: '/etc' } }, [
      { path: 'link', content: '', target: outside },
      { path: 'link/x', content: 'x' },
      { path: 'out/x', content: 'x' },
    ]);
    expect(await attempt('/workspaces/thr_tree/patch', { method: 'POST', raw })).toBe(204);
    expectUnharmed();
  });

  test('paths and links in a capture', async () => {
    const body = { basePaths: ['../outside/secret.txt', 'out/secret.txt', 'file-out', '.git/config'] };
    await attempt('/workspaces/thr_direct/capture', { method: 'POST', body });
    expect(got).not.toContain('"path":".git');
    expectUnharmed();
  });

  test('a command, a folder and an environment in a turn', async () => {
    const body = {
      ...turnOf({ workspaceId: 'thr_direct' }),
      command: ['sh', '-c', `touch ${join(top, 'pwned')}`],
      agent: { command: ['sh', '-c', `touch ${join(top, 'pwned')}`] },
      cwd: outside,
      env: { NODE_OPTIONS: `--require ${join(outside, 'x.js')}` },
      evidence: [{ path: '../outside/x', content: 'x', encoding: 'utf8' }],
    };
    await attempt('/tasks/run_more', { method: 'POST', body });
    expect((await line.journal('run_more')).at(-1)).toMatchObject({ type: 'end', outcome: 'completed' });
    expectUnharmed();
  });
});

describe('abuse of the connection, after which the host serves on', () => {
  const abuses: Record<string, (on: Line) => Promise<void> | void> = {
    'bytes that are no HTTP/2': ({ socket }) => socket.send(Buffer.alloc(64 * 1024, 'x')),
    'a text message': ({ socket }) => socket.send('GET / HTTP/1.1\r\n\r\n'),
    'a message of 17 MiB': ({ socket }) => socket.send(Buffer.alloc(17 * 1024 ** 2)),
    'streams that are reset at once': async ({ session }) => {
      for (let i = 0; i < 3_000 && !session.destroyed; i++)
        session
          .request({ ':path': '/status' })
          .on('error', () => {})
          .close(8);
      await sleep(50);
    },
    'a header of 200 KiB': async ({ session }) => {
      session.request({ ':path': '/status', 'x-long': 'x'.repeat(200 * 1024) }).on('error', () => {});
      await sleep(50);
    },
    'a thousand settings': async ({ session }) => {
      for (let i = 0; i < 1_000 && !session.destroyed; i++)
        try {
          session.settings({ initialWindowSize: 1_000 + i }, () => {});
        } catch {
          break; // the client's own limit
        }
      await sleep(50);
    },
    'a tunnel': async ({ session }) => {
      session.request({ ':method': 'CONNECT', ':authority': '127.0.0.1:22' }).on('error', () => {});
      await sleep(50);
    },
  };
  test.each(Object.keys(abuses))('%s', async (name) => {
    attempts++;
    const next = host.service.line();
    await abuses[name]!(line);
    const answer = await Promise.race([line.ask('/status').catch(() => undefined), sleep(2_000, undefined)]);
    if (answer?.status !== 200) {
      line.socket.terminate();
      line = await next;
    } else host.service.giveUp();
    expect((await line.ask('/status')).status).toBe(200);
    expectUnharmed();
  });
});

test('sixty attempts at least were made', () => {
  expect(attempts).toBeGreaterThanOrEqual(60);
});
