import Type from 'typebox';
import { page } from '../http/cursors.ts';
import { invalid } from '../http/errors.ts';
import { read } from '../http/operation.ts';
import { ListQuery, Page } from '../http/schemas.ts';
import { loadTree } from './load-tree.ts';
import { loadNamedSource } from './policy.ts';
import { SearchMatch } from './schemas.ts';
import { GlobFault, globsPattern } from './search/globs.ts';
import { QueryFault, searchPage } from './search/page.ts';
import type { Match, PageRequest, SearchedPage } from './search/page.ts';

const MAX_CONTEXT = 10;
const Count = Type.Integer({ minimum: 0, examples: [0] });
const GLOBS =
  '`*`, `?` and `[…]` within a segment of a path, `**` over segments; a glob without `/` holds for names at any depth. Up to 20, separated by commas.';

function globs(name: 'include' | 'exclude', list: string | undefined): string | null {
  if (list === undefined) return null;
  try {
    return globsPattern(list);
  } catch (error) {
    if (error instanceof GlobFault) throw invalid({ path: `/query/${name}`, message: error.message });
    throw error;
  }
}

async function searched(ctx: Parameters<typeof searchPage>[0], request: PageRequest): Promise<SearchedPage> {
  try {
    return await searchPage(ctx, request);
  } catch (error) {
    if (error instanceof QueryFault) throw invalid({ path: '/query/q', message: error.message });
    throw error;
  }
}

/** A match's or a position's place: the file's index in the source, and the lines that are done. */
const keyOf = ({ index, line }: { index: number; line: number }) => `${index}:${line}`;

function positionOf(key: string | null): PageRequest['from'] {
  const [index, line] = (key ?? '0:0').split(':').map(Number);
  return { index: index!, line: line! };
}

export const searchSource = read({
  name: 'sources.searchSource',
  summary: 'Search in the files of a source',
  description:
    "One entry for each matching line, by path bytes, then by line. A page ends after two seconds, also with fewer matches than its limit or none: follow `nextCursor` while `hasMore`. Binary files (NUL in the first 8,000 bytes) and those over 4 MiB are skipped, and so is the rest of a file from a line on that takes a page's time; bytes that are not UTF-8 are read as U+FFFD. Time is linear in the bytes searched, whatever the expression. 429 `rate_limited` with more than 8 pages of the organization at a time in one process; 503 `unavailable` where no thread had time: retry after `Retry-After`.",
  access: { permissions: ['project:read'] },
  query: ListQuery({
    q: Type.String({
      minLength: 1,
      maxLength: 1000,
      pattern: '^[^\\n]*$',
      examples: ['TODO'],
      description: 'What a line contains: a text, or a regular expression with `regex`.',
    }),
    regex: Type.Optional(
      Type.Boolean({
        description:
          'true: `q` is a regular expression in the syntax of RE2, without look-around and back-references, matched against each line by itself.',
      }),
    ),
    caseSensitive: Type.Optional(Type.Boolean({ description: 'true by default.' })),
    include: Type.Optional(
      Type.String({ minLength: 1, examples: ['src/**,*.md'], description: `Only these files. ${GLOBS}` }),
    ),
    exclude: Type.Optional(
      Type.String({
        minLength: 1,
        examples: ['*.lock'],
        description: `Not these files; globs as in \`include\`.`,
      }),
    ),
    context: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: MAX_CONTEXT,
        default: 0,
        description: 'Lines before and after each match.',
      }),
    ),
  }),
  responses: {
    200: Type.Object({
      ...Page('matches', SearchMatch).properties,
      skipped: Type.Object(
        { binary: Count, tooLarge: Count },
        {
          description:
            'Files that were not searched, or from a line on not; each counts on one page. `tooLarge`: over 4 MiB, or with a line that takes longer than a page has time.',
        },
      ),
    }),
  },
  async handle(call) {
    const { ctx, query } = call;
    const { q, regex = false, caseSensitive = true, context = 0 } = query;
    const wanted = {
      q,
      regex,
      caseSensitive,
      context,
      include: globs('include', query.include),
      exclude: globs('exclude', query.exclude),
    };
    const since = Date.now();
    const source = await loadNamedSource(call);
    const leave = ctx.searches.enter(call.principal.orgId);
    try {
      const tree = await loadTree(ctx, source.id);
      let found: SearchedPage = { matches: [], skipped: [], rest: null };
      const { rows, ...rest } = await page(
        { secretKey: ctx.secretKey, query, scope: ['search', source.id, wanted] },
        async (after, limit) => {
          found = await searched(ctx, {
            orgId: call.principal.orgId,
            source: { id: source.id, projectId: source.project_id },
            tree,
            since,
            query: wanted,
            from: positionOf(after),
            limit,
            signal: call.signal,
          });
          return { rows: found.matches, readTo: found.rest && keyOf(found.rest) };
        },
        keyOf,
      );
      const matches = rows.map(({ match }) => match);
      return { status: 200, body: { ok: true, matches, ...rest, skipped: skippedBy(found, rows) } };
    } finally {
      leave();
    }
  },
});

/** Files behind the last line shown count on the next page. */
function skippedBy({ matches, skipped, rest }: SearchedPage, shown: readonly Match[]) {
  const end = shown.length < matches.length ? shown.at(-1)!.index : (rest?.index ?? Infinity);
  const count = (reason: 'binary' | 'tooLarge') =>
    skipped.filter((file) => file.reason === reason && file.index < end).length;
  return { binary: count('binary'), tooLarge: count('tooLarge') };
}
