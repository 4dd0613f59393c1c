/**
 * Values of the right shape that a rule behind the schema refuses: bundles, archives, paths, times, event
 * types, states that contradict each other.
 */
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import type { Random } from '../../../harness/random.ts';
import type { Operation } from '../document.ts';
import type { Json, JsonObject } from '../sample.ts';
import { requestOf } from '../specimen.ts';
import type { Specimen } from '../specimen.ts';
import type { Broken, Mutation } from './mutation.ts';

const BAD_PATHS = [
  '../a',
  'a/../b',
  './a',
  'a/.',
  '/a',
  'a/',
  'a//b',
  'C:/a',
  'a\\b',
  '.git/config',
  'a/.GIT/x',
  '.git./x',
  '.context/a',
  '.Hoplite',
  'git~1/a',
  '.gi\u200bt/a',
  'a\u0001',
  'a\u007f',
  `${'x'.repeat(256)}/a`,
  'é'.repeat(128),
  '\u0085',
];
const BAD_BASE64 = ['a', 'a===', 'YQ', 'YQ=', 'Y Q==', 'YR==', 'Y-_=', '!!!!'];
const COLLISIONS = [
  ['a', 'A'],
  ['é', 'e\u0301'],
  ['a', 'a/b'],
  ['Docs', 'docs/b'],
  ['ß', 'SS'],
  ['same', 'same'],
];
const NO_TIMES = ['2026-13-01', '2026-01-32', '2026-01-31T25:00:00Z', '2026-01-31T10:60Z'];

const refused = (specimen: Specimen, code: string, at: string[]): Broken => ({
  request: requestOf(specimen),
  operation: specimen.operation,
  status: [400],
  code: [code],
  at,
});
const withBody = (
  specimen: Specimen,
  body: Record<string, Json | undefined>,
  code: string,
  ...at: string[]
) =>
  refused(
    { ...specimen, body: JSON.parse(JSON.stringify({ ...specimen.body, ...body })) as JsonObject },
    code,
    at,
  );
const withQuery = (specimen: Specimen, query: Record<string, string>, ...at: string[]) =>
  refused({ ...specimen, query: { ...specimen.query, ...query } }, 'invalid_request', at);
const isOne =
  (...bases: string[]) =>
  ({ base }: Operation) =>
    bases.includes(base);

type Entry = Parameters<ReturnType<typeof pack>['entry']>[0];
const file = (name: string, more: Partial<Entry> = {}): { header: Entry; content: Buffer } => ({
  header: { name, ...more },
  content: more.type && more.type !== 'file' ? Buffer.alloc(0) : Buffer.alloc(more.size ?? 1, 'a'),
});

async function tarGz(...entries: { header: Entry; content: Buffer }[]): Promise<Buffer> {
  const tar = pack();
  for (const { header, content } of entries) tar.entry(header, content);
  tar.finalize();
  const parts: Buffer[] = [];
  for await (const part of tar) parts.push(part as Buffer);
  return gzipSync(Buffer.concat(parts));
}

const MIB = 1024 * 1024;

/** 160 MiB of nothing in 160 KB; made once, which takes a second. */
let bomb: Buffer | undefined;

