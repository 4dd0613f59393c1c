import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { P } from '../threads/threads.fixture.ts';

let s: TestServer;
let path: string;
const FILES = [
  { path: 'a.bin', content: 'AGhpdAo=', encoding: 'base64' },
  { path: 'b.ts', content: 'one hit\ntwo hits: hit\n' },
  { path: 'c.bin', content: 'AGhpdAo=', encoding: 'base64' },
  { path: 'd.md', content: 'before\r\na Hit\r\nafter\r\n' },
  { path: 'e.bin', content: 'AGhpdAo=', encoding: 'base64' },
  { path: 'f.txt', content: 'x'.repeat(4 * 1024 * 1024 + 1) },
];
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
  const { body } = await s.call('POST', `${P}/apps`, { name: 'Search' });
  const app = `${P}/apps/${body.app.id}`;
  const { source } = (await s.call('POST', `${app}/sources`, { files: FILES })).body;
  path = `${app}/sources/${source.id}/search`;
});
afterAll(() => s?.close());

const search = (query: Record<string, string>) =>
  s.call('GET', `${path}?${new URLSearchParams(query).toString()}`);

describe('200', () => {
  test('lines with their places and what is around them', async () => {
    const { status, body } = await search({
      q: 'hit',
      caseSensitive: 'false',
      context: '1',
      include: '*.md',
    });
    expect([status, body]).toEqual([
      200,
      {
        ok: true,
        matches: [
          {
            path: 'd.md',
            line: 2,
            column: 3,
            text: 'a Hit',
            ranges: [{ start: 2, end: 5 }],
            before: ['before'],
            after: ['after'],
            truncated: false,
          },
        ],
        nextCursor: null,
        hasMore: false,
        skipped: { binary: 0, tooLarge: 0 },
      },
    ]);
  });

  test('page by page, each skipped file on one of them', async () => {
    const pages: unknown[] = [];
    let query: Record<string, string> = { q: 'h[i]t', regex: 'true', caseSensitive: 'false', limit: '1' };
    for (let more = true; more;) {
      const { body } = await search(query);
      pages.push([body.matches.map((m: { path: string; line: number }) => [m.path, m.line]), body.skipped]);
      more = body.hasMore;
      query = { ...query, cursor: body.nextCursor };
    }
    expect(pages).toEqual([
      [[['b.ts', 1]], { binary: 1, tooLarge: 0 }],
      [[['b.ts', 2]], { binary: 0, tooLarge: 0 }],
      [[['d.md', 2]], { binary: 2, tooLarge: 1 }],
    ]);
  });
});

describe('400', () => {
  test.each<[Record<string, string>, string]>([
    [{ q: '(', regex: 'true' }, '/query/q'],
    [{ q: 'a\nb' }, '/query/q'],
    [{ q: 'a', include: 'src/[a' }, '/query/include'],
    [{ q: 'a', exclude: Array(21).fill('a').join(',') }, '/query/exclude'],
    [{ q: 'a', context: '11' }, '/query/context'],
  ])('%j', async (query, where) => {
    const { status, body } = await search(query);
    expect([status, body.error.code, body.error.fields[0].path]).toEqual([400, 'invalid_request', where]);
  });

  test('a cursor of another search', async () => {
    const { nextCursor: cursor } = (await search({ q: 'hit', limit: '1' })).body;
    const answers = await Promise.all([
      search({ q: 'hits', cursor }),
      search({ q: 'hit', include: '*.ts', cursor }),
      search({ q: 'hit', limit: '7', cursor }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([400, 400, 200]);
  });
});

test('404: a source of another app', async () => {
  const { body } = await s.call('POST', `${P}/apps`, { name: 'Other' });
  const { status, body: answer } = await s.call(
    'GET',
    `${path.replace(/apps\/\w+/, `apps/${body.app.id}`)}?q=a`,
  );
  expect([status, answer.error.code]).toEqual([404, 'source_not_found']);
});

describe('no room', () => {
  test('429 for an organization with too many searches, 503 where all have too many', async () => {
    const { searches, db } = s.service.ctx;
    const { id } = await db.selectFrom('organizations').select('id').executeTakeFirstOrThrow();
    const own = Array.from({ length: 8 }, () => searches.enter(id));
    const refused = await search({ q: 'hit' });
    expect([refused.status, refused.body.error.code, refused.headers.get('retry-after')]).toEqual([
      429,
      'rate_limited',
      '1',
    ]);
    for (const leave of own) leave();
    const others = Array.from({ length: 32 }, (_, i) => searches.enter(`org_${i}`));
    expect((await search({ q: 'hit' })).body.error.code).toBe('unavailable');
    for (const leave of others) leave();
    expect((await search({ q: 'hit' })).status).toBe(200);
  });
});
