import { expect, test } from 'vitest';
import { importCircles, importGraph, lineLengthQuantile, tablesOf, tableWriters } from './figures.ts';

test('imports of values, types, workers and package names are edges; other packages are none', () => {
  const files = new Map([
    ['p/a/one.ts', "import type { B } from '../b/two.ts';\nimport pg from 'pg';\n"],
    ['p/b/two.ts', "const w = new URL('./three.ts', import.meta.url);\nawait import('../a/one.ts');\n"],
    ['p/b/three.ts', "export {\n  x,\n  y,\n} from '@h/p/a/one.ts';\nimport '@h/q';\n"],
    ['q/index.ts', ''],
  ]);
  const aliases = new Map([
    ['@h/p/*', 'p/*'],
    ['@h/q', 'q/index.ts'],
  ]);
  expect(importGraph(files, aliases)).toEqual(
    new Map([
      ['p/a/one.ts', new Set(['p/b/two.ts'])],
      ['p/b/two.ts', new Set(['p/b/three.ts', 'p/a/one.ts'])],
      ['p/b/three.ts', new Set(['p/a/one.ts', 'q/index.ts'])],
      ['q/index.ts', new Set()],
    ]),
  );
});

test('a circle is the whole set of files that reach each other', () => {
  const graph = new Map(
    Object.entries({ a: ['b'], b: ['c'], c: ['a', 'd'], d: [], e: ['f'], f: ['e'] }).map(([file, to]) => [
      file,
      new Set(to),
    ]),
  );
  expect(importCircles(graph)).toEqual([
    ['a', 'b', 'c'],
    ['e', 'f'],
  ]);
  expect(importCircles(new Map([['a', new Set(['b'])]]))).toEqual([]);
});

test('writes are found in builder calls and in SQL, by domain; reads and other words are none', () => {
  const files = new Map([
    ['s/runs/store.ts', "tx.db.updateTable('runs').set({})\ntx.db\n  .insertInto(\n'runs')"],
    ['s/gateway/settle.ts', 'sql`with a as (select 1)\n UPDATE runs set cost = 1`'],
    ['s/builds/store.ts', "db.deleteFrom('builds'); sql`delete from only runs`"],
    ['s/events/read.ts', "db.selectFrom('builds') // an update nobody needs"],
    ['other/builds.ts', "db.insertInto('builds')"],
  ]);
  const writers = tableWriters(files, 's/', new Set(['runs', 'builds']));
  expect(writers.get('runs')).toEqual(
    new Map([
      ['runs', ['runs/store.ts']],
      ['gateway', ['gateway/settle.ts']],
      ['builds', ['builds/store.ts']],
    ]),
  );
  expect(writers.get('builds')).toEqual(new Map([['builds', ['builds/store.ts']]]));
});

test('tables are those that migrations create, without partitions', () => {
  const sql = 'create table runs (id text);\ncreate table events_default partition of events default;\n';
  expect(tablesOf([sql, 'create table if not exists events (\n'])).toEqual(new Set(['runs', 'events']));
});

test('line lengths leave blank lines out', () => {
  const lines = Array.from({ length: 10 }, (_, i) => 'x'.repeat(i + 1)).join('\n\n  \n');
  expect(lineLengthQuantile(new Map([['a.ts', lines]]), 0.9)).toBe(10);
  expect(lineLengthQuantile(new Map([['a.ts', lines]]), 0.5)).toBe(6);
});
