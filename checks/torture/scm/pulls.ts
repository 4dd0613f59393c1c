/** What a thread's people do: pull requests one after the other, edits, and others' commits in between. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../harness/random.ts';
import type { Storm } from '../lib/storm.ts';
import { git, gitWith, read, write } from './world.ts';
import type { TortureRepository, TortureThread, World } from './world.ts';

/** What was answered, for the judge. */
export interface Done {
  thread: TortureThread;
  /** Numbers of the pull requests that POST gave. */
  numbers: number[];
  /** The one that is left open, and its branch. */
  open: { id: string; headRef: string } | null;
  /** Branch → commits of others that the repository took. */
  others: Map<string, string[]>;
}

const OTHERS = 0.4;
const WAITING = 0.5;
const EDIT_TRIES = 20;
const PUSH_TRIES = 10;
const CURRENT_LIMIT_MS = 120_000;
const LOOKS_BEFORE_SYNC = 6;

export async function pullRequests(
  world: World,
  thread: TortureThread,
  { count, storm }: { count: number; storm: Storm },
): Promise<Done> {
  const done: Done = { thread, numbers: [], open: null, others: new Map() };
  const random = world.setup.random.fork(thread.id);
  for (let n = 0; n < count; n++) {
    await storm.step();
    await edit(world, thread, `${n}-first`);
    const pull = await create(world, thread, n);
    if (!pull) continue;
    done.numbers.push(pull.number);
    const others = Promise.resolve(
      random.next() < OTHERS ? pushAsAnother(world, done, pull.headRef, random) : null,
    );
    await edit(world, thread, `${n}-second`);
    if (random.next() < WAITING) await current(world, thread, pull.id);
    await edit(world, thread, `${n}-third`);
    await others;
    done.open = { id: pull.id, headRef: pull.headRef };
    if (n < count - 1) await close(world, thread, pull.id);
  }
  return done;
}

export const pullsOf = (thread: TortureThread) => `/api/threads/${thread.id}/pull-requests`;

/** Adds a file. The thread may be busy, or have taken others' commits over: then once more. */
export async function edit(world: World, thread: TortureThread, name: string): Promise<void> {
  let said = '';
  for (let tries = 0; tries < EDIT_TRIES; tries++) {
    const { latestSourceId } = (await read(world, `/api/threads/${thread.id}`)).thread;
    const { status, text } = await write(world, {
      method: 'POST',
      path: `/api/threads/${thread.id}/edits`,
      body: {
        expectedSourceId: latestSourceId,
        changes: [{ path: `work/${thread.id.slice(-6)}-${name}.txt`, content: `${name}\n` }],
      },
      key: `torture-edit-${thread.id}-${name}-${tries}`,
    });
    if (status === 201) return;
    said = `${status} ${text.slice(0, 300)}`;
    if (!/"(stale_source|thread_busy)"/.test(text)) break;
    await sleep(200, undefined, { signal: world.setup.signal });
  }
  world.failures.push(`${thread.id}: edit ${name}: ${said}`);
}

/** Opens a pull request; `more` is added to the body. */
export async function create(
  world: World,
  thread: TortureThread,
  n: number,
  more: object = {},
): Promise<{ id: string; number: number; headRef: string } | null> {
  for (let tries = 0; ; tries++) {
    const { status, text } = await write(world, {
      method: 'POST',
      path: pullsOf(thread),
      body: { title: `Pull request ${n}`, body: 'Torture.', ...more },
      key: `torture-pull-${thread.id}-${n}-${tries}`,
    });
    if (status === 201) return JSON.parse(text).pullRequest;
    // Failed for certain: nothing was done, and a new key tries again.
    if (status === 409 && text.includes('"thread_busy"') && tries < EDIT_TRIES) {
      await sleep(200, undefined, { signal: world.setup.signal });
      continue;
    }
    world.failures.push(`${thread.id}: pull request ${n}: ${status} ${text.slice(0, 300)}`);
    return null;
  }
}

