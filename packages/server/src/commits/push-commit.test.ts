import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { Context } from '../context.ts';
import { runGit } from '../git/run-git.ts';
import { ProviderError } from '../scm/index.ts';
import type { GitTransport } from '../scm/index.ts';
import { openCache } from './cache.ts';
import { makeDataFolder, openUpstream, Upstream } from './commits.fixture.ts';
import { fetchCommit } from './fetch-commit.ts';
import { PushError, pushCommit } from './push-commit.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

/** A repository with a commit on `main`, in the cache, and a commit of ours upon it. */
async function setUp(transport?: (options?: { isRetry?: boolean }) => Partial<GitTransport>) {
  const data = makeDataFolder();
  const upstream = new Upstream();
  ends.push(
    () => data.remove(),
    () => upstream.remove(),
  );
  const base = upstream.commit({ a: 'one' });
  upstream.git('checkout', '--quiet', '--detach');
  const ctx = { ...data.ctx, shutdown: new AbortController().signal } as Context;
  const open = openUpstream(upstream);
  await fetchCommit(ctx, open, { branch: 'main' });
  const { dir } = await openCache(ctx, open);
  if (transport) open.provider.gitTransport = openUpstream(upstream, transport).provider.gitTransport;
  const commit = async (parent: string, message = 'ours') => {
    const who = {
      GIT_AUTHOR_NAME: 'A',
      GIT_AUTHOR_EMAIL: 'a@b',
      GIT_COMMITTER_NAME: 'A',
      GIT_COMMITTER_EMAIL: 'a@b',
    };
    const { output } = await runGit(dir, ['commit-tree', '-p', parent, '-m', message, `${base}^{tree}`], {
      env: who,
    });
    return output.toString('utf8').trim();
  };
  const tip = (branch: string) => {
    try {
      return upstream.git('rev-parse', '--verify', '--quiet', `refs/heads/${branch}`);
    } catch {
      return null;
    }
  };
  return { ctx, open, upstream, base, dir, commit, tip };
}

const codeOf = (push: Promise<void>) =>
  push.then(
    () => 'pushed',
    (error: unknown) => (error instanceof PushError ? error.code : String(error)),
  );

test('a branch is made where there is none, and moves to a descendant', async () => {
  const { ctx, open, base, commit, tip } = await setUp();
  const first = await commit(base);
  await pushCommit(ctx, open, { commitSha: first, branch: 'work/a', expected: null });
  expect(tip('work/a')).toBe(first);
  const second = await commit(first);
  await pushCommit(ctx, open, { commitSha: second, branch: 'work/a', expected: first });
  expect(tip('work/a')).toBe(second);
});

test('a commit that was pushed need not be fetched', async () => {
  const { ctx, open, base, commit } = await setUp();
  const commitSha = await commit(base);
  await pushCommit(ctx, open, { commitSha, branch: 'w', expected: null });
  open.provider.gitTransport = () => Promise.reject(new Error('asked'));
  expect(await fetchCommit(ctx, open, { commitSha })).toBe(commitSha);
});

test('a branch that is there already is a success', async () => {
  const { ctx, open, base, commit, tip } = await setUp();
  const first = await commit(base);
  for (const expected of [null, null, base])
    expect(await codeOf(pushCommit(ctx, open, { commitSha: first, branch: 'w', expected }))).toBe('pushed');
  expect(tip('w')).toBe(first);
});

