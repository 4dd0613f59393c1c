import { describe, expect, test } from 'vitest';
import type { FilterRule } from '../db/schema.ts';
import { compile } from '../http/validate.ts';
import { Filter, filterFaults, matchesFilter } from './filter.ts';

const payload = {
  word: 'red',
  n: 5,
  none: null,
  list: ['red', { a: 1 }],
  text: 'a long text',
  deep: [{ name: 'x' }],
};
const event = { type: 'run.failed', data: { id: 'run_1' } };

describe('a filter', () => {
  test.each<[string, FilterRule['op'], unknown, boolean]>([
    ['payload.word', 'eq', 'red', true],
    ['payload.word', 'eq', 'Red', false],
    ['payload.n', 'eq', 5, true],
    ['payload.n', 'eq', '5', false],
    ['payload.none', 'eq', null, true],
    ['payload.missing', 'eq', null, false],
    ['payload.list.1', 'eq', { a: 1 }, true],
    ['payload.word', 'ne', 'blue', true],
    ['payload.word', 'ne', 'red', false],
    ['payload.missing', 'ne', 'red', true],
    ['payload.n', 'in', [4, 5], true],
    ['payload.n', 'in', [], false],
    ['payload.n', 'in', ['5'], false],
    ['payload.text', 'contains', 'long', true],
    ['payload.text', 'contains', 'short', false],
    ['payload.list', 'contains', 'red', true],
    ['payload.list', 'contains', { a: 1 }, true],
    ['payload.list', 'contains', 're', false],
    ['payload.list', 'contains', {}, false],
    ['payload.list', 'contains', [], false],
    ['payload.list', 'contains', { a: 2 }, false],
    ['payload.list', 'contains', { b: undefined }, false],
    ['payload.deep', 'in', [[{ x: 'name' }], [{ name: 'x' }]], true],
    ['payload.deep', 'eq', { 0: { name: 'x' } }, false],
    ['payload.n', 'contains', 5, false],
    ['payload.missing', 'contains', 'x', false],
    ['payload.none', 'exists', undefined, true],
    ['payload.missing', 'exists', undefined, false],
    ['payload.toString', 'exists', undefined, false],
    ['payload.list.length', 'exists', undefined, false],
    ['payload.deep.0.name', 'eq', 'x', true],
    ['event.data.id', 'eq', 'run_1', true],
    ['execution.id', 'exists', undefined, false],
  ])('of %s %s %j: %s', (path, op, value, expected) => {
    expect(matchesFilter([{ path, op, value }], { payload, event })).toBe(expected);
  });

  test('matches if all of its rules match', () => {
    const rules: FilterRule[] = [
      { path: 'payload.n', op: 'eq', value: 5 },
      { path: 'payload.word', op: 'eq', value: 'blue' },
    ];
    expect([rules, rules.slice(0, 1), []].map((filter) => matchesFilter(filter, { payload }))).toEqual([
      false,
      true,
      true,
    ]);
  });
});

test('each fault has its path', () => {
  const check = compile(Filter, 'body');
  const pathsOf = (filter: unknown) => {
    const faults = check(filter);
    return (faults.length ? faults : filterFaults('/filter', filter as FilterRule[])).map(({ path }) => path);
  };
  const rule = { path: 'payload.a', op: 'eq', value: 1 };
  expect(pathsOf([rule, { path: 'event.x', op: 'exists' }, { ...rule, op: 'in', value: [1] }])).toEqual([]);
  expect(pathsOf(Array.from({ length: 21 }, () => rule))).toEqual(['']);
  expect(pathsOf([{ op: 'exists' }])).toEqual(['/0/path']);
  expect(pathsOf([rule, { ...rule, op: 'like' }])).toEqual(['/1/op']);
  expect(pathsOf([{ ...rule, not: true }])).toEqual(['/0/not']);
  expect(
    pathsOf([
      { ...rule, path: 'secrets.a' },
      { ...rule, path: 'payload..a' },
    ]),
  ).toEqual(['/filter/0/path', '/filter/1/path']);
  expect(
    pathsOf([
      { path: 'payload.a', op: 'eq' },
      { ...rule, op: 'exists' },
      { ...rule, op: 'in', value: 'x' },
      { ...rule, value: 'x'.repeat(10_000) },
    ]),
  ).toEqual(['/filter/0/value', '/filter/1/value', '/filter/2/value', '/filter/3/value']);
  const long = { ...rule, value: 'x'.repeat(9_990) };
  expect([pathsOf([long]), pathsOf([long, long, rule])]).toEqual([[], ['/filter']]);
});

test('a filter with an object of a thousand keys does not count them for each of 85,000 items', () => {
  const value = { in: Object.fromEntries(Array.from({ length: 1_200 }, (_, n) => [n, 1])) };
  const many = {
    list: Array.from({ length: 85_000 }, () => ({ in: {} })),
    map: { ...Array(30_000).fill(0) },
  };
  const began = performance.now();
  const rules: FilterRule[] = [
    { path: 'payload.list', op: 'contains', value },
    { path: 'payload.map', op: 'in', value: Array.from({ length: 3_000 }, () => ({})) },
  ];
  for (const rule of rules) expect(matchesFilter([rule], { payload: many })).toBe(false);
  expect(performance.now() - began).toBeLessThan(2_000);
});
