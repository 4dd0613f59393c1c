import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ConflictFile } from '@headrace/client';
import {
  canTake,
  carried,
  compacted,
  coveredBy,
  isDecided,
  planOf,
  renameDraft,
  takeSide,
  undone,
  write,
} from './decisions.ts';
import type { Conflict, Entries, Own } from './decisions.ts';
import { collidingName, groupsOf } from './groups.ts';

const hash = (text: string) => createHash('sha256').update(text).digest('hex');
const conflict = (
  path: string,
  kind: Conflict['kind'] = 'content',
  sides: Partial<Conflict> = {},
): Conflict => ({
  path,
  kind,
  base: hash(`base ${path}`),
  head: hash(`head ${path}`),
  draft: hash(`draft ${path}`),
  ...sides,
});
const own = (content: string, left = 0): Own => ({ content, left, regions: [], from: 'the editor' });
const side = (content: string | null, executable = false) => ({
  sha256: hash(content ?? ''),
  byteSize: 1,
  executable,
  encoding: 'utf8' as const,
  content,
});
const NONE: Entries = new Map();
const noFile = () => undefined;

const SEVEN: Conflict[] = [
  conflict('README.md', 'path', { base: null, draft: null }),
  conflict('added.ts', 'add_add', { base: null }),
  conflict('draft-name.ts', 'rename', { base: null, head: null, draft: hash('moved') }),
  conflict('gone.ts', 'delete_modify', { head: null }),
  conflict('head-name.ts', 'rename', { base: null, head: hash('moved'), draft: null }),
  conflict('logo.png', 'binary'),
  conflict('old-name.ts', 'rename', { base: hash('moved'), head: null, draft: null }),
  conflict('prices.ts'),
  conflict('readme.md', 'path', { base: null, head: null }),
  conflict('run.sh', 'mode', { base: null, draft: hash('head run.sh') }),
];

test('every kind takes a side, and only a collision of names takes both by another name', () => {
  for (const one of SEVEN) {
    expect([canTake('head', one, null), canTake('draft', one, null)]).toEqual([true, true]);
    expect(canTake('rename', one, null)).toBe(one.kind === 'path');
  }
});

test('a text of one’s own needs a text on a side, and both need git’s merged text', () => {
  const text: ConflictFile = {
    path: 'a',
    kind: 'content',
    base: side('b'),
    head: side('h'),
    draft: side('d'),
    merged: { content: '<<<<<<< head\nh=======\nd>>>>>>> draft\n', regions: [{ fromLine: 1, toLine: 3 }] },
  };
  const can = (kind: Conflict['kind'], file: ConflictFile) =>
    (['text', 'both'] as const).map((choice) => canTake(choice, conflict('a', kind), file));
  expect(can('content', text)).toEqual([true, true]);
  expect(can('delete_modify', { ...text, head: null, merged: null })).toEqual([true, false]);
  expect(
    can('binary', { ...text, head: null, draft: { ...side(null), encoding: 'base64' }, merged: null }),
  ).toEqual([false, false]);
  expect(can('mode', text)).toEqual([false, true]);
  expect(can('content', { ...text, head: side(null), draft: side(null), merged: null })).toEqual([
    false,
    false,
  ]);
  expect(canTake('text', conflict('a'), null)).toBe(false);
});

test('a plan has one resolution for each path of all seven kinds, and nothing open', () => {
  let entries = carried(SEVEN, NONE);
  expect(planOf(SEVEN, entries, noFile).open).toEqual(SEVEN.map(({ path }) => path));
  for (const { path } of SEVEN)
    entries = takeSide(entries, SEVEN, path, path.startsWith('a') ? 'draft' : 'head');
  expect(planOf(SEVEN, entries, noFile)).toEqual({
    open: [],
    changes: [],
    resolutions: SEVEN.map(({ path }) => ({ path, take: path === 'added.ts' ? 'draft' : 'head' })),
  });
});

