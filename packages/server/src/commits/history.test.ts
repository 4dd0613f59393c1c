import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Context } from '../context.ts';
import type { OpenRepository } from '../scm/index.ts';
import { makeDataFolder, openUpstream, Upstream } from './commits.fixture.ts';
import { fetchCommit } from './fetch-commit.ts';
import { commitsBetween, isAncestor, mergeBase } from './history.ts';

let upstream: Upstream, data: ReturnType<typeof makeDataFolder>;
/** Commits of `main`, oldest first, and a side branch that leaves at the third. */
const main: string[] = [];
let side: string, foreign: string;

beforeAll(() => {
  upstream = new Upstream();
  data = makeDataFolder();
  for (let i = 0; i < 12; i++) {
    main.push(upstream.commit({}, `Commit ${i}`));
    if (i === 3) upstream.git('branch', 'side');
  }
  upstream.git('checkout', '--quiet', 'side');
  side = upstream.commit({}, 'Aside');
  upstream.git('checkout', '--quiet', '--orphan', 'foreign');
  foreign = upstream.commit({}, 'x'.repeat(5000));
});
afterAll(() => {
  data.remove();
  upstream.remove();
});

/** A cache with these commits, each with two commits of history. */
async function cached(...tips: string[]): Promise<[Pick<Context, 'config'>, OpenRepository]> {
  const open = openUpstream(upstream);
  for (const commitSha of tips) await fetchCommit(data.ctx, open, { commitSha, depth: 2 });
  return [data.ctx, open];
}

test('an ancestor is found behind the end of a shallow history', async () => {
  const [ctx, open] = await cached(main[0]!, main[11]!);
  expect(await isAncestor(ctx, open, main[11]!, main[11]!)).toBe(true);
  expect(await isAncestor(ctx, open, main[0]!, main[11]!)).toBe(true);
  expect(await isAncestor(ctx, open, main[11]!, main[0]!)).toBe(false);
});

test('a commit of another branch is no ancestor, nor is one of another history', async () => {
  const [ctx, open] = await cached(side, foreign, main[11]!);
  expect(await isAncestor(ctx, open, side, main[11]!)).toBe(false);
  expect(await isAncestor(ctx, open, foreign, main[11]!)).toBe(false);
});

test('the merge base of two shallow histories is found', async () => {
  const [ctx, open] = await cached(side, foreign, main[11]!);
  expect(await mergeBase(ctx, open, main[11]!, side)).toBe(main[3]);
  expect(await mergeBase(ctx, open, main[11]!, foreign)).toBeNull();
});

test('what is between two commits: the number, and the newest subjects, oldest first', async () => {
  const [ctx, open] = await cached(main[9]!, main[11]!, foreign);
  expect(await isAncestor(ctx, open, main[8]!, main[11]!)).toBe(true);
  expect(await commitsBetween(ctx, open, main[9]!, main[11]!)).toEqual({
    count: 2,
    subjects: ['Commit 10', 'Commit 11'],
  });
  const { count, subjects } = await commitsBetween(ctx, open, main[9]!, foreign);
  expect(count).toBe(1);
  expect(subjects[0]!.length).toBeLessThan(1_200);
});
