import { describe, expect, test } from 'vitest';
import { parseJsonImport } from './json-import.ts';
import { manifestOf, sha256Of, sourceSha256 } from '../../trees/manifest.ts';

const MIB = 1024 * 1024;
const parse = (body: unknown) =>
  parseJsonImport(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)));
const refusal = (body: unknown) => {
  const result = parse(body);
  if (result.ok) throw new Error('accepted');
  return [result.code, ...result.fields.map((f) => f.path)];
};
const at = (path: string, content = 'x') => ({ path, content });
const accepted = (body: unknown) => {
  const result = parse(body);
  if (!('files' in result)) throw new Error(JSON.stringify(result));
  return result;
};

describe('a good bundle', () => {
  test('gives bytes, hashes and modes', () => {
    const all = Buffer.from(Array.from({ length: 256 }, (_, i) => i));
    const bundle = accepted({
      files: [
        at('a', 'a\0ü\ufeff'),
        { path: 'all.bin', content: all.toString('base64'), encoding: 'base64', executable: true },
        at('empty', ''),
      ],
      message: 'm',
      parentSourceId: 'src_1',
    });
    expect(bundle.files).toEqual([
      {
        path: 'a',
        bytes: Buffer.from('a\0ü\ufeff'),
        sha256: sha256Of(Buffer.from('a\0ü\ufeff')),
        executable: false,
      },
      { path: 'all.bin', bytes: all, sha256: sha256Of(all), executable: true },
      { path: 'empty', bytes: Buffer.alloc(0), sha256: sha256Of(Buffer.alloc(0)), executable: false },
    ]);
    expect([bundle.message, bundle.parentSourceId]).toEqual(['m', 'src_1']);
  });
  test('may be empty', () =>
    expect(sourceSha256(manifestOf(accepted({ files: [] }).files.map((f) => ({ ...f, byteSize: 0 }))))).toBe(
      sha256Of(Buffer.alloc(0)),
    ));
  test('may hold exactly 8 MiB a file and 32 MiB in all', () => {
    expect(
      accepted({ files: [0, 1, 2, 3].map((i) => at(`p${i}`, String(i).repeat(8 * MIB))) }).files,
    ).toHaveLength(4);
    expect(
      accepted({
        files: [{ path: 'p', content: Buffer.alloc(8 * MIB).toString('base64'), encoding: 'base64' }],
      }).files,
    ).toHaveLength(1);
  });
});

describe('the fingerprint', () => {
  const digest = (body: unknown) => accepted(body).fingerprint.toString('hex');
  test('does not depend on the order of keys or on white space', () => {
    expect(digest('{"files":[{"path":"a","content":"x","executable":true}],"message":"m"}')).toBe(
      digest('{ "message" : "m", "files": [ {"executable":true, "content":"\\u0078", "path":"a"} ] }'),
    );
  });
  test.each<[unknown, unknown]>([
    [{ files: [at('a')] }, { files: [at('b')] }],
    [{ files: [at('a')] }, { files: [at('a', 'y')] }],
    [{ files: [at('a'), at('b')] }, { files: [at('b'), at('a')] }],
    [{ files: [at('a')] }, { files: [{ ...at('a'), executable: false }] }],
    [{ files: [at('a', 'YQ==')] }, { files: [{ ...at('a', 'YQ=='), encoding: 'base64' }] }],
    [{ files: [] }, { files: [], message: '' }],
    [
      { files: [], message: 'x' },
      { files: [], parentSourceId: 'x' },
    ],
  ])('differs for %j and %j', (a, b) => expect(digest(a)).not.toBe(digest(b)));
});

describe('changes to a source', () => {
  const changes = [{ path: 'a', content: 'a\0' }];
  test('are read as those of an edit', () => {
    expect(parse({ baseSourceId: 'src_1', changes, message: 'm' })).toMatchObject({
      ok: true,
      baseSourceId: 'src_1',
      message: 'm',
      changes: [{ path: 'a', content: { bytes: Buffer.from('a\0') } }],
    });
  });
  test.each<[string, object, string[]]>([
    ['without a base', { changes }, ['/baseSourceId']],
    ['without changes', { baseSourceId: 'src_1' }, ['/changes']],
    ['none', { baseSourceId: 'src_1', changes: [] }, ['/changes']],
    [
      'beside files',
      { baseSourceId: 'src_1', changes, files: [], parentSourceId: 'src_1' },
      ['/files', '/parentSourceId'],
    ],
    [
      'as an edit names its source',
      { expectedSourceId: 'src_1', changes },
      ['/baseSourceId', '/expectedSourceId'],
    ],
  ])('%s', (_what, body, paths) => {
    const [code, ...fields] = refusal(body);
    expect([code, fields.toSorted()]).toEqual(['invalid_request', paths]);
  });
  test('break the rules for bundles at their places', () =>
    expect(
      refusal({
        baseSourceId: 'src_1',
        changes: [...changes, { path: '../a', content: '' }, { path: 'a', content: '\ud800' }],
      }),
    ).toEqual(['invalid_bundle', '/changes/1/path', '/changes/2/content', '/changes/2/path']));
});

