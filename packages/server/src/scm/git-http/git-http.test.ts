import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { newAccount, signedIn, tenant } from '../../accounts/callers.fixture.ts';
import { runGit } from '../../git/run-git.ts';
import { STALE_MS } from '../../git/stale-locks.ts';
import { startTestServer } from '../../service.fixture.ts';
import type { TestServer } from '../../service.fixture.ts';
import { Copy, gitOk, newRepository, refsOf } from './git-http.fixture.ts';
import type { TestRepository } from './git-http.fixture.ts';

vi.setConfig({ testTimeout: 30_000 });

const MAX_PUSH = 1_000_000;
const NOTHING = '0'.repeat(40);
const FILES = [{ path: 'a.txt', content: 'one\r\n' }];
const [FETCH, PUSH] = ['git-upload-pack', 'git-receive-pack'];

let s: TestServer;
const copies: Copy[] = [];
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api', HEADRACE_GIT_MAX_PUSH_BYTES: String(MAX_PUSH) });
});
afterAll(async () => {
  for (const copy of copies) await copy.remove();
  await s?.close();
});

const basic = (user: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
});
async function ask(
  path: string,
  headers: Record<string, string> = basic('x', s.key),
  init: RequestInit = {},
) {
  const response = await fetch(`${s.base}/git/${path}`, {
    redirect: 'manual',
    ...init,
    headers: { ...headers, ...(init.headers as object) },
  });
  return {
    status: response.status,
    headers: response.headers,
    bytes: Buffer.from(await response.arrayBuffer()),
  };
}
const refs = ({ name }: { name: string }, service = FETCH, headers?: Record<string, string>) =>
  ask(`${name}.git/info/refs?service=${service}`, headers);
const post = (
  { name }: TestRepository,
  service: string,
  body: Buffer,
  headers: Record<string, string> = {},
) =>
  ask(`${name}.git/${service}`, basic('x', s.key), {
    method: 'POST',
    body: new Uint8Array(body),
    headers: { 'content-type': `application/x-${service}-request`, ...headers },
  });
const packet = (...parts: (string | Buffer)[]) => {
  const bytes = Buffer.concat(parts.map((part) => Buffer.from(part as string)));
  return Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, '0')), bytes]);
};

async function copyOf(repository: TestRepository, key?: string): Promise<Copy> {
  const copy = await Copy.of(repository, key);
  copies.push(copy);
  return copy;
}
async function withCopy(): Promise<{ repository: TestRepository; copy: Copy; tip: string }> {
  const repository = await newRepository(s, FILES);
  const copy = await copyOf(repository);
  return { repository, copy, tip: await gitOk(['rev-parse', 'main'], { cwd: copy.dir }) };
}
/** A push as git sends it. */
async function pushBody(copy: Copy, ref: string | Buffer, commitSha: string): Promise<Buffer> {
  const { output } = await runGit(copy.dir, ['pack-objects', '-q', '--revs', '--stdout'], {
    input: `${commitSha}\n`,
  });
  return Buffer.concat([
    packet(`${NOTHING} ${commitSha} `, ref, '\0 report-status'),
    Buffer.from('0000'),
    output,
  ]);
}
/** Whatever a push brings lies there until it is whole. */
const quarantines = async ({ dir }: TestRepository) =>
  (await readdir(join(dir, 'objects'))).filter((name) => name.startsWith('tmp_objdir'));
const looksAt = ({ id }: TestRepository) =>
  s.service.ctx.db
    .selectFrom('jobs')
    .selectAll()
    .where('kind', '=', 'scm.look-repository')
    .execute()
    .then((jobs) => jobs.filter(({ payload }) => (payload as { repositoryId: string }).repositoryId === id));