describe('a branch that is not where it was expected stays', () => {
  test('one that exists, one that others moved, one that others rewrote', async () => {
    const { ctx, open, upstream, base, commit, tip } = await setUp();
    const ours = await commit(base);
    expect(await codeOf(pushCommit(ctx, open, { commitSha: ours, branch: 'main', expected: null }))).toBe(
      'moved',
    );
    const theirs = upstream.commit({ b: 'two' });
    upstream.git('branch', '--force', 'main', theirs);
    expect(await codeOf(pushCommit(ctx, open, { commitSha: ours, branch: 'main', expected: base }))).toBe(
      'moved',
    );
    expect(tip('main')).toBe(theirs);
  });

  test('one that is gone', async () => {
    const { ctx, open, upstream, base, commit, tip } = await setUp();
    upstream.git('branch', 'w', base);
    upstream.git('branch', '--delete', 'w');
    expect(
      await codeOf(pushCommit(ctx, open, { commitSha: await commit(base), branch: 'w', expected: base })),
    ).toBe('branch_gone');
    expect(tip('w')).toBeNull();
  });

  test('a commit that does not descend from it is never pushed', async () => {
    const { ctx, open, upstream, base, commit, tip } = await setUp();
    upstream.git('branch', 'w', base);
    const root = await commit(base);
    const sibling = await commit(base, 'sibling');
    await pushCommit(ctx, open, { commitSha: root, branch: 'w', expected: base });
    await expect(pushCommit(ctx, open, { commitSha: sibling, branch: 'w', expected: root })).rejects.toThrow(
      'is no descendant',
    );
    expect(tip('w')).toBe(root);
  });
});

test("a hook's refusal is protected, with its words", async () => {
  const { ctx, open, upstream, base, commit, tip } = await setUp();
  mkdirSync(join(upstream.dir, '.git', 'hooks'), { recursive: true });
  const hook = join(upstream.dir, '.git', 'hooks', 'pre-receive');
  writeFileSync(hook, '#!/bin/sh\nexit 1\n');
  chmodSync(hook, 0o755);
  const push = pushCommit(ctx, open, { commitSha: await commit(base), branch: 'w', expected: null });
  await expect(push).rejects.toMatchObject({
    code: 'protected',
    message: 'The provider refused the push: pre-receive hook declined.',
  });
  expect(tip('w')).toBeNull();
});

describe('over HTTP', () => {
  /** Answers every request with the next status, the last one again and again; remembers credentials. */
  async function answering(...statuses: number[]) {
    const seen: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      seen.push(request.headers.authorization);
      response.writeHead(statuses.length > 1 ? statuses.shift()! : statuses[0]!).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ends.push(() => server.close());
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/r.git`, seen };
  }

  test.each([
    [401, 'access_denied'],
    [403, 'access_denied'],
    [404, 'access_denied'],
    [500, 'unavailable'],
    [503, 'unavailable'],
  ])('%i is %s', async (status, code) => {
    const { url } = await answering(status);
    const { ctx, open, base, commit } = await setUp(() => ({ url }));
    const push = pushCommit(ctx, open, { commitSha: await commit(base), branch: 'w', expected: null });
    await expect(push).rejects.toMatchObject({ code });
    await expect(push).rejects.not.toThrow(url);
  });

  test('a refused credential is got once more', async () => {
    const { url, seen } = await answering(403);
    const { ctx, open, base, commit } = await setUp((options) => ({
      url,
      env: {
        GIT_CONFIG_COUNT: '1',
        GIT_CONFIG_KEY_0: 'http.extraHeader',
        GIT_CONFIG_VALUE_0: `Authorization: Bearer ${options?.isRetry ? 'new' : 'old'}`,
      },
    }));
    const push = pushCommit(ctx, open, { commitSha: await commit(base), branch: 'w', expected: null });
    expect(await codeOf(push)).toBe('access_denied');
    expect([...new Set(seen)]).toEqual(['Bearer old', 'Bearer new']);
  });

  test('no answer at all is unavailable', async () => {
    const { ctx, open, base, commit } = await setUp(() => ({ url: 'http://127.0.0.1:9/r.git' }));
    expect(
      await codeOf(pushCommit(ctx, open, { commitSha: await commit(base), branch: 'w', expected: null })),
    ).toBe('unavailable');
  });
});

test('a provider that gives no way to it says why', async () => {
  const { ctx, open, base, commit } = await setUp(() => {
    throw new ProviderError({ code: 'unavailable' }, 'away');
  });
  expect(
    await codeOf(pushCommit(ctx, open, { commitSha: await commit(base), branch: 'w', expected: null })),
  ).toBe('unavailable');
});
