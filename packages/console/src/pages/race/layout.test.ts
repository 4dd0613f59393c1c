import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BESIDE, layOut } from './layout.ts';
import type { Layout, LayoutOptions, Placed } from './layout.ts';
import { historyOf } from './race.fixture.ts';
import type { Step } from './race.fixture.ts';
import { curveOf, headX, rowY } from './shape.ts';
import { isShown, strandsOf } from './strands.ts';
import type { RaceData } from './strands.ts';

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Step>({ do: 'thread' }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom('apply', 'apply', 'queue', 'conflict', 'archive', 'run'),
      pick: fc.nat(50),
    }),
  },
);
const steps = fc.array(step, { maxLength: 60 });

const draw = (data: RaceData, options: Partial<LayoutOptions> = {}): Layout =>
  layOut(
    data.heads,
    strandsOf(data).filter((strand) => isShown(strand, {})),
    { capacity: 100, ...options },
  );

const laneOf = ({ placed }: Layout) => new Map(placed.map(({ strand, lane }) => [strand.threadId, lane]));
const isIn = (row: number, { top, bottom }: Placed) => top < row && row < bottom;

describe('layOut', () => {
  test('no two threads share a lane at the same row', () => {
    fc.assert(
      fc.property(steps, (all) => {
        const { rows, placed } = draw(historyOf(all));
        for (const row of rows.keys()) {
          const taken = placed
            .filter((one) => isIn(row, one) || (row === one.top && one.strand.ending === 'open'))
            .map(({ lane }) => lane);
          expect(new Set(taken).size).toBe(taken.length);
        }
        // Between two rows there is one thread in a lane, also where one joins and the next leaves.
        for (let gap = 0; gap < rows.length; gap++) {
          const taken = placed
            .filter(({ top, bottom }) => top <= gap && gap < bottom)
            .map(({ lane }) => lane);
          expect(new Set(taken).size).toBe(taken.length);
        }
      }),
    );
  });

  test('each applied thread joins the head at the revision of its apply, and leaves it at its base', () => {
    fc.assert(
      fc.property(steps, (all) => {
        const data = historyOf(all);
        const { rows, placed } = draw(data);
        for (const head of data.heads) {
          if (head.applyId === null) continue;
          const { threadId, baseSourceId } = data.applies.find(({ id }) => id === head.applyId)!;
          const found = placed.find(({ strand }) => strand.threadId === threadId)!;
          expect(rows[found.top]).toMatchObject({ kind: 'revision', head });
          expect(rows[found.bottom]).toMatchObject({ kind: 'revision', head: { sourceId: baseSourceId } });
          const curve = curveOf(found);
          expect(curve.startsWith(`M${headX} ${rowY(found.bottom)}C`)).toBe(true);
          expect(curve.endsWith(` ${headX} ${rowY(found.top)}`)).toBe(true);
        }
      }),
    );
  });

  test('every thread that is shown and every revision has one row; the newest revision is above the others', () => {
    fc.assert(
      fc.property(steps, (all) => {
        const data = historyOf(all);
        const { rows, tip } = draw(data);
        expect(new Set(rows.map(({ key }) => key)).size).toBe(rows.length);
        const revisions = rows.flatMap((row) => (row.kind === 'revision' ? [row.head.revision] : []));
        expect(revisions).toEqual(data.heads.map(({ revision }) => revision).toSorted((a, b) => b - a));
        expect(rows.slice(0, tip).every(({ kind }) => kind === 'thread')).toBe(true);
        expect(rows.slice(tip).every(({ kind }) => kind === 'revision')).toBe(true);
      }),
    );
  });

  test('is the same for the same data in any order', () => {
    fc.assert(
      fc.property(steps, (all) => {
        const data = historyOf(all);
        const turned = {
          heads: data.heads.toReversed(),
          threads: data.threads.toReversed(),
          applies: data.applies.toReversed(),
        };
        expect(draw(turned)).toEqual(draw(data));
      }),
    );
  });

  test('one more event moves no thread to another lane', () => {
    fc.assert(
      fc.property(steps, step, (all, one) => {
        const before = draw(historyOf(all));
        const after = laneOf(draw(historyOf([...all, one]), { kept: before.kept }));
        // One that joins at once has no lane any more, and one that is archived is not shown.
        for (const [threadId, lane] of laneOf(before))
          if ((after.get(threadId) ?? BESIDE) !== BESIDE)
            expect([threadId, after.get(threadId)]).toEqual([threadId, lane]);
      }),
    );
  });

  test('an older page of the history moves no thread to another lane', () => {
    fc.assert(
      fc.property(steps, fc.nat(20), (all, cut) => {
        const data = historyOf(all);
        const newest = { ...data, heads: data.heads.slice(cut) };
        const before = draw(newest);
        const after = laneOf(draw(data, { kept: before.kept }));
        for (const [threadId, lane] of laneOf(before))
          if (after.get(threadId) !== BESIDE)
            expect([threadId, after.get(threadId)]).toEqual([threadId, lane]);
      }),
    );
  });

  test('threads beyond the lanes that there is room for are counted at each row', () => {
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 4 }), (all, capacity) => {
        const { rows, placed, lanes, folded } = draw(historyOf(all), { capacity });
        expect(lanes).toBeLessThanOrEqual(capacity);
        expect(folded).toHaveLength(rows.length);
        for (const [row, count] of folded.entries())
          expect(count).toBe(
            placed.filter(({ isFolded, top, bottom }) => isFolded && top <= row && row < bottom).length,
          );
      }),
    );
  });

  test('a thread within the time of another is nearer to the head, and crosses nothing', () => {
    const thread: Step = { do: 'thread' };
    // The first is open all the time; the second leaves later and joins.
    const layout = draw(
      historyOf([
        thread,
        thread,
        thread,
        { do: 'apply', pick: 2 },
        { do: 'apply', pick: 1 },
        { do: 'run', pick: 0 },
      ]),
    );
    expect(Object.fromEntries(laneOf(layout))).toEqual({ thr_0001: 1, thr_0002: 0, thr_0003: BESIDE });
  });

  test('one lane serves threads one after the other; those that join at once need none', () => {
    const one: Step[] = [{ do: 'thread' }, { do: 'apply', pick: 0 }];
    expect(draw(historyOf([...one, ...one, ...one])).lanes).toBe(0);
    const two: Step[] = [{ do: 'thread' }, ...one, { do: 'apply', pick: 0 }];
    expect(draw(historyOf([...two, ...two, ...two])).lanes).toBe(1);
  });

  test('where there is little room, those at work are drawn rather than those that rest', () => {
    const data = historyOf([{ do: 'thread' }, { do: 'thread' }, { do: 'thread' }, { do: 'run', pick: 2 }]);
    const { placed } = draw(data, { capacity: 1 });
    expect(placed.filter(({ isFolded }) => !isFolded).map(({ strand }) => strand.threadId)).toEqual([
      'thr_0003',
    ]);
  });

  test('the queue is nearest to the head in its order, then conflicts, then what goes on', () => {
    const thread: Step = { do: 'thread' };
    const { rows } = draw(
      historyOf([
        thread,
        thread,
        thread,
        thread,
        { do: 'queue', pick: 1 },
        { do: 'conflict', pick: 1 },
        { do: 'queue', pick: 0 },
      ]),
    );
    expect(rows.map(({ key }) => key)).toEqual(['thr_0004', 'thr_0003', 'thr_0001', 'thr_0002', 'r1']);
  });

  test('a filter leaves the newest revision and those of its threads, and says where others are', () => {
    const one: Step[] = [{ do: 'thread' }, { do: 'apply', pick: 0 }];
    const data = historyOf([...one, ...one, ...one, ...one]);
    const strands = strandsOf(data).filter(({ threadId }) => threadId === 'thr_0002');
    const { rows } = layOut(data.heads, strands, { capacity: 8, isFiltered: true });
    expect(rows.map((row) => [row.key, row.kind === 'revision' && row.hasGap])).toEqual([
      ['r5', true],
      ['r3', false],
      ['r2', false],
    ]);
  });
});

describe('curveOf', () => {
  test('has the same commands for every thread, and never goes back down', () => {
    fc.assert(
      fc.property(steps, (all) => {
        for (const placed of draw(historyOf(all)).placed) {
          const curve = curveOf(placed);
          expect(curve.replaceAll(/[-\d. ]+/g, '')).toBe('MCLC');
          const heights = curve
            .split(/[A-Z]/)
            .filter(Boolean)
            .flatMap((part) =>
              part
                .trim()
                .split(' ')
                .filter((_, i) => i % 2 === 1)
                .map(Number),
            );
          expect(heights).toEqual(heights.toSorted((a, b) => b - a));
        }
      }),
    );
  });
});