describe('fetching', () => {
  test('a clone has every byte, branch and tag, with the default branch checked out', async () => {
    const { repository, copy, tip } = await withCopy();
    await gitOk(['tag', 'v1', tip], { cwd: copy.dir });
    expect((await copy.push('v1', 'main:work')).code).toBe(0);
    const dir = join(copy.dir, '..', 'clone');
    await gitOk(['clone', '-q', repository.url(), dir]);
    expect(await readFile(join(dir, 'a.txt'), 'utf8')).toBe('one\r\n');
    expect(await gitOk(['branch', '--show-current'], { cwd: dir, env: { GIT_DIR: join(dir, '.git') } })).toBe(
      'main',
    );
    expect(Object.keys(await refsOf(repository)).sort()).toEqual([
      'HEAD',
      'refs/heads/main',
      'refs/heads/work',
      'refs/tags/v1',
    ]);
  });

  test('protocol 2, HEAD, and a compressed request are served', async () => {
    const repository = await newRepository(s, FILES);
    const advertised = await ask(`${repository.name}.git/info/refs?service=${FETCH}`, {
      ...basic('x', s.key),
      'git-protocol': 'version=2',
    });
    expect(advertised.headers.get('content-type')).toBe('application/x-git-upload-pack-advertisement');
    expect(advertised.bytes.toString()).toContain('version 2');
    const head = await ask(`${repository.name}.git/info/refs?service=${FETCH}`, undefined, {
      method: 'HEAD',
    });
    expect([head.status, head.bytes.length]).toEqual([200, 0]);
    const body = Buffer.concat([
      packet('command=ls-refs\n'),
      Buffer.from('0001'),
      packet('ref-prefix refs/heads/\n'),
      Buffer.from('0000'),
    ]);
    for (const [bytes, encoding] of [
      [body, 'identity'],
      [gzipSync(body), 'gzip'],
    ] as const) {
      const answer = await post(repository, FETCH, bytes, {
        'git-protocol': 'version=2',
        'content-encoding': encoding,
      });
      expect([answer.status, answer.bytes.toString()]).toEqual([
        200,
        expect.stringContaining('refs/heads/main'),
      ]);
    }
  });

  test('a body that is no gzip, of another encoding or another type, or too long is refused', async () => {
    const repository = await newRepository(s, FILES);
    const status = async (body: Buffer, headers: Record<string, string>) =>
      (await post(repository, FETCH, body, headers)).status;
    expect(await status(Buffer.from('0000'), { 'content-encoding': 'gzip' })).toBe(400);
    expect(await status(Buffer.from('0000'), { 'content-encoding': 'br' })).toBe(415);
    expect(await status(Buffer.from('0000'), { 'content-type': 'application/json' })).toBe(415);
    expect(await status(gzipSync(Buffer.alloc(11 << 20)), { 'content-encoding': 'gzip' })).toBe(413);
  });

  test('heads of pull requests are shown and fetched, names of ours are not', async () => {
    const { repository, tip } = await withCopy();
    await runGit(repository.dir, ['update-ref', 'refs/pull/7/head', tip]);
    await runGit(repository.dir, ['update-ref', 'refs/headrace/own', tip]);
    expect(Object.keys(await refsOf(repository))).toEqual(['HEAD', 'refs/heads/main', 'refs/pull/7/head']);
    const copy = await copyOf(repository);
    await gitOk(['fetch', '-q', copy.url, 'refs/pull/7/head'], { cwd: copy.dir });
  });

  test('a repository of 10,000 branches shows them all', async () => {
    const { repository, tip } = await withCopy();
    const names = Array.from({ length: 10_000 }, (_, i) => `${tip} refs/heads/b${i}\n`).sort();
    await writeFile(
      join(repository.dir, 'packed-refs'),
      `# pack-refs with: peeled fully-peeled sorted \n${names.join('')}`,
    );
    const { bytes } = await refs(repository);
    expect(bytes.toString().match(/refs\/heads\/b/g)).toHaveLength(10_000);
  });

  test('git ends when its client goes', async () => {
    const { repository, copy } = await withCopy();
    await copy.commit('big', [{ path: 'big', content: randomBytes(900_000) }]);
    expect((await copy.push('big')).code).toBe(0);
    const want = await gitOk(['rev-parse', 'big'], { cwd: copy.dir });
    const body = Buffer.concat([packet(`want ${want}\n`), Buffer.from('0000'), packet('done\n')]);
    const gone = new AbortController();
    // Its answer is more than the pipes hold, and nobody reads it.
    const asked = httpRequest(`${s.base}/git/${repository.name}.git/${FETCH}`, {
      method: 'POST',
      headers: { ...basic('x', s.key), 'content-type': `application/x-${FETCH}-request` },
      signal: gone.signal,
    });
    asked.on('error', () => undefined);
    asked.end(body);
    await new Promise((resolve) => asked.once('response', resolve));
    gone.abort();
    await vi.waitFor(async () => expect(await gitsOf(repository)).toEqual([]), { timeout: 10_000 });
  });
});

