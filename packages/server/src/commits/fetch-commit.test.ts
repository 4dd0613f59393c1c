import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runGit } from '../git/run-git.ts';
import { openCache } from './cache.ts';
import { makeDataFolder, openUpstream, Upstream } from './commits.fixture.ts';
import { fetchCommit } from './fetch-commit.ts';

const { ctx, remove } = makeDataFolder();
let upstream: Upstream;

beforeEach(() => {
  upstream = new Upstream();
});
afterEach(() => upstream.remove());
afterAll(remove);

const output = async (dir: string, ...args: string[]) => (await runGit(dir, args)).output.toString().trim();

test('a branch is fetched with a bounded part of its history, once', async () => {
  for (let n = 0; n < 60; n++) upstream.git('commit', '--quiet', '--allow-empty', '--message', `${n}`);
  const tip = upstream.commit({ 'a.txt': 'a\n' });
  const repository = openUpstream(upstream);
  expect(await fetchCommit(ctx, repository, { branch: 'main' })).toBe(tip);
  const { dir, isLinked } = await openCache(ctx, repository);
  expect(isLinked).toBe(false);
  expect(await output(dir, 'rev-list', '--count', tip)).toBe('50');
  expect(await output(dir, 'show', `${tip}:a.txt`)).toBe('a');

  // What is there needs no provider, nor what removed it.
  upstream.git('commit', '--quiet', '--amend', '--message', 'Rewritten');
  expect(await fetchCommit(ctx, repository, { commitSha: tip })).toBe(tip);
  const packs = await output(dir, 'count-objects', '-v');
  await fetchCommit(ctx, repository, { commitSha: tip });
  expect(await output(dir, 'count-objects', '-v')).toBe(packs);
});

test('more history is fetched where it is asked for', async () => {
  for (let n = 0; n < 60; n++) upstream.git('commit', '--quiet', '--allow-empty', '--message', `${n}`);
  const tip = upstream.git('rev-parse', 'HEAD');
  const repository = openUpstream(upstream);
  await fetchCommit(ctx, repository, { commitSha: tip });
  await fetchCommit(ctx, repository, { commitSha: tip, depth: 55 });
  const { dir } = await openCache(ctx, repository);
  expect(await output(dir, 'rev-list', '--count', tip)).toBe('55');
});

test('of a repository on this machine nothing is copied', async () => {
  const tip = upstream.commit({ 'a.txt': 'a\n' });
  const repository = openUpstream(upstream, () => ({ folder: join(upstream.dir, '.git') }));
  expect(await fetchCommit(ctx, repository, { branch: 'main' })).toBe(tip);
  const { dir } = await openCache(ctx, repository);
  expect(await output(dir, 'show', `${tip}:a.txt`)).toBe('a');
  expect(await output(dir, 'count-objects', '-v')).toContain('count: 0\nsize: 0\nin-pack: 0');
});

test('several fetches at once end with all their commits, whatever killed gits left behind', async () => {
  const branches = Array.from({ length: 6 }, (_, n) => `b${n}`);
  const tips = branches.map((branch) => {
    upstream.git('checkout', '--quiet', '--orphan', branch);
    return upstream.commit({ [`${branch}.txt`]: branch });
  });
  const repository = openUpstream(upstream);
  const { dir } = await openCache(ctx, repository);
  writeFileSync(join(dir, 'shallow.lock'), '');
  expect(await Promise.all(branches.map((branch) => fetchCommit(ctx, repository, { branch })))).toEqual(tips);
  expect(existsSync(join(dir, 'shallow.lock'))).toBe(false);
});

test('a git of another process that changes the cache is waited for', async () => {
  const tip = upstream.commit({ 'a.txt': 'a\n' });
  const repository = openUpstream(upstream);
  const { dir } = await openCache(ctx, repository);
  const holder = spawn('flock', [join(dir, 'alone.lock'), 'sh', '-c', 'echo held; read line']);
  await once(holder.stdout, 'data');
  let isDone = false;
  const fetched = fetchCommit(ctx, repository, { commitSha: tip }).then(() => (isDone = true));
  // Long enough for a fetch that does not wait.
  await output(dir, 'count-objects');
  await output(upstream.dir, '--git-dir=.git', 'count-objects');
  expect(isDone).toBe(false);
  holder.stdin.end('\n');
  await fetched;
  expect(await output(dir, 'cat-file', '-t', tip)).toBe('commit');
});

describe('faults', () => {
  const faultOf = (promise: Promise<unknown>) =>
    promise.then(
      () => null,
      (error: { fault?: unknown; message: string }) => ({ fault: error.fault, message: error.message }),
    );

  test('an unknown branch or commit is not found', async () => {
    upstream.commit({ 'a.txt': 'a\n' });
    const linked = openUpstream(upstream, () => ({ folder: join(upstream.dir, '.git') }));
    for (const repository of [openUpstream(upstream), linked]) {
      expect(await faultOf(fetchCommit(ctx, repository, { branch: 'none' }))).toMatchObject({
        fault: { code: 'not_found' },
      });
      expect(await faultOf(fetchCommit(ctx, repository, { commitSha: '1'.repeat(40) }))).toMatchObject({
        fault: { code: 'not_found' },
      });
    }
  });

  test('a repository that vanished is gone', async () => {
    const tip = upstream.commit({ 'a.txt': 'a\n' });
    const url = join(upstream.dir, 'nowhere');
    const fault = await faultOf(
      fetchCommit(
        ctx,
        openUpstream(upstream, () => ({ url })),
        { commitSha: tip },
      ),
    );
    expect(fault).toEqual({ fault: { code: 'gone' }, message: 'the repository is not there' });
  });

  test('a credential that is refused is got once more, and no further', async () => {
    const tip = upstream.commit({ 'a.txt': 'a\n' });
    const server = createServer((_, response) =>
      response.writeHead(401, { 'www-authenticate': 'Basic' }).end(),
    );
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/a.git`;
    const asked: boolean[] = [];
    const renewed = openUpstream(upstream, ({ isRetry } = {}) => {
      asked.push(isRetry === true);
      return isRetry ? {} : { url };
    });
    expect(await fetchCommit(ctx, renewed, { commitSha: tip })).toBe(tip);
    expect(
      await faultOf(
        fetchCommit(
          ctx,
          openUpstream(upstream, () => ({ url })),
          { commitSha: tip },
        ),
      ),
    ).toEqual({
      fault: { code: 'access_denied' },
      message: 'the credential is refused',
    });
    server.close();
    // The first of all makes the cache.
    expect(asked).toEqual([false, false, true]);
  });

  test('a provider that does not answer is unavailable, and no message has its address', async () => {
    const tip = upstream.commit({ 'a.txt': 'a\n' });
    const url = 'http://127.0.0.1:1/secret-name.git';
    const fault = await faultOf(
      fetchCommit(
        ctx,
        openUpstream(upstream, () => ({ url })),
        { commitSha: tip },
      ),
    );
    expect(fault).toEqual({
      fault: { code: 'unavailable' },
      message: 'the provider could not be reached',
    });
  });
});