/** An archive and the place where it breaks a rule. */
async function badArchive(random: Random): Promise<{ gzip: Buffer; at: string }> {
  const good = file('good');
  switch (random.below(7)) {
    case 0:
      return {
        gzip: await tarGz(good, file('link', { type: 'symlink', linkname: '/etc/passwd' })),
        at: '/files/1/path',
      };
    case 1:
      return {
        gzip: await tarGz(
          file('folder/', { type: 'directory' }),
          file('hard', { type: 'link', linkname: 'good' }),
        ),
        at: '/files/1/path',
      };
    case 2:
      return {
        gzip: await tarGz(good, file(random.pick(['../up', '/absolute', '.git/config', 'a/../b']))),
        at: '/files/1/path',
      };
    case 3:
      return { gzip: await tarGz(good, file('GOOD')), at: '/files/1/path' };
    case 4:
      return { gzip: await tarGz(file('large', { size: 8 * MIB + 1 })), at: '/files/0/content' };
    case 5:
      return { gzip: await tarGz(good).then((whole) => whole.subarray(0, whole.length - 12)), at: '/files' };
    default:
      return { gzip: (bomb ??= gzipSync(Buffer.alloc(160 * MIB))), at: '/files' };
  }
}
export const RULE_MUTATIONS: Mutation[] = [
  {
    name: 'a bundle that breaks a rule',
    weight: 6,
    fits: isOne('sources.importSource'),
    apply: (drawn, random) => {
      // Without the members of an import by changes.
      const specimen = { ...drawn, body: {} };
      const good = { path: 'good', content: '' };
      const at = random.below(3);
      const place = random.below(3);
      const bundle = (bad: JsonObject) =>
        [good, { path: 'other', content: '' }].toSpliced(at, 0, bad as never);
      if (place === 0)
        return withBody(
          specimen,
          { files: bundle({ path: random.pick(BAD_PATHS), content: '' }) },
          'invalid_bundle',
          `/files/${at}/path`,
        );
      if (place === 1)
        return withBody(
          specimen,
          { files: bundle({ path: 'bad', content: random.pick(BAD_BASE64), encoding: 'base64' }) },
          'invalid_bundle',
          `/files/${at}/content`,
        );
      return withBody(
        specimen,
        { files: random.pick(COLLISIONS).map((path) => ({ path, content: '' })) },
        'invalid_bundle',
        '/files/1/path',
      );
    },
  },
  {
    name: 'an archive that breaks a rule',
    weight: 3,
    fits: isOne('sources.importSource'),
    apply: async (specimen, random) => {
      const { gzip, at } = await badArchive(random);
      return refused({ ...specimen, query: {}, body: undefined, gzip }, 'invalid_bundle', [at]);
    },
  },
  {
    name: 'an edit that breaks a rule',
    weight: 6,
    fits: isOne('edits.createEdit'),
    apply: (specimen, random) =>
      random.pick([
        () =>
          withBody(
            specimen,
            {
              changes: [
                { path: 'good', content: '' },
                { path: random.pick(BAD_PATHS), content: '' },
              ],
            },
            'invalid_bundle',
            '/changes/1/path',
          ),
        () =>
          withBody(
            specimen,
            { changes: [{ path: 'good', renameFrom: random.pick(BAD_PATHS) }] },
            'invalid_bundle',
            '/changes/0/renameFrom',
          ),
        () =>
          withBody(
            specimen,
            {
              changes: [
                { path: 'same', content: '' },
                { path: 'same', executable: true },
              ],
            },
            'invalid_bundle',
            '/changes/1/path',
          ),
        () =>
          withBody(
            specimen,
            { changes: [{ path: 'a', content: random.pick(BAD_BASE64), encoding: 'base64' }] },
            'invalid_bundle',
            '/changes/0/content',
          ),
        () =>
          withBody(
            specimen,
            { changes: [{ path: 'a', content: null, renameFrom: 'b' }] },
            'invalid_request',
            '/changes/0/renameFrom',
          ),
        () => withBody(specimen, { changes: [{ path: 'a' }] }, 'invalid_request', '/changes/0/content'),
      ])(),
  },
  {
    name: 'an output directory that is no path',
    fits: isOne('builds.createBuild', 'builds.createAppBuild'),
    apply: (specimen, random) =>
      withBody(specimen, { outputDirectory: random.pick(BAD_PATHS) }, 'invalid_request', '/outputDirectory'),
  },
  {
    name: 'resolutions of no head',
    fits: isOne('applies.createApply', 'applies.previewApply'),
    apply: (specimen) =>
      withBody(
        specimen,
        { resolutions: [{ path: 'a', take: 'head' }], expectedHeadSourceId: undefined },
        'invalid_request',
        '/expectedHeadSourceId',
      ),
  },
  {
    name: 'archived and ready',
    fits: isOne('threads.updateThread'),
    apply: (specimen, random) => {
      const archived = random.next() < 0.5;
      return withBody(
        specimen,
        { archived, status: archived ? 'ready' : 'archived' },
        'invalid_request',
        '/status',
      );
    },
  },
  {
    name: 'a time that is none',
    fits: isOne('usage.readUsage'),
    apply: (specimen, random) => {
      const name = random.pick(['from', 'to']);
      return withQuery(specimen, { [name]: random.pick(NO_TIMES) }, `/query/${name}`);
    },
  },
  {
    name: 'unknown event types',
    fits: ({ query }) => query.some(({ name }) => name === 'types'),
    apply: (specimen, random) =>
      withQuery(
        specimen,
        {
          types: random.pick([
            'none',
            'thread.updated,none',
            'thread.updated,',
            ',',
            'Thread.Updated',
            'thread.*',
            'thread.updated, run.completed',
          ]),
        },
        '/query/types',
      ),
  },
];
