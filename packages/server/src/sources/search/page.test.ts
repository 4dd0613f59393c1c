/** Pages over stored sources, with the threads that search. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { ProjectRow } from '../../db/schema.ts';
import { loadTree } from '../load-tree.ts';
import { repackProject } from '../repack/repack.job.ts';
import { makeProject, openTestContext, storeFiles } from '../sources.fixture.ts';
import type { TestContext } from '../sources.fixture.ts';
import { globsPattern } from './globs.ts';
import { searchPage } from './page.ts';
import type { PageRequest, SearchedPage } from './page.ts';
import { SearchPool } from './pool.ts';
import { QUERY, SLOW_GLOBS, slowPaths } from './search.fixture.ts';

let ctx: TestContext;
let close: () => Promise<void>;
const searches = new SearchPool();
beforeAll(async () => ({ ctx, close } = await openTestContext()));
afterAll(async () => {
  await searches.close();
  await close();
});

async function requestFor(
  project: ProjectRow,
  id: string,
  query: Partial<PageRequest['query']>,
): Promise<PageRequest> {
  return {
    orgId: project.org_id,
    source: { id, projectId: project.id },
    tree: await loadTree(ctx, id),
    query: { ...QUERY, ...query },
    from: { index: 0, line: 0 },
    limit: 1000,
    since: Date.now(),
    signal: new AbortController().signal,
  };
}
/** A query with any method, which is never answered: also its `then` does nothing. */
const hangingQuery = (): unknown => new Proxy({}, { get: () => hangingQuery });

const search = (request: PageRequest, changed: Partial<TestContext> = {}) =>
  searchPage({ ...ctx, ...changed, searches }, { ...request, since: Date.now() });

async function stored(files: Record<string, string | Buffer>, query: Partial<PageRequest['query']>) {
  const project = await makeProject(ctx);
  const { id } = await storeFiles(ctx, project, files);
  return requestFor(project, id, query);
}

