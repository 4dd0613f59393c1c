import { describe, expect, test } from 'vitest';
import { begin, decide, hashOf, keep, nextOf, planOf, stillValid, undo } from './decisions.ts';
import type { Conflict, Decision, Place } from './decisions.ts';
import { compacted } from './resolve-option.ts';
import { summaryOf } from './summary.ts';

const conflict = (path: string, kind: Conflict['kind'] = 'content'): Conflict => ({
  path,
  kind,
  base: 'b',
  head: 'h',
  draft: 'd',
});
const own = (content: string): Decision => ({ own: { content, encoding: 'utf8', from: 'the editor' } });
const side = (content: string) => ({
  sha256: '',
  byteSize: content.length,
  executable: false,
  encoding: 'utf8' as const,
  content,
});
const fileOf = (path: string) => ({ head: side(`head of ${path}`), draft: side('draft') });
const planFor = (conflicts: readonly Conflict[], decisions: Record<string, Decision>) =>
  planOf(conflicts, new Map(Object.entries(decisions)), fileOf);

describe('a person’s keys', () => {
  const conflicts = ['a', 'b', 'c', 'd', 'e'].map((path) => conflict(path));
  /** A small generator, so that a failure can be repeated. */
  const numbers = (seed: number) => () => (seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31;
  const KEYS: (Decision | 'undo')[] = [
    { take: 'head' },
    { take: 'draft' },
    own('text'),
    'skip',
    'agent',
    'undo',
  ];

  test('in any order: what is sent is exactly what the decisions and the summary say', () => {
    for (let seed = 1; seed <= 500; seed++) {
      const random = numbers(seed);
      let place: Place = begin(conflicts, new Map());
      // The model: a list of decisions, of which undo takes the last.
      const made: [paths: string[], Decision][] = [];
      for (let step = 0; step < 60; step++) {
        const next = nextOf(place);
        const key = next ? KEYS[Math.floor(random() * KEYS.length)]! : 'undo';
        if (!next && random() < 0.5) break;
        if (key === 'undo') {
          place = undo(place);
          made.pop();
        } else {
          const done = new Set(made.flatMap(([paths]) => paths));
          const open = conflicts.map(({ path }) => path).filter((path) => !done.has(path));
          made.push([key === 'agent' ? open : [next!.path], key]);
          place = decide(place, next!.path, key);
        }
      }
      const decisions = Object.fromEntries(made.flatMap(([paths, key]) => paths.map((path) => [path, key])));
      expect(Object.fromEntries(place.decisions), `seed ${seed}`).toEqual(decisions);
      const plan = planOf(conflicts, place.decisions, fileOf);
      const isLeft = Object.values(decisions).includes('agent');
      expect(plan.open).toEqual(
        conflicts.map(({ path }) => path).filter((path) => (decisions[path] ?? 'skip') === 'skip'),
      );
      if (!isLeft)
        expect(plan.resolutions).toEqual(
          conflicts.flatMap(({ path }) => {
            const decision = decisions[path] ?? 'skip';
            if (typeof decision === 'string') return [];
            return [{ path, take: 'own' in decision ? 'draft' : decision.take }];
          }),
        );
      else expect(plan.resolutions).toEqual([]);
      const lines = summaryOf(plan, place.decisions, { width: 80, paint: (_, text) => text })
        .split('\n')
        .filter((line) => line.startsWith('  '))
        .map((line) => line.trim().split(/\s+/).slice(0, 2));
      const sent = [
        ...plan.resolutions.map(({ path, take }) => [
          plan.changes.some((one) => one.path === path) ? 'text' : take,
          path,
        ]),
        ...plan.changes
          .filter(({ path }) => isLeft && !plan.left.includes(path))
          .map(({ path }) => ['head', path]),
        ...plan.left.map((path) => ['agent', path]),
        ...plan.open.map((path) => ['open', path]),
      ];
      expect(lines).toEqual(sent);
      expect(lines.map(([, path]) => path).toSorted()).toEqual(['a', 'b', 'c', 'd', 'e']);
    }
  });

  test('undo with nothing decided changes nothing', () => {
    const place = begin(conflicts, new Map([['a', { take: 'head' }]]));
    expect(undo(place)).toBe(place);
  });
});

describe('what is sent', () => {
  test('an own text goes into the draft once, and the apply takes the draft there', () => {
    const a = conflict('a');
    expect(planFor([a], { a: own('text') })).toMatchObject({
      changes: [{ path: 'a', content: 'text', encoding: 'utf8' }],
      resolutions: [{ path: 'a', take: 'draft' }],
    });
    const written = { ...a, draft: hashOf({ content: 'text', encoding: 'utf8' }) };
    expect(planFor([written], { a: own('text') })).toMatchObject({
      changes: [],
      resolutions: [{ path: 'a', take: 'draft' }],
    });
  });

  test('an own text of a file that the draft deleted keeps the head’s executable bit', () => {
    const head = { ...side('x'), executable: true };
    const plan = planOf([conflict('a')], new Map([['a', own('text')]]), () => ({ head, draft: null }));
    expect(plan.changes).toEqual([{ path: 'a', content: 'text', encoding: 'utf8', executable: true }]);
  });

  test('with an agent, no resolution: the head’s files go into the draft, but for names that may collide', () => {
    const conflicts = [
      conflict('a'),
      conflict('b', 'path'),
      conflict('c'),
      conflict('d'),
      conflict('e', 'delete_modify'),
    ];
    const take = (one: 'head' | 'draft'): Decision => ({ take: one });
    const plan = planOf(
      conflicts,
      new Map<string, Decision>([
        ['a', take('head')],
        ['b', take('head')],
        ['c', take('draft')],
        ['d', 'agent'],
        ['e', take('head')],
      ]),
      (path) => (path === 'e' ? { head: null, draft: side('d') } : fileOf(path)),
    );
    expect(plan).toEqual({
      open: [],
      mode: 'agent',
      changes: [
        { path: 'a', content: 'head of a', encoding: 'utf8', executable: false },
        { path: 'e', content: null },
      ],
      resolutions: [],
      left: ['b', 'c', 'd'],
    });
  });

  test('more than 1,000 decisions become folders, which mean the same', () => {
    const paths = Array.from({ length: 1500 }, (_, at) => `${at % 3 ? 'a' : 'b'}/${at % 7}/f${at}`);
    const conflicts = [...paths, 'x'].map((path) => conflict(path));
    const takeOf = (path: string): 'head' | 'draft' =>
      path.startsWith('a/3/') || path === 'x' ? 'draft' : 'head';
    const all = conflicts.map(({ path }) => ({ path, take: takeOf(path) }));
    const sent = compacted(conflicts, all);
    expect(sent.length).toBeLessThan(20);
    for (const { path, take } of all) {
      const [rule] = sent
        .filter((one) => (one.path.endsWith('/') ? path.startsWith(one.path) : path === one.path))
        .toSorted((one, other) => other.path.length - one.path.length);
      expect([path, rule?.take]).toEqual([path, take]);
    }
    // A folder with an open conflict is not decided as a whole.
    expect(() => compacted([...conflicts, conflict('b/0/open'), conflict('a/1/open')], all)).not.toThrow();
    expect(compacted([...conflicts, conflict('b/0/open')], all)).not.toContainEqual({
      path: 'b/',
      take: 'head',
    });
  });
});

test('decisions stay where no side has changed, and an own text where it is in the draft by now', () => {
  const conflicts = ['a', 'b', 'c', 'd'].map((path) => conflict(path));
  const decisions = new Map<string, Decision>([
    ['a', { take: 'head' }],
    ['b', { take: 'draft' }],
    ['c', own('text')],
    ['d', 'skip'],
  ]);
  const kept = JSON.parse(JSON.stringify(keep(conflicts, decisions))) as ReturnType<typeof keep>;
  expect([...stillValid(conflicts, kept).keys()]).toEqual(['a', 'b', 'c']);
  const moved = [
    { ...conflict('a'), head: 'other' },
    { ...conflict('b'), kind: 'rename' as const },
    { ...conflict('c'), draft: hashOf({ content: 'text', encoding: 'utf8' }) },
    conflict('e'),
  ];
  expect([...stillValid(moved, kept).keys()]).toEqual(['c']);
});
