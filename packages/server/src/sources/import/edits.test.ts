import { BUNDLE_LIMITS } from '../../trees/limits.ts';
import { describe, expect, test } from 'vitest';
import { applyChanges, parseEdit } from './edits.ts';
import { manifestOf, sha256Of } from '../../trees/manifest.ts';

const MIB = 1024 * 1024;
const entry = (path: string, content: string, executable = false) => ({
  path,
  sha256: sha256Of(Buffer.from(content)),
  byteSize: content.length,
  executable,
});
const base = manifestOf([entry('README.md', 'r'), entry('src/a.txt', 'a'), entry('run.sh', 'run', true)]);
const parse = (changes: unknown, further: object = {}) =>
  parseEdit(Buffer.from(JSON.stringify({ expectedSourceId: 'src_1', changes, ...further })), BUNDLE_LIMITS);

function edit(changes: unknown) {
  const parsed = parse(changes);
  const result = parsed.ok ? applyChanges(base, parsed.changes, BUNDLE_LIMITS) : parsed;
  if (!result.ok) return [result.code, ...result.fields.map((f) => f.path)];
  return Object.fromEntries([...result.manifest].map(([path, e]) => [path, [e.sha256, e.executable]]));
}
const has = (content: string, executable = false) => [sha256Of(Buffer.from(content)), executable];
const kept = { 'README.md': has('r'), 'src/a.txt': has('a'), 'run.sh': has('run', true) };
const without = (...paths: string[]) =>
  Object.fromEntries(Object.entries(kept).filter(([path]) => !paths.includes(path)));

test.each<[string, unknown[], object]>([
  ['a new file', [{ path: 'n', content: 'n', executable: true }], { ...kept, n: has('n', true) }],
  [
    'new content keeps the bit',
    [{ path: 'run.sh', content: 'new' }],
    { ...kept, 'run.sh': has('new', true) },
  ],
  ['the bit alone', [{ path: 'README.md', executable: true }], { ...kept, 'README.md': has('r', true) }],
  ['a deletion', [{ path: 'README.md', content: null }], without('README.md')],
  [
    'a rename',
    [{ path: 'bin/run', renameFrom: 'run.sh' }],
    { ...without('run.sh'), 'bin/run': has('run', true) },
  ],
  [
    'a rename with new content and mode',
    [{ path: 'b', renameFrom: 'run.sh', content: 'c', executable: false }],
    { ...without('run.sh'), b: has('c') },
  ],
  [
    'a rename in case',
    [{ path: 'readme.md', renameFrom: 'README.md' }],
    { ...without('README.md'), 'readme.md': has('r') },
  ],
  [
    'in order: a file where a folder was',
    [
      { path: 'src/a.txt', content: null },
      { path: 'src', content: 'f' },
    ],
    { ...without('src/a.txt'), src: has('f') },
  ],
  [
    'in order: new content at a place that a rename freed',
    [
      { path: 'b', renameFrom: 'README.md' },
      { path: 'README.md', content: 'n' },
    ],
    { ...kept, b: has('r'), 'README.md': has('n') },
  ],
  ['base64', [{ path: 'n', content: 'YQ==', encoding: 'base64' }], { ...kept, n: has('a') }],
])('%s', (_what, changes, files) => expect(edit(changes)).toEqual(files));

const good = { path: 'good.txt', content: 'g' };
test.each<[string, unknown[], string[]]>([
  [
    'bad paths',
    [
      good,
      { path: '../x', content: 'x' },
      { path: '', content: 'x' },
      { path: '.git/a', content: '!', encoding: 'base64' },
    ],
    ['/changes/1/path', '/changes/2/path', '/changes/3/path', '/changes/3/content'],
  ],
  ['another case', [good, { path: 'readme.MD', content: 'x' }], ['/changes/1/path']],
  ['a file where a folder is', [good, { path: 'src', content: 'x' }], ['/changes/1/path']],
  ['a folder where a file is', [{ path: 'README.md/x', content: 'x' }, good], ['/changes/0/path']],
  [
    'an unknown path deleted, renamed, made executable',
    [
      { path: 'none', content: null },
      { path: 'n', renameFrom: 'nope' },
      { path: 'm', executable: true },
    ],
    ['/changes/0/path', '/changes/1/renameFrom', '/changes/2/path'],
  ],
  [
    'a rename onto a file or itself',
    [
      { path: 'README.md', renameFrom: 'src/a.txt' },
      { path: 'run.sh', renameFrom: 'run.sh' },
    ],
    ['/changes/0/path', '/changes/1/path'],
  ],
  [
    'a file renamed twice',
    [
      { path: 'x', renameFrom: 'README.md' },
      { path: 'y', renameFrom: 'README.md' },
    ],
    ['/changes/1/renameFrom'],
  ],
  ['a path named twice', [good, { path: 'good.txt', content: null }], ['/changes/1/path']],
  [
    'too many bytes',
    Array.from({ length: 5 }, (_, i) => ({ path: `p${i}`, content: 'x'.repeat(7 * MIB) })),
    ['/changes'],
  ],
  ['too many files', Array.from({ length: 9_998 }, (_, i) => ({ path: `p${i}`, content: '' })), ['/changes']],
  [
    'a rename from what cannot be a path',
    ['a\0b', '\ud800', 'x'.repeat(1025), '../x'].map((renameFrom, i) => ({ path: `p${i}`, renameFrom })),
    [0, 1, 2, 3].map((i) => `/changes/${i}/renameFrom`),
  ],
  [
    'NUL and lone surrogates',
    [
      { path: 'a\0', content: 'fine\0' },
      { path: 'b', content: '\ud800' },
    ],
    ['/changes/0/path', '/changes/1/content'],
  ],
])('invalid_bundle: %s', (_what, changes, paths) =>
  expect(edit(changes)).toEqual(['invalid_bundle', ...paths]),
);