describe('a page', () => {
  test('has the lines of thousands of files in order, from many frames', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 3_000 }, (_, i) => [`d${i % 7}/f${i}`, `${i}\nhit ${i}\n${'x'.repeat(900)}\n`]),
    );
    const request = { ...(await stored(files, { q: 'hit' })), limit: 700 };
    const found: string[] = [];
    for (let from: SearchedPage['rest'] = request.from; from;) {
      const { matches, rest }: SearchedPage = await search({ ...request, from });
      expect(matches.length).toBeLessThanOrEqual(700);
      found.push(...matches.map(({ match }) => `${match.path}:${match.line}`));
      from = rest;
    }
    const paths = Object.keys(files).sort();
    expect(found).toEqual(paths.map((path) => `${path}:2`));
  });

  test('asks the database once for the packs of a source', async () => {
    const request = await stored({ a: 'hit', b: 'hit' }, { q: 'hit' });
    expect((await search(request)).matches.length).toBe(2);
    const db = vi.fn(() => {
      throw new Error('the database was asked');
    });
    const silent = new Proxy(ctx.db, { get: db });
    expect((await search(request, { db: silent })).matches.length).toBe(2);
  });

  test('finds contents in the pack that replaced theirs', async () => {
    const project = await makeProject(ctx);
    let id = '';
    for (let version = 0; version < 33; version++)
      ({ id } = await storeFiles(ctx, project, { [`f${version}`]: `hit ${version}` }, id ? [id] : []));
    const request = await requestFor(project, id, { q: 'hit 32' });
    expect((await search(request)).matches.length).toBe(1);
    const keys = await ctx.db
      .selectFrom('objects')
      .select('key')
      .where('project_id', '=', project.id)
      .execute();
    await repackProject(ctx, {
      payload: { projectId: project.id },
      fence: async () => {},
      signal: new AbortController().signal,
    });
    for (const { key } of keys) await ctx.store.delete(key);
    const packs = await ctx.db
      .selectFrom('packs')
      .select('id')
      .where('project_id', '=', project.id)
      .execute();
    expect(packs.length).toBeLessThan(33);
    expect((await search(request)).matches.length).toBe(1);
  });

  test('is a fault of storage where a pack is damaged', async () => {
    const request = await stored({ a: 'hit '.repeat(1000) }, { q: 'hit' });
    const store = {
      ...ctx.store,
      getRange: async (...range: Parameters<TestContext['store']['getRange']>) => {
        const bytes = Buffer.from(await ctx.store.getRange(...range));
        bytes[bytes.length - 1]! ^= 1;
        return bytes;
      },
    };
    await expect(search(request, { store })).rejects.toMatchObject({ code: 'source_storage_unavailable' });
  });

  test('ends in two seconds, and a line that takes longer is left out by the next', async () => {
    const files = { a: 'ab\n', b: `${'a'.repeat(3_000_000)}\n`, c: 'ab\n' };
    const request = await stored(files, { q: 'a(.*x?){100}b|a', regex: true });
    const timed = async (from: PageRequest['from']) => {
      const began = Date.now();
      const page = await search({ ...request, from });
      expect(Date.now() - began).toBeLessThan(5_000);
      return { ...page, matches: page.matches.map(({ match }) => match.path) };
    };
    const first = await timed(request.from);
    expect(first).toEqual({ matches: ['a'], skipped: [], rest: { index: 1, line: 0 } });
    const second = await timed(first.rest!);
    expect(second).toEqual({
      matches: [],
      skipped: [{ index: 1, reason: 'tooLarge' }],
      rest: { index: 2, line: 0 },
    });
    expect(await timed(second.rest!)).toEqual({ matches: ['c'], skipped: [], rest: null });
  });

  test('has a line with the ranges that there was time for', async () => {
    const request = await stored({ a: `${'a'.repeat(400_000)}\n`, b: 'a' }, { q: 'a.*b|a', regex: true });
    const { matches, skipped } = await search(request);
    const [{ match }] = matches as [(typeof matches)[0]];
    expect([match.path, match.column, skipped]).toEqual(['a', 1, []]);
    expect(match.ranges.length).toBeGreaterThan(0);
    expect(match.ranges.length).toBeLessThan(100);
  });

  test('ends when its caller leaves', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 40 }, (_, i) => [`f${i}`, Buffer.alloc(1_000_000, `${i} ab `)]),
    );
    const request = await stored(files, { q: '(?:a?){20}a{20}|zz', regex: true });
    const left = new AbortController();
    const page = search({ ...request, signal: left.signal });
    left.abort();
    expect((await page).rest).not.toBe(null);
  });

  test('has no room where the database does not answer in time', async () => {
    const request = await stored({ a: 'hit' }, { q: 'hit' });
    const asked = vi.fn(() => hangingQuery);
    const db = new Proxy(ctx.db, { get: asked });
    await expect(search(request, { db })).rejects.toMatchObject({ code: 'unavailable' });
    expect(asked).toHaveBeenCalled();
  });

  test('ends at once for a caller that has left before', async () => {
    const request = await stored({ a: 'hit', b: 'hit' }, { q: 'hit' });
    const { matches, rest } = await search({ ...request, signal: AbortSignal.abort() });
    expect([matches, rest]).toEqual([[], { index: 0, line: 0 }]);
  });

  test('is found beside pages of another organization that have slow globs and slow lines', async () => {
    const names = slowPaths(3_000).map((name) => [name, 'hit']);
    const include = globsPattern(SLOW_GLOBS);
    const slowGlobs = await stored(Object.fromEntries(names), { q: 'hit', include });
    const slowLine = await stored({ a: `${'a'.repeat(3_000_000)}\n` }, { q: 'a(.*x?){100}b|a', regex: true });
    const quick = await stored({ a: 'hit' }, { q: 'hit', include: globsPattern('*') });
    const orgId = 'org_slow';
    const slow = [slowGlobs, slowGlobs, slowGlobs, slowGlobs, slowLine, slowLine, slowLine, slowLine];
    const pages = slow.map((request) => search({ ...request, orgId }).catch(() => {}));
    expect((await search(quick)).matches.length).toBe(1);
    await Promise.all(pages);
  });
});