test('names that collide are decided together, whichever is named', () => {
  const entries = takeSide(carried(SEVEN, NONE), SEVEN, 'readme.md', 'draft');
  expect([entries.get('README.md')?.choice, entries.get('readme.md')?.choice]).toEqual(['draft', 'draft']);
  expect(entries.get('prices.ts')?.choice).toBeNull();
});

test('a file and a folder of the same name collide, in another case too', () => {
  const list = [
    conflict('Docs', 'path', { draft: null }),
    conflict('docs/a', 'path', { head: null }),
    conflict('docs/b/c', 'path', { head: null }),
    conflict('docs2', 'path', { head: null }),
  ];
  expect(coveredBy('docs/b/c', list)).toEqual(['Docs', 'docs/a', 'docs/b/c']);
  expect(coveredBy('docs2', list)).toEqual(['docs2']);
  expect(collidingName('docs/b/c', ['Docs', 'docs/a', 'docs/b/c'])).toBe('docs');
  const entries = renameDraft(carried(list, NONE), list, { path: 'Docs', from: 'docs', to: 'pages' });
  expect(planOf(list.slice(0, 3), entries, noFile)).toEqual({
    open: [],
    changes: [
      { path: 'pages/a', renameFrom: 'docs/a' },
      { path: 'pages/b/c', renameFrom: 'docs/b/c' },
    ],
    resolutions: [{ path: 'Docs', take: 'head' }],
  });
});

test('the paths of a move are found by their contents', () => {
  expect(groupsOf(SEVEN, 'rename').get('old-name.ts')).toEqual([
    'draft-name.ts',
    'head-name.ts',
    'old-name.ts',
  ]);
  const alone = conflict('other.ts', 'rename', { base: null, draft: null });
  expect(groupsOf([...SEVEN, alone], 'rename').get('other.ts')).toEqual(['other.ts']);
});

test('a text goes into the draft first, and once it is there only the draft’s side is taken', () => {
  const list = [conflict('a')];
  const entries = write(carried(list, NONE), 'a', own('mine\n'));
  expect(planOf(list, entries, noFile)).toEqual({
    open: [],
    changes: [{ path: 'a', content: 'mine\n' }],
    resolutions: [{ path: 'a', take: 'draft' }],
  });
  const written = [conflict('a', 'content', { draft: hash('mine\n') })];
  const after = carried(written, entries);
  expect(planOf(written, after, noFile)).toEqual({
    open: [],
    changes: [],
    resolutions: [{ path: 'a', take: 'draft' }],
  });
  expect(after.get('a')?.isMoved).toBe(false);
});

test('a text with markers is no decision', () => {
  const list = [conflict('a')];
  const entries = write(carried(list, NONE), 'a', own('<<<<<<< head\n', 1));
  expect(planOf(list, entries, noFile).open).toEqual(['a']);
});

test('a text for a file that the draft has not keeps the head’s executable bit', () => {
  const list = [conflict('run', 'delete_modify', { draft: null })];
  const entries = write(carried(list, NONE), 'run', own('go\n'));
  const fileOf = () => ({ head: side('x', true), draft: null });
  expect(planOf(list, entries, fileOf).changes).toEqual([{ path: 'run', content: 'go\n', executable: true }]);
  const both = () => ({ head: side('x', true), draft: side('y') });
  expect(planOf(list, entries, both).changes).toEqual([{ path: 'run', content: 'go\n' }]);
});

test('after the head has moved, equal conflicts keep their decision and others are open, marked, with their text', () => {
  const before = [conflict('a'), conflict('b'), conflict('c')];
  let entries = takeSide(carried(before, NONE), before, 'a', 'head');
  entries = takeSide(entries, before, 'b', 'draft');
  entries = write(entries, 'c', own('mine\n'));
  const after = [
    conflict('a'),
    conflict('b', 'content', { head: hash('new') }),
    conflict('c', 'content', { base: null }),
  ];
  const next = carried(after, entries);
  expect(['a', 'b', 'c'].map((path) => [next.get(path)!.choice, next.get(path)!.isMoved])).toEqual([
    ['head', false],
    [null, true],
    [null, true],
  ]);
  expect(next.get('c')?.own?.content).toBe('mine\n');
  // The mark stays until it is decided.
  expect(carried(after, next).get('b')?.isMoved).toBe(true);
  expect(takeSide(next, after, 'b', 'head').get('b')?.isMoved).toBe(false);
});