test('an unknown path to be renamed is told of when the source is there, one that breaks a rule before', () => {
  expect(parse([{ path: 'a', renameFrom: 'none' }])).toMatchObject({ ok: true });
  expect(parse([{ path: 'a', renameFrom: 'no\0ne' }])).toMatchObject({
    ok: false,
    fields: [{ path: '/changes/0/renameFrom' }],
  });
});

test('an expected source is measured in code points', () => {
  expect(parse([good], { expectedSourceId: '🙂'.repeat(128) })).toMatchObject({ ok: true });
  expect(parse([good], { expectedSourceId: '🙂'.repeat(129) })).toMatchObject({
    ok: false,
    fields: [{ path: '/expectedSourceId' }],
  });
});

describe('invalid_request', () => {
  test.each<[string, unknown, object, string[]]>([
    ['no changes', [], {}, ['/changes']],
    [
      'too many',
      Array.from({ length: 10_001 }, (_, i) => ({ path: `p${i}`, content: '' })),
      {},
      ['/changes'],
    ],
    ['no list', 'x', {}, ['/changes']],
    [
      'all together',
      [
        good,
        { path: 5, content: 5, surprise: 1 },
        { path: 'b', content: 'x', encoding: 'latin1' },
        { path: 'c' },
        7,
        { path: 'd', content: null, renameFrom: 'e' },
      ],
      { expectedSourceId: '', more: 1 },
      [
        '/expectedSourceId',
        '/more',
        '/changes/1/path',
        '/changes/1/content',
        '/changes/1/surprise',
        '/changes/2/encoding',
        '/changes/3/content',
        '/changes/4',
        '/changes/5/renameFrom',
      ],
    ],
    ['nothing expected', [good], { expectedSourceId: undefined }, ['/expectedSourceId']],
  ])('%s', (_what, changes, further, paths) => {
    const result = parse(changes, further);
    if (result.ok) throw new Error('accepted');
    expect([result.code, result.fields.map((f) => f.path).toSorted()]).toEqual([
      'invalid_request',
      paths.toSorted(),
    ]);
  });
});

test('a message begins with the path that is wrong', () => {
  const wrong = [
    { path: 'a/../b', content: 'x' },
    { path: 'n', renameFrom: 'none\u0001' },
  ];
  const parsed = parse(wrong);
  expect(!parsed.ok && parsed.fields.map((f) => f.message)).toEqual([
    '"a/../b" must not contain "." or ".." as a part',
    '"none\\u0001" must not contain control characters',
  ]);
  const missing = parse([{ path: 'n', renameFrom: 'none' }]);
  const result = missing.ok ? applyChanges(base, missing.changes, BUNDLE_LIMITS) : missing;
  expect(!result.ok && result.fields).toEqual([
    { path: '/changes/0/renameFrom', message: '"none" is not the path of a file' },
  ]);
});

test('what an edit may bring, and leave, is bounded by the limits of its project', () => {
  const limits = { files: 3, bytes: 20, fileBytes: 12 };
  const at = (changes: unknown) => {
    const parsed = parseEdit(Buffer.from(JSON.stringify({ expectedSourceId: 'src_1', changes })), limits);
    const result = parsed.ok ? applyChanges(base, parsed.changes, limits) : parsed;
    return result.ok ? [...result.manifest.keys()] : result.fields.map((f) => `${f.path} ${f.message}`);
  };
  expect(at([{ path: 'src/a.txt', content: 'twelve bytes' }])).toEqual(['README.md', 'run.sh', 'src/a.txt']);
  expect(at([{ path: 'src/a.txt', content: 'over 12 bytes' }])).toEqual([
    '/changes/0/content "src/a.txt" must not be larger than 12 bytes',
  ]);
  expect(at([{ path: 'n', content: '' }])).toEqual(['/changes A source holds at most 3 files.']);
  expect(
    at([
      { path: 'src/a.txt', content: 'twelve bytes' },
      { path: 'run.sh', content: 'seven b' },
      { path: 'README.md', content: 'two' },
    ]),
  ).toEqual(['/changes A source holds at most 20 bytes in all.']);
});
