import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_DEPTH, parseStrictJson } from './strict-json.ts';

const parse = (text: string | number[]) =>
  parseStrictJson(typeof text === 'string' ? Buffer.from(text) : Buffer.from(text));
const faultsOf = (text: string) => parse(text).faults.map((f) => `${f.kind} ${f.path}`);

describe('what is no JSON throws', () => {
  test.each([
    '',
    ' ',
    '{',
    '{"name":',
    '{"name":"x"',
    '{name:"x"}',
    "{'name':'x'}",
    '{"name":"x",}',
    '{"name":"x"}}',
    'name=x',
    '{"name":"a\nb"}',
    '{"name":NaN}',
    '\0',
    '{"name":"\\x41"}',
    '"',
    '"\\',
    '\ufeff{}',
    '[1,]',
    '01',
    '"\\u12"',
  ])('%j', (text) => expect(() => parse(text)).toThrow(SyntaxError));
  test.each(
    [[0xff], [0xc3, 0x28], [0xed, 0xa0, 0x80], [0xc0, 0xaf], [0xf5, 0x80, 0x80, 0x80]].map((b) => [b]),
  )('bytes %j in a string', (bytes) => {
    expect(() => parse([0x22, ...bytes, 0x22])).toThrow(/UTF-8/);
  });
  test('the message does not quote the body', () =>
    expect(() => parse('{"password":"secret"')).toThrow(/^The body is not valid JSON\.$/));
  test('an import-sized run of brackets is refused without a deep stack', () => {
    for (const text of [
      '['.repeat(200_000) + ']'.repeat(200_000),
      `${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`,
      `{"a":${'['.repeat(MAX_DEPTH)}${']'.repeat(MAX_DEPTH)},"a":1}`,
    ]) {
      expect(() => parse(text)).toThrow(/deeper/);
    }
    expect(parse('['.repeat(MAX_DEPTH) + ']'.repeat(MAX_DEPTH)).faults).toEqual([]);
    expect(parse(`"${'['.repeat(1000)}"`).faults).toEqual([]);
  });
});

test('what would take minutes and gigabytes is refused at once', () => {
  const started = performance.now();
  for (const part of ['{},', '0,', '"",', '{"a":1,"a":1},'])
    expect(() => parse(`[${part.repeat(2_000_000)}0]`)).toThrow(/more than 500000 values/);
  expect(performance.now() - started).toBeLessThan(3_000);
});

describe('faults by place', () => {
  test.each<[string, string[]]>([
    ['{"a":1,"a":1}', ['duplicate_member /a']],
    ['{"a":1,"\\u0061":2}', ['duplicate_member /a']],
    ['{"a":{"k":"v","k":"w"}}', ['duplicate_member /a/k']],
    ['[{},{"x":[1,{"y":1,"y":2,"y":3}]}]', ['duplicate_member /1/x/1/y', 'duplicate_member /1/x/1/y']],
    ['{"a/b~":{"c":1,"c":1}}', ['duplicate_member /a~1b~0/c']],
    ['{"a":"b","a":{"c":["d","e"]}}', ['duplicate_member /a']],
    ['{"a":["x","a"],"b":{"a":1},"a":"{\\"b\\":1,\\"b\\":2}"}', ['duplicate_member /a']],
    ['{"":1,"":2}', ['duplicate_member /']],
    ['{"__proto__":{"x":1},"__proto__":2}', ['duplicate_member /__proto__']],
    ['{"a\\\\":1,"a\\\\":2}', ['duplicate_member /a\\']],
    ['{"1":1,"1":2}', ['duplicate_member /1']],
    ['{"a":"x\\u0000y"}', ['nul /a']],
    ['{"a\\u0000":1}', ['nul /a\0']],
    [
      '["\\ud800","\\udfff","\\udc00\\ud800","\\ud83e\\udd8a","\\uD83E"]',
      ['lone_surrogate /0', 'lone_surrogate /1', 'lone_surrogate /2', 'lone_surrogate /4'],
    ],
    ['{"k":{"\\udfff":1}}', ['lone_surrogate /k/\udfff']],
    ['{"a":[1e308,1e309],"b":-1e400}', ['huge_number /a/1', 'huge_number /b']],
    ['{"a":"\\u0000","b":"\\ud800","c":1,"c":2}', ['duplicate_member /c', 'nul /a', 'lone_surrogate /b']],
  ])('%j', (text, faults) => expect(faultsOf(text)).toEqual(faults));

  test.each([
    '{"name":"\\"name\\":","m":{"name":"x","m":"{\\"a\\":1,\\"a\\":2}"}}',
    '[{"a":1},{"a":1}]',
    '{"a":"a","b":["a","a"]}',
    '"\\\\u0000"',
    '"\\\\\\\\"',
    '{"a":"\\\\ud800"}',
    'null',
    ' [ ] ',
    '{"a":{"a":{"a":1}}}',
  ])('%j has none', (text) => {
    expect(parse(text)).toEqual({ value: JSON.parse(text), faults: [] });
  });

  test('NUL is allowed where the caller says so', () => {
    const bytes = Buffer.from('{"files":[{"path":"a\\u0000","content":"b\\u0000"}]}');
    expect(
      parseStrictJson(bytes, { allowNul: (path) => path.endsWith('/content') }).faults.map((f) => f.path),
    ).toEqual(['/files/0/path']);
  });

  test('a __proto__ member is an own member and changes no prototype', () => {
    const { value, faults } = parse('{"__proto__":{"polluted":true}}');
    expect([
      Object.keys(value as object),
      Object.getPrototypeOf(value) === Object.prototype,
      ({} as { polluted?: boolean }).polluted,
      faults,
    ]).toEqual([['__proto__'], true, undefined, []]);
  });

  test('at most 100 are named', () =>
    expect(faultsOf(`[${'{"a":1,"a":2},'.repeat(500)}0]`)).toHaveLength(100));

  test('any JSON value passes, and one member repeated anywhere is found', () => {
    const hostile = fc.string({
      unit: fc.constantFrom('"', '\\', 'a', ':', '{', '}', '[', ']', ',', 'é', '😀', '\n'),
    });
    const { tree } = fc.letrec<{ tree: unknown; object: unknown }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        hostile,
        fc.integer(),
        fc.constant(null),
        fc.array(tie('tree'), { maxLength: 4 }),
        tie('object'),
      ),
      object: fc
        .uniqueArray(fc.tuple(hostile, tie('tree')), { selector: ([k]) => k, maxLength: 4 })
        .map((pairs) => Object.fromEntries(pairs)),
    }));
    fc.assert(
      fc.property(tree, hostile, (value, key) => {
        const text = JSON.stringify(value);
        expect(parse(text)).toEqual({ value: JSON.parse(text), faults: [] });
        const twice = `{${JSON.stringify(key)}:${text},"x${JSON.stringify(key).slice(1)}:[${text}],${JSON.stringify(key)}:${text}}`;
        expect(parse(twice).faults).toHaveLength(1);
      }),
    );
  });
});
