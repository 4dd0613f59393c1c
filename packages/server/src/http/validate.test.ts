import Type from 'typebox';
import { describe, expect, test } from 'vitest';
import { Body, Counter, Enum, ListQuery, Nullable } from './schemas.ts';
import { compile } from './validate.ts';

const paths = (fields: { path: string }[]) => fields.map((f) => f.path).sort();

describe('a body', () => {
  const check = compile(
    Body({
      name: Type.String({ minLength: 1, maxLength: 3 }),
      count: Type.Optional(Counter),
      title: Type.Optional(Nullable(Type.String({ maxLength: 2 }))),
      status: Type.Optional(Nullable(Enum(['on', 'off']))),
      files: Type.Optional(
        Type.Array(Body({ path: Type.String(), mode: Type.Optional(Enum(['a', 'b'])) }), { maxItems: 3 }),
      ),
      labels: Type.Optional(Type.Record(Type.String({ maxLength: 4 }), Type.String())),
    }),
    'body',
  );

  test('that fits has no fault', () => {
    for (const body of [
      { name: 'n' },
      {
        name: 'n',
        count: 0,
        title: null,
        status: null,
        files: [{ path: 'p', mode: 'b' }],
        labels: { 'a/b': 'v' },
      },
      { name: 'n', count: 9_007_199_254_740_991 },
    ])
      expect(check(body)).toEqual([]);
  });

  test('has all its faults told together, each at its pointer', () => {
    expect(
      paths(
        check({
          count: -1,
          title: 'abc',
          status: 'no',
          files: [{}, { path: 1 }, { path: 'p', mode: 'c', x: 1 }],
          moon: 1,
        }),
      ),
    ).toEqual([
      '/count',
      '/files/0/path',
      '/files/1/path',
      '/files/2/mode',
      '/files/2/x',
      '/moon',
      '/name',
      '/status',
      '/title',
    ]);
  });

  test('is not coerced, and lengths count code points', () => {
    for (const body of [
      { name: 1 },
      { name: 'n', count: '1' },
      { name: 'n', count: 1.5 },
      { name: 'n', count: 2 ** 53 },
      { name: 'n', files: { 0: {} } },
      { name: null },
    ])
      expect(check(body), JSON.stringify(body)).toHaveLength(1);
    expect(check({ name: '😀😀😀' })).toEqual([]);
    expect(check({ name: '😀😀😀😀' })).toMatchObject([{ path: '/name' }]);
  });

  test('is held to each of several patterns', () => {
    const faults = compile(
      Type.Object({ a: Type.String({ pattern: '^a$' }), b: Type.String({ pattern: '^b$' }) }),
      'body',
    );
    expect(faults({ a: 'a', b: 'b' })).toEqual([]);
    expect(faults({ a: 'b', b: 'a' }).map(({ path }) => path)).toEqual(['/a', '/b']);
  });

  test('null is a value of a nullable field only, and an enum names what it takes', () => {
    expect(paths(check({ name: null, count: null }))).toEqual(['/count', '/name']);
    expect(check({ name: 'n', files: [{ path: 'p', mode: 'c' }] })).toEqual([
      { path: '/files/0/mode', message: 'must be one of a, b' },
    ]);
  });

  test('a member with / or ~ in its name is escaped, one of the prototype is a member like others', () => {
    expect(paths(check({ name: 'n', 'a/b~c': 1 }))).toEqual(['/a~1b~0c']);
    expect(paths(check(JSON.parse('{"__proto__": 1, "constructor": 2}')))).toEqual([
      '/__proto__',
      '/constructor',
      '/name',
    ]);
    expect(paths(check({ name: 'n', toString: 1 }))).toEqual(['/toString']);
  });

  test('one place is named once, and no more than a hundred of them', () => {
    const faults = check({
      name: 'n',
      files: [
        { path: 'p' },
        { path: 'p' },
        { path: 'p' },
        ...Array.from({ length: 200 }, () => ({ path: 1 })),
      ],
    });
    expect(faults).toHaveLength(100);
    expect(new Set(paths(faults)).size).toBe(100);
  });
});

describe('a query', () => {
  const check = compile(
    ListQuery({ archived: Type.Optional(Type.Boolean()), status: Type.Optional(Enum(['on', 'off'])) }),
    'query',
  );

  test('has its texts read as what the schema says', () => {
    const query: Record<string, unknown> = { limit: '10', archived: 'true', status: 'on' };
    expect(check(query)).toEqual([]);
    expect(query).toEqual({ limit: 10, archived: true, status: 'on' });
  });

  test('is told of under /query, unknown names too', () => {
    for (const limit of [
      '0',
      '201',
      '1.5',
      'x',
      '',
      ' ',
      '1e1000',
      '-1',
      '0x10',
      '1e1',
      ' 5',
      '5 ',
      '+5',
      '5.0',
    ])
      expect(paths(check({ limit })), limit).toEqual(['/query/limit']);
    expect(paths(check({ limit: ['1', '2'], archived: 'perhaps', moon: '1', cursor: '' }))).toEqual([
      '/query/archived',
      '/query/cursor',
      '/query/limit',
      '/query/moon',
    ]);
  });

  test('holds no NUL and no lone surrogate: the database takes neither', () => {
    expect(paths(check({ cursor: 'a\0b' }))).toEqual(['/query/cursor']);
    expect(paths(check({ cursor: '\ud800', 'moon\0': '1', limit: '\0' }))).toEqual([
      '/query/cursor',
      '/query/limit',
      '/query/moon\0',
    ]);
  });
});