/** Commands of the processes that work in a repository. */
async function gitsOf({ dir }: TestRepository): Promise<string[]> {
  const found: string[] = [];
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
    if (environment.includes(`PATH_INFO=/${dir.split('/').at(-1)}/`))
      found.push(await readFile(`/proc/${pid}/cmdline`, 'latin1'));
  }
  return found;
}

describe('credentials', () => {
  test('none, or a wrong one, is 401 with WWW-Authenticate, whether the repository is there or not', async () => {
    const repository = await newRepository(s, FILES);
    const cookie = await signedIn(s);
    const wrong = [
      {},
      basic('x', ''),
      basic(s.key, 'x'),
      basic('x', `${s.key}0`),
      { authorization: 'Basic !!!' },
      { cookie },
    ];
    for (const headers of wrong)
      for (const target of [repository, { name: 'no' }])
        for (const service of [FETCH, PUSH]) {
          const { status, headers: answered } = await refs(
            target,
            service,
            headers as Record<string, string>,
          );
          expect([status, answered.get('www-authenticate')]).toEqual([401, expect.stringMatching(/^Basic /)]);
          expect(answered.get('ratelimit')).not.toBeNull();
        }
  });

  test("a key counts as Basic password, as Bearer and as X-Api-Key, a session's token as Basic password", async () => {
    const repository = await newRepository(s, FILES);
    const token = (await signedIn(s)).split('=')[1]!;
    for (const headers of [
      basic('', s.key),
      basic('oauth2', s.key),
      { authorization: `Bearer ${s.key}` },
      { 'x-api-key': s.key },
      basic('x', token),
    ])
      for (const service of [FETCH, PUSH])
        expect((await refs(repository, service, headers)).status).toBe(200);
  });

  test('Basic counts for git alone', async () => {
    const answer = await s.call('GET', '/api/session', undefined, { key: null, headers: basic('x', s.key) });
    expect(answer.status).toBe(401);
  });

  test("a browser's cookie does not count, however the path is written", async () => {
    const repository = await newRepository(s, FILES);
    const cookie = await signedIn(s);
    const path = `/${repository.name}.git/info/refs?service=${FETCH}`;
    const { status } = await fetch(`${s.base}/%67it${path}`, { headers: { cookie } });
    expect(status).toBe(404);
    const { headers } = await fetch(`${s.base}/git${path}`, { headers: { cookie } });
    expect(headers.get('www-authenticate')).toMatch(/^Basic /);
  });

  test('fetching takes repo:read, pushing repo:update; the refusals are 403 at once', async () => {
    const repository = await newRepository(s, FILES);
    const cookie = await signedIn(s);
    const [reader, writer] = await Promise.all(
      [{ repo: ['read'] }, { repo: ['update'] }].map(
        async (permissions) => (await newAccount(s, cookie, { permissions })).key as string,
      ),
    );
    const statuses = await Promise.all(
      [reader, writer].flatMap((key) =>
        [FETCH, PUSH].map(async (service) => (await refs(repository, service, basic('x', key!))).status),
      ),
    );
    expect(statuses).toEqual([200, 403, 403, 200]);
    const posted = await ask(`${repository.name}.git/${PUSH}`, basic('x', reader!), {
      method: 'POST',
      body: '0000',
      headers: { 'content-type': `application/x-${PUSH}-request` },
    });
    expect(posted.status).toBe(403);
  });

  test("another organization's, another project's and a deleted repository are 404", async () => {
    const cookie = await signedIn(s);
    const [bound, other, deleted] = [
      await newRepository(s, FILES),
      await newRepository(s, FILES),
      await newRepository(s, FILES),
    ];
    const { db } = s.service.ctx;
    await db
      .updateTable('repositories')
      .set({ deleted_at: new Date() })
      .where('id', '=', deleted.id)
      .execute();
    const { project } = (await s.call('POST', '/api/projects', { name: 'Bound' })).body;
    await db.updateTable('projects').set({ repository_id: bound.id }).where('id', '=', project.id).execute();
    const { key: restricted } = await newAccount(s, cookie, { projectIds: [project.id] });
    const stranger = await tenant(s);
    const { key: foreign } = await newAccount(s, stranger.cookie);
    for (const service of [FETCH, PUSH]) {
      const status = async (repository: TestRepository, key: string) =>
        (await refs(repository, service, basic('x', key))).status;
      expect([
        await status(bound, restricted),
        await status(other, restricted),
        await status(bound, foreign),
        await status(deleted, s.key),
      ]).toEqual([200, 404, 404, 404]);
    }
  });

  test('an organization without source control is refused with 402, and all of a deployment without it with 501', async () => {
    const stranger = await tenant(s);
    const { db } = s.service.ctx;
    await db
      .updateTable('organizations')
      .set({ without: ['sourceControl'] })
      .where('id', '=', stranger.organization.id)
      .execute();
    const { key } = await newAccount(s, stranger.cookie);
    for (const service of [FETCH, PUSH])
      expect((await refs({ name: 'no' }, service, basic('x', key))).status).toBe(402);
    const without = await startTestServer({ HEADRACE_ROLES: 'api', HEADRACE_DISABLED: 'sourceControl' }, s);
    try {
      const answer = await without.call('GET', `/git/no.git/info/refs?service=${FETCH}`);
      expect(answer.status).toBe(501);
    } finally {
      await without.close();
    }
  });

  test('paths that are no part of the protocol give nothing away', async () => {
    const { name } = await newRepository(s, FILES);
    for (const path of [
      'config',
      'HEAD',
      'objects/info/packs',
      'hooks/update',
      'info/refs',
      'info/refs?service=git-upload-archive',
      '..%2f..%2fstate',
      `%2e%2e/${name}.git/config`,
    ])
      expect([path, (await ask(`${name}.git/${path}`)).status]).toEqual([path, 404]);
    for (const path of [
      '',
      '.git/info/refs',
      `..%2f${name}.git/info/refs`,
      `${name.toUpperCase()}.git/info/refs`,
      `${name}/info/refs`,
    ])
      expect([path, (await ask(`${path}?service=${FETCH}`)).status]).toEqual([path, 404]);
    expect((await ask(`${name}.git/${FETCH}`)).status).toBe(405);
  });
});