async function close(world: World, thread: TortureThread, id: string): Promise<void> {
  for (let tries = 0; tries < EDIT_TRIES; tries++) {
    const { status, text } = await write(world, {
      method: 'PATCH',
      path: `${pullsOf(thread)}/${id}`,
      body: { state: 'closed' },
      key: `torture-close-${id}-${tries}`,
    });
    if (status === 200) return;
    if (!text.includes('"thread_busy"')) {
      world.failures.push(`${id}: could not be closed: ${status} ${text.slice(0, 300)}`);
      return;
    }
    await sleep(200, undefined, { signal: world.setup.signal });
  }
}

async function pushAsAnother(world: World, done: Done, branch: string, random: Random): Promise<void> {
  await sleep(random.below(1_500), undefined, { signal: world.setup.signal });
  const file = { path: `other-${random.below(1e9)}.txt`, content: 'by another\n' };
  const commit = await commitAsAnother(world, { repository: done.thread.repository, branch, file }, random);
  if (commit !== null) done.others.set(branch, [...(done.others.get(branch) ?? []), commit]);
}

interface AnothersCommit {
  repository: TortureRepository;
  branch: string;
  file: { path: string; content: string };
}

/** Commits to the branch and pushes, as any user does. Retries if the service was faster. Null: it never succeeded. */
export async function commitAsAnother(
  world: World,
  { repository, branch, file }: AnothersCommit,
  random: Random,
): Promise<string | null> {
  const { signal, scratch } = world.setup;
  const { cloneUrl, env } = repository;
  const clone = mkdtempSync(join(scratch, 'other-'));
  try {
    await git(clone, 'init', '--quiet');
    for (let tries = 0; tries < PUSH_TRIES; tries++) {
      try {
        await gitWith(clone, env, 'fetch', '--quiet', '--depth=1', '--', cloneUrl, `refs/heads/${branch}`);
        await git(clone, 'checkout', '--quiet', '--force', '--detach', 'FETCH_HEAD');
        mkdirSync(dirname(join(clone, file.path)), { recursive: true });
        writeFileSync(join(clone, file.path), file.content);
        await git(clone, 'add', '--all');
        await git(clone, 'commit', '--quiet', '--message', 'By another');
        await gitWith(clone, env, 'push', '--quiet', '--', cloneUrl, `HEAD:refs/heads/${branch}`);
        return await git(clone, 'rev-parse', 'HEAD');
      } catch {
        // The branch moved, or the service was killed meanwhile.
        await sleep(random.below(500), undefined, { signal });
      }
    }
    return null;
  } finally {
    rmSync(clone, { recursive: true, force: true });
  }
}

/**
 * Resolves when the branch holds the thread's newest source. A provider that failed is asked again after seconds,
 * then after minutes: a person who does not want to wait says `sync`.
 */
export async function current(world: World, thread: TortureThread, id: string): Promise<void> {
  const { signal } = world.setup;
  let seen: unknown;
  const from = performance.now();
  for (let looks = 1; performance.now() - from < CURRENT_LIMIT_MS; looks++) {
    const [{ thread: now }, { pullRequest }] = await Promise.all([
      read(world, `/api/threads/${thread.id}`),
      read(world, `${pullsOf(thread)}/${id}`),
    ]);
    seen = [pullRequest.push, pullRequest.headSourceId, now.latestSourceId];
    if (pullRequest.push.status === 'current' && pullRequest.headSourceId === now.latestSourceId) return;
    if (looks % LOOKS_BEFORE_SYNC === 0) await sync(world, thread, { id, key: `${id}-${from}-${looks}` });
    await sleep(250, undefined, { signal });
  }
  world.failures.push(`${id} of ${thread.id} did not become current: ${JSON.stringify(seen)}`);
}

/** Has the service look and push now. */
export async function sync(
  world: World,
  thread: TortureThread,
  { id, key }: { id: string; key: string },
): Promise<void> {
  const { status, text } = await write(world, {
    method: 'POST',
    path: `${pullsOf(thread)}/${id}/sync`,
    body: {},
    key: `torture-sync-${key}`,
  });
  if (status !== 202) world.failures.push(`${id}: sync: ${status} ${text.slice(0, 300)}`);
}
