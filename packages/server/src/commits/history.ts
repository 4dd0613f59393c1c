/** What the histories of two commits have in common. A shallow history is deepened until it is known, within bounds. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { GitError, runGit } from '../git/run-git.ts';
import type { Context } from '../context.ts';
import type { OpenRepository } from '../scm/index.ts';
import { openCache } from './cache.ts';
import { fetchCommit } from './fetch-commit.ts';

type Ctx = Pick<Context, 'config'>;

/** Commits of history that are fetched where fewer do not answer; beyond the last one the answer is no. */
const DEPTHS = [250, 1_000, 5_000];

/** Whether `ancestor` is `commit` or in its history. Both are in the cache. Throws ProviderError. */
export async function isAncestor(
  ctx: Ctx,
  repository: OpenRepository,
  ancestor: string,
  commit: string,
): Promise<boolean> {
  const { dir } = await openCache(ctx, repository);
  return (
    (await deepening(
      ctx,
      repository,
      [commit],
      async () => (await isKnownAncestor(dir, ancestor, commit)) || null,
    )) ?? false
  );
}

/** The best common ancestor of two commits of the cache; null where they have none. Throws ProviderError. */
export async function mergeBase(
  ctx: Ctx,
  repository: OpenRepository,
  one: string,
  other: string,
): Promise<string | null> {
  const { dir } = await openCache(ctx, repository);
  return deepening(ctx, repository, [one, other], async () => {
    const { output } = await runGit(dir, ['merge-base', one, other], { codes: [0, 1] });
    return output.toString('utf8').trim() || null;
  });
}

/** The same without a fetch: no where the history that is here does not say. */
export async function isKnownAncestor(dir: string, ancestor: string, commit: string): Promise<boolean> {
  const { code } = await runGit(dir, ['merge-base', '--is-ancestor', ancestor, commit], { codes: [0, 1] });
  return code === 0;
}

/**
 * Whether a commit is a proper ancestor of another, by what the cache has: false where that does not show it.
 * Asks no provider.
 */
export async function isBehind(
  ctx: Ctx,
  repository: OpenRepository,
  commitSha: string,
  other: string,
): Promise<boolean> {
  if (commitSha === other) return false;
  const { dir } = await openCache(ctx, repository);
  return isKnownAncestor(dir, commitSha, other).catch((error: unknown) => {
    if (error instanceof GitError) return false;
    throw error;
  });
}

async function deepening<T>(
  ctx: Ctx,
  repository: OpenRepository,
  tips: string[],
  ask: () => Promise<T | null>,
): Promise<T | null> {
  const { dir } = await openCache(ctx, repository);
  for (const depth of DEPTHS) {
    const answer = await ask();
    if (answer !== null || !(await isCutOff(dir, tips))) return answer;
    for (const commitSha of tips) await fetchCommit(ctx, repository, { commitSha, depth });
  }
  return ask();
}

/** Whether the history of one of these commits ends where a fetch ended, and not at a first commit. */
async function isCutOff(dir: string, tips: string[]): Promise<boolean> {
  const shallow = await readFile(join(dir, 'shallow'), 'utf8').catch(() => '');
  if (shallow === '') return false;
  const { output } = await runGit(dir, ['rev-list', '--max-parents=0', ...tips]);
  return output
    .toString('utf8')
    .split('\n')
    .some((end) => end !== '' && shallow.includes(end));
}

/** How many subjects of others' commits are shown, and how long one is read. */
const SUBJECTS = 20;
const SUBJECT_COLUMNS = 1_100;

/** The commits of `to`'s history that `from`'s does not have: their number, and the newest ones' subjects, oldest first. */
export async function commitsBetween(
  ctx: Ctx,
  repository: OpenRepository,
  from: string,
  to: string,
): Promise<{ count: number; subjects: string[] }> {
  const { dir } = await openCache(ctx, repository);
  const range = `${from}..${to}`;
  const [count, log] = await Promise.all([
    runGit(dir, ['rev-list', '--count', range]),
    runGit(dir, ['log', '-z', `--max-count=${SUBJECTS}`, `--format=%<(${SUBJECT_COLUMNS},trunc)%s`, range]),
  ]);
  const subjects = log.output.toString('utf8').split('\0').filter(Boolean);
  return {
    count: Number(count.output.toString('utf8')),
    subjects: subjects.map((one) => one.trimEnd()).toReversed(),
  };
}
