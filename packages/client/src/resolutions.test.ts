import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compactResolutions, MAX_RESOLUTIONS } from './resolutions.ts';

type Resolutions = Parameters<typeof compactResolutions>[1];

/** What the service makes of them: the exact path first, then the longest folder. */
const meaningOf = (paths: readonly string[], sent: Resolutions) => {
  const longest = sent.toSorted((a, b) => b.path.length - a.path.length);
  return paths.map(
    (path) =>
      longest.find((one) => (one.path.endsWith('/') ? path.startsWith(one.path) : path === one.path))?.take,
  );
};
const all = (paths: readonly string[], takeOf: (path: string) => 'head' | 'draft') =>
  paths.map((path) => ({ path, take: takeOf(path) }));

test('a folder takes the side of most conflicts below it; the others have their own', () => {
  const paths = ['a/1', 'a/2', 'a/b/3', 'a/b/4', 'a/b/5', 'c', 'd/6'];
  const sent = compactResolutions(
    paths,
    all(paths, (path) => (path.startsWith('a/b/') ? 'draft' : 'head')),
  );
  expect(sent).toEqual([
    { path: 'c', take: 'head' },
    { path: 'a/', take: 'head' },
    { path: 'a/b/', take: 'draft' },
    { path: 'd/6', take: 'head' },
  ]);
});

test('a folder with an open conflict is not decided as a whole', () => {
  const paths = ['a/1', 'a/2', 'a/3/4', 'a/3/5'];
  const sent = compactResolutions(
    paths,
    all(['a/1', 'a/3/4', 'a/3/5'], () => 'head'),
  );
  expect(sent).toEqual([
    { path: 'a/1', take: 'head' },
    { path: 'a/3/', take: 'head' },
  ]);
});

test('where folders were of one side only, exceptions fit an apply', () => {
  const paths = Array.from({ length: 2 * MAX_RESOLUTIONS - 2 }, (_, i) => `flat/${i}.ts`);
  const sent = compactResolutions(
    paths,
    all(paths, (path) => (/[02468]\./.test(path) ? 'head' : 'draft')),
  );
  expect(sent.length).toBe(MAX_RESOLUTIONS);
});

const path = fc
  .array(fc.constantFrom('a', 'b', 'C', 'é', 'x.ts'), { minLength: 1, maxLength: 5 })
  .map((parts) => parts.join('/'));
const decided = fc.array(fc.tuple(path, fc.constantFrom('head', 'draft', null)), { maxLength: 30 });

test('they mean the same, and are never more', () => {
  fc.assert(
    fc.property(decided, (list) => {
      const takes = new Map(list);
      const paths = [...takes.keys()];
      const resolutions = [...takes].flatMap(([path, take]) => (take ? [{ path, take }] : []));
      const sent = compactResolutions(paths, resolutions);
      expect(meaningOf(paths, sent)).toEqual(paths.map((path) => takes.get(path) ?? undefined));
      expect(sent.length).toBeLessThanOrEqual(resolutions.length);
    }),
  );
});