test('a decision comes back with a conflict that was gone for a while', () => {
  const list = [conflict('a')];
  const entries = takeSide(carried(list, NONE), list, 'a', 'draft');
  expect(carried(list, carried([], entries)).get('a')?.choice).toBe('draft');
});

test('of names that collide, a changed one opens all', () => {
  const before = SEVEN.filter(({ kind }) => kind === 'path');
  const entries = takeSide(carried(before, NONE), before, 'README.md', 'head');
  const after = before.map((one) => (one.path === 'README.md' ? { ...one, head: hash('new') } : one));
  const next = carried(after, entries);
  expect(before.map(({ path }) => [next.get(path)!.choice, next.get(path)!.isMoved])).toEqual([
    [null, true],
    [null, true],
  ]);
});

test('more decisions than an apply takes become folders', () => {
  const list = Array.from({ length: 2000 }, (_, i) => conflict(`src/${i % 4}/${i}.ts`));
  let entries = takeSide(carried(list, NONE), list, 'src/', 'head');
  entries = takeSide(entries, list, 'src/1/5.ts', 'draft');
  const sent = compacted(list, planOf(list, entries, noFile).resolutions);
  expect(sent).toEqual([
    { path: 'src/', take: 'head' },
    { path: 'src/1/5.ts', take: 'draft' },
  ]);
});

const name = fc
  .array(fc.constantFrom('a', 'b', 'C', 'é', 'x.ts'), { minLength: 1, maxLength: 4 })
  .map((parts) => parts.join('/'));
const KINDS = ['content', 'add_add', 'delete_modify', 'rename', 'mode', 'binary', 'path'] as const;
const conflicts = fc
  .uniqueArray(fc.tuple(name, fc.constantFrom(...KINDS)), { selector: ([path]) => path, maxLength: 20 })
  .map((list) => list.map(([path, kind]) => conflict(path, kind)));

test('whatever is decided in whatever order: each path is open or sent once, and equal conflicts keep everything', () => {
  const steps = fc.array(fc.tuple(fc.nat(40), fc.constantFrom('head', 'draft', 'folder', 'text')), {
    maxLength: 40,
  });
  fc.assert(
    fc.property(conflicts, steps, (list, steps) => {
      let entries = carried(list, NONE);
      for (const [at, what] of steps) {
        const path = list[at % Math.max(1, list.length)]?.path;
        if (path === undefined) continue;
        if (what === 'text') entries = write(entries, path, own(`${at}`, at % 2));
        else if (what === 'folder') entries = takeSide(entries, list, path.replace(/[^/]*$/, ''), 'draft');
        else entries = takeSide(entries, list, path, what);
      }
      const plan = planOf(list, entries, noFile);
      const named = [...plan.open, ...plan.resolutions.map(({ path }) => path)];
      expect(named.toSorted()).toEqual(list.map(({ path }) => path).toSorted());
      expect(plan.open).toEqual(
        list.filter(({ path }) => !isDecided(entries.get(path)!)).map(({ path }) => path),
      );
      expect(carried(list, entries)).toEqual(carried(list, carried(list, entries)));
      for (const { path, kind } of list)
        if (kind !== 'path') expect(carried(list, entries).get(path)).toEqual(entries.get(path));
    }),
  );
});

test('undone decisions leave a text that was written since for the next edit', () => {
  const list = [conflict('a'), conflict('b')];
  const typed = write(carried(list, NONE), 'a', own('typed'));
  expect(carried(list, undone(NONE, typed)).get('a')).toMatchObject({ choice: null, own: own('typed') });
  const before = takeSide(write(carried(list, NONE), 'b', own('old')), list, 'a', 'head');
  const next = undone(before, write(write(before, 'a', own('typed')), 'b', own('new')));
  expect(next.get('a')).toMatchObject({ choice: 'head', own: own('typed') });
  expect(next.get('b')).toMatchObject({ choice: 'text', own: own('old') });
});