describe('invalid_request', () => {
  test.each<[string, unknown, string[]]>([
    ['no JSON', '{', ['']],
    ['an array', [], ['', '/files'].slice(0, 1)],
    ['null', null, ['']],
    ['no files', {}, ['/files']],
    ['files that are an object', { files: { a: 'b' } }, ['/files']],
    [
      'all faults together',
      {
        files: [
          { content: 'a' },
          { path: 1, content: null },
          'x',
          { ...at('a'), mode: 1, encoding: 'hex', executable: 'yes' },
        ],
        branch: 'b',
        message: 5,
        parentSourceId: '',
      },
      [
        '/branch',
        '/message',
        '/parentSourceId',
        '/files/0/path',
        '/files/1/path',
        '/files/1/content',
        '/files/2',
        '/files/3/mode',
        '/files/3/encoding',
        '/files/3/executable',
      ],
    ],
    ['a member given twice', '{"files":[{"path":"a","path":"b","content":"x"}]}', ['/files/0/path']],
    ['NUL elsewhere', { files: [], message: 'a\0' }, ['/message']],
    ['a lone surrogate elsewhere', { files: [], message: '\ud800' }, ['/message']],
    [
      'a __proto__ member',
      '{"files":[{"path":"a","content":"x","__proto__":{}}],"__proto__":1}',
      ['/__proto__', '/files/0/__proto__'],
    ],
    ['members of Object.prototype', '{"files":[],"constructor":1}', ['/constructor']],
    ['shape goes before rules', { files: [at('../a'), { path: 'b' }] }, ['/files/1/content']],
  ])('%s', (_what, body, paths) => {
    const [code, ...fields] = refusal(body);
    expect([code, fields.toSorted()]).toEqual(['invalid_request', paths.toSorted()]);
  });
});

describe('invalid_bundle', () => {
  test.each([
    'YQ',
    'YQ=',
    'YQ==\n',
    ' YQ==',
    'YWJj ZGVm',
    '-_8=',
    'YR==',
    '====',
    '=',
    'Y*==',
    'YWJjZA',
    'YQ==YQ==',
    'YWJ=',
  ])('base64 %j', (content) => {
    expect(refusal({ files: [at('ok'), { path: 'a', content, encoding: 'base64' }] })).toEqual([
      'invalid_bundle',
      '/files/1/content',
    ]);
  });
  test.each<[string, unknown[], string[]]>([
    [
      'every wrong file in order',
      [
        at('../a'),
        at('ok'),
        { path: 'c', content: '!', encoding: 'base64' },
        at('OK'),
        at('.git/x', '\ud800'),
      ],
      ['/files/0/path', '/files/2/content', '/files/3/path', '/files/4/path', '/files/4/content'],
    ],
    ['NUL and lone surrogates in a path', [at('a\0'), at('\udfff')], ['/files/0/path', '/files/1/path']],
    [
      'a lone surrogate in base64',
      [{ path: 'a', content: '\ud800', encoding: 'base64' }],
      ['/files/0/content'],
    ],
    ['a bad path collides with nothing', [at('./a'), at('a'), at('a/')], ['/files/0/path', '/files/2/path']],
    ['a file over 8 MiB in bytes', [at('w', 'ü'.repeat(4 * MIB + 1))], ['/files/0/content']],
    [
      'a file over 8 MiB in base64',
      [{ path: 'w', content: Buffer.alloc(8 * MIB + 1).toString('base64'), encoding: 'base64' }],
      ['/files/0/content'],
    ],
    [
      'more than 32 MiB',
      [0, 1, 2, 3, 4].map((i) => at(`p${i}`, 'x'.repeat(i < 4 ? 8 * MIB : 1))),
      ['/files'],
    ],
    ['more than 10,000 files', Array.from({ length: 10_001 }, (_, i) => at(`f${i}`)), ['/files']],
    [
      'names among more than 10,000 files, up to 20,000',
      Array.from({ length: 20_001 }, (_, i) => at(i === 0 || i > 19_998 ? `../${i}` : `f${i}`)),
      ['/files', '/files/0/path', '/files/19999/path'],
    ],
  ])('%s', (_what, files, paths) => expect(refusal({ files })).toEqual(['invalid_bundle', ...paths]));
  test('a message begins with the path', () => {
    const result = parse({ files: [at('a/../b'), { path: 'c', content: '!', encoding: 'base64' }] });
    expect(!result.ok && result.fields.map((f) => f.message)).toEqual([
      '"a/../b" must not contain "." or ".." as a part',
      '"c" must be canonical base64 with padding',
    ]);
  });
  test('100 of more', () => {
    const [, ...paths] = refusal({
      files: Array.from({ length: 260 }, (_, i) => at(i % 2 ? `../up${i}` : `ok${i}`)),
    });
    expect(paths).toEqual(Array.from({ length: 100 }, (_, i) => `/files/${i * 2 + 1}/path`));
  });
});