describe('pushing', () => {
  test('branches and tags are made, moved and deleted, and one look and one entry say so', async () => {
    const { repository, copy, tip } = await withCopy();
    const work = await copy.commit('work', [{ path: 'w', content: 'w' }]);
    expect((await copy.push('work', `${tip}:refs/tags/v1`, `${tip}:refs/heads/deep/er`)).code).toBe(0);
    expect(await refsOf(repository)).toMatchObject({
      'refs/heads/work': work,
      'refs/tags/v1': tip,
      'refs/heads/deep/er': tip,
    });
    expect((await copy.push(`+${tip}:refs/heads/work`, ':refs/heads/deep/er')).code).toBe(0);
    expect((await refsOf(repository))['refs/heads/work']).toBe(tip);
    const looks = await looksAt(repository);
    expect(looks.map(({ run_at }) => run_at <= new Date())).toEqual([true]);
    const entries = await s.service.ctx.db
      .selectFrom('audit_entries')
      .selectAll()
      .where('target_id', '=', repository.id)
      .where('action', '=', 'repository.pushed')
      .execute();
    expect(entries.map(({ action, actor_id }) => [action, actor_id?.slice(0, 3)])).toEqual([
      ['repository.pushed', 'sa_'],
      ['repository.pushed', 'sa_'],
    ]);
  });

  test('a push of nothing leaves no entry, and no look', async () => {
    const { repository, copy } = await withCopy();
    expect((await copy.push('main')).code).toBe(0);
    expect((await copy.push('main:refs/notes/x')).code).toBe(1);
    expect(await looksAt(repository)).toEqual([]);
  });

  test('the default branch, as the row has it, is neither rewritten nor deleted', async () => {
    const { repository, copy, tip } = await withCopy();
    const second = await copy.commit('main', [{ path: 'b', content: 'b' }]);
    expect((await copy.push('main', 'main:next')).code).toBe(0);
    await copy.commit('other', [{ path: 'c', content: 'c' }]);
    for (const refspec of [`+${tip}:refs/heads/main`, '+other:main', ':main']) {
      const { code, stderr } = await copy.push(refspec);
      expect([code, stderr]).toEqual([1, expect.stringContaining('The default branch')]);
    }
    await s.service.ctx.db
      .updateTable('repositories')
      .set({ default_branch: 'next' })
      .where('id', '=', repository.id)
      .execute();
    expect((await copy.push('+other:next')).code).toBe(1);
    expect((await copy.push('+other:main')).code).toBe(0);
    expect((await refsOf(repository)).HEAD).toBe(second);
  });

  test('other names, and names that no branch may have, are refused', async () => {
    const { repository, copy, tip } = await withCopy();
    const before = await refsOf(repository);
    const hidden = [
      'pull/7/head',
      'notes/x',
      'meta/config',
      'headrace/x',
      `replace/${tip}`,
      'remotes/origin/x',
    ];
    const { stdout } = await copy.push(...hidden.map((name) => `${tip}:refs/${name}`));
    expect(stdout.match(/^!.*hidden ref/gm)).toHaveLength(hidden.length);
    for (const name of ['HEAD', '-x', 'x'.repeat(256)])
      expect([name, (await copy.push(`${tip}:refs/heads/${name}`)).code]).toEqual([name, 1]);
    for (const ref of [
      'refs/heads/../../config',
      'refs/heads/a.lock',
      'HEAD',
      '../x',
      Buffer.from('refs/heads/\xff', 'latin1'),
    ])
      expect((await post(repository, PUSH, await pushBody(copy, ref, tip))).bytes.toString()).not.toMatch(
        /ok (refs|HEAD|\.)/,
      );
    expect(await refsOf(repository)).toEqual(before);
  });

  test('objects are checked, and what is refused leaves nothing on the disk', async () => {
    const { repository, copy, tip } = await withCopy();
    const store = async (type: string, input: string | Buffer) =>
      (await runGit(copy.dir, ['hash-object', '-t', type, '-w', '--stdin', '--literally'], { input })).output
        .toString()
        .trim();
    const blob = await store('blob', '[core]\n');
    const entry = (mode: string, name: string, id: string) =>
      Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(id, 'hex')]);
    const good = await store('tree', entry('100644', 'a', blob));
    const trees = [
      entry('40000', '.git', good),
      Buffer.concat([entry('100644', 'a', blob), entry('100644', 'a', blob)]),
      entry('40000', '..', good),
      entry('40000', '.GIT', good),
    ];
    const who = 'a <a@b.c> 1700000000 +0000';
    const commits = await Promise.all(
      trees.map(async (tree) =>
        store(
          'commit',
          `tree ${await store('tree', tree)}\nparent ${tip}\nauthor ${who}\ncommitter ${who}\n\nBad\n`,
        ),
      ),
    );
    commits.push(await store('commit', `tree ${good}\nparent ${tip}\ncommitter ${who}\n\nNo author\n`));
    const objects = await readdir(join(repository.dir, 'objects'));
    for (const commit of commits) {
      await gitOk(['update-ref', 'refs/heads/bad', commit], { cwd: copy.dir });
      expect((await copy.push('bad')).code).toBe(1);
    }
    expect(await readdir(join(repository.dir, 'objects'))).toEqual(objects);
    expect(Object.keys(await refsOf(repository))).toEqual(['HEAD', 'refs/heads/main']);
  });

  test('over the limit it is 413, in chunks or not, compressed or not, and nothing is moved or left', async () => {
    const { repository, copy } = await withCopy();
    const big = await copy.commit('big', [{ path: 'b', content: randomBytes(MAX_PUSH) }]);
    const body = await pushBody(copy, 'refs/heads/big', big);
    const chunked = {
      method: 'POST',
      body: new Blob([new Uint8Array(body)]).stream(),
      duplex: 'half',
      headers: { 'content-type': `application/x-${PUSH}-request` },
    } as RequestInit;
    // git has all that it needs long before the end of this one.
    const whole = await pushBody(copy, 'refs/heads/whole', await copy.commit('whole', FILES));
    const padded = gzipSync(Buffer.concat([whole, Buffer.alloc(MAX_PUSH)]));
    expect((await post(repository, PUSH, body)).status).toBe(413);
    expect((await ask(`${repository.name}.git/${PUSH}`, undefined, chunked)).status).toBe(413);
    expect((await post(repository, PUSH, padded, { 'content-encoding': 'gzip' })).status).toBe(413);
    expect([await quarantines(repository), Object.keys(await refsOf(repository))]).toEqual([
      [],
      ['HEAD', 'refs/heads/main'],
    ]);
    expect((await copy.push('whole')).code).toBe(0);
  });

  test('a push that is cut off moves nothing and leaves nothing', async () => {
    const { repository, copy } = await withCopy();
    const big = await copy.commit('big', [{ path: 'b', content: randomBytes(900_000) }]);
    const body = await pushBody(copy, 'refs/heads/big', big);
    const asked = httpRequest(`${s.base}/git/${repository.name}.git/${PUSH}`, {
      method: 'POST',
      headers: {
        ...basic('x', s.key),
        'content-type': `application/x-${PUSH}-request`,
        'content-length': body.length,
      },
    });
    asked.on('error', () => undefined);
    asked.write(body.subarray(0, 500_000));
    await vi.waitFor(async () => expect(await quarantines(repository)).toHaveLength(1), { timeout: 10_000 });
    asked.destroy();
    await vi.waitFor(
      async () => expect([await quarantines(repository), await gitsOf(repository)]).toEqual([[], []]),
      { timeout: 10_000 },
    );
    expect((await copy.push('big')).code).toBe(0);
  });

  test('of pushes upon one commit just one arrives, to many branches all', async () => {
    const { repository, copy } = await withCopy();
    const other = await copyOf(repository);
    const tips = [
      await copy.commit('main', [{ path: 'x', content: '1' }]),
      await other.commit('main', [{ path: 'x', content: '2' }]),
    ];
    const [one, two] = await Promise.all([copy.push('main'), other.push('main')]);
    expect([one.code, two.code].sort()).toEqual([0, 1]);
    expect((await refsOf(repository))['refs/heads/main']).toBe(tips[one.code === 0 ? 0 : 1]);
    const names = Array.from({ length: 6 }, (_, i) => `side-${i}`);
    const pushes = await Promise.all(names.map((name) => copy.push(`${tips[0]}:refs/heads/${name}`)));
    expect(pushes.map(({ code }) => code)).toEqual(names.map(() => 0));
  });

  test("no hook of the repository's own runs", async () => {
    const { repository, copy } = await withCopy();
    const mark = join(tmpdir(), `${repository.name}.ran`);
    await mkdir(join(repository.dir, 'hooks'));
    for (const hook of ['pre-receive', 'update', 'post-receive', 'post-update', 'reference-transaction']) {
      const file = join(repository.dir, 'hooks', hook);
      await writeFile(file, `#!/bin/sh\ntouch ${mark}\n`);
      await chmod(file, 0o755);
    }
    expect((await copy.push('main:work')).code).toBe(0);
    await expect(readFile(mark)).rejects.toThrow('ENOENT');
    await rm(mark, { force: true });
  });

  test('a lock that a killed git left is waited for while it may be held, then removed', async () => {
    const { repository, copy } = await withCopy();
    const lock = join(repository.dir, 'refs', 'heads', 'work.lock');
    await writeFile(lock, '');
    const pushed = copy.push('main:work');
    await wait(500);
    expect(Object.keys(await refsOf(repository))).not.toContain('refs/heads/work');
    const old = new Date(Date.now() - STALE_MS);
    await utimes(lock, old, old);
    expect((await pushed).code).toBe(0);
    expect(Object.keys(await refsOf(repository))).toContain('refs/heads/work');
  });
});
