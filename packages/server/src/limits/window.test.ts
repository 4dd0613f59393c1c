import fc from 'fast-check';
import { expect, test } from 'vitest';
import { emptyAt, leaseMs, oldest, prune, renew, stepOf } from './window.ts';
import type { Shares, Used } from './window.ts';

const LIMIT = 20;
const WINDOW = 1_000;
const LEASE = leaseMs(WINDOW);

test('a slice is an eighth of what is free, more where more wait, never more than is free', () => {
  expect(
    renew({}, { holder: 'a', used: [], waiting: 1 }, { now: 0, limit: 80, windowMs: WINDOW }),
  ).toMatchObject({
    granted: 10,
    until: LEASE,
    othersLeased: 0,
  });
  expect(
    renew({}, { holder: 'a', used: [], waiting: 30 }, { now: 0, limit: 80, windowMs: WINDOW }).granted,
  ).toBe(30);
  expect(
    renew({}, { holder: 'a', used: [[0, 79]], waiting: 30 }, { now: 1, limit: 80, windowMs: WINDOW }).granted,
  ).toBe(1);
  expect(
    renew({}, { holder: 'a', used: [[0, 80]], waiting: 30 }, { now: 1, limit: 80, windowMs: WINDOW }).granted,
  ).toBe(0);
});

test('what others hold unused counts, and a lease that nobody reported counts until its last use has left the window', () => {
  const { shares } = renew(
    {},
    { holder: 'a', used: [], waiting: 20 },
    { now: 0, limit: LIMIT, windowMs: WINDOW },
  );
  for (const now of [0, LEASE + WINDOW - 1])
    expect(
      renew(shares, { holder: 'b', used: [], waiting: 1 }, { now, limit: LIMIT, windowMs: WINDOW }),
    ).toMatchObject({
      granted: 0,
      othersLeased: 20,
    });
  expect(
    renew(
      shares,
      { holder: 'b', used: [], waiting: 1 },
      { now: LEASE + WINDOW, limit: LIMIT, windowMs: WINDOW },
    ),
  ).toMatchObject({
    granted: 3,
    othersLeased: 0,
  });
});

test('a report replaces the lease; without anybody waiting all of it is free again', () => {
  const first = renew({}, { holder: 'a', used: [], waiting: 20 }, { now: 0, limit: LIMIT, windowMs: WINDOW });
  const back = renew(
    first.shares,
    { holder: 'a', used: [[5, 2]], waiting: 0 },
    { now: 10, limit: LIMIT, windowMs: WINDOW },
  );
  expect(back.granted).toBe(0);
  expect(
    renew(back.shares, { holder: 'b', used: [], waiting: 18 }, { now: 11, limit: LIMIT, windowMs: WINDOW }),
  ).toMatchObject({
    granted: 18,
    others: [[5, 2]],
  });
});

test('use is recorded as later than it was, by 240 parts of the window at most', () => {
  expect([stepOf(0, 60_000), stepOf(1, 60_000), stepOf(250, 60_000), stepOf(1_000.4, 100)]).toEqual([
    0, 250, 250, 1_001,
  ]);
  expect(
    prune(
      [
        [1, 1],
        [2, 1],
        [3, 1],
      ],
      1_002,
      WINDOW,
    ),
  ).toEqual([[3, 1]]);
  expect([oldest(), oldest([], [[4, 1]], [[3, 2]])]).toEqual([undefined, 3]);
});

test('emptyAt: nothing counts from then on, and something did before', () => {
  const { shares } = renew(
    { b: { used: [[40, 1]], leased: 0, until: 0 } },
    { holder: 'a', used: [[30, 1]], waiting: 1 },
    { now: 50, limit: LIMIT, windowMs: WINDOW },
  );
  const end = emptyAt(shares, 50, WINDOW);
  expect(end).toBe(50 + LEASE + WINDOW);
  expect(
    renew(shares, { holder: 'c', used: [], waiting: LIMIT }, { now: end, limit: LIMIT, windowMs: WINDOW })
      .granted,
  ).toBe(LIMIT);
  expect(
    renew(shares, { holder: 'c', used: [], waiting: LIMIT }, { now: end - 1, limit: LIMIT, windowMs: WINDOW })
      .granted,
  ).toBeLessThan(LIMIT);
});

test('however processes use, report, return and die: never more than the limit in any window', () => {
  const step = fc.record({
    process: fc.nat(3),
    wait: fc.nat(120),
    act: fc.constantFrom('use', 'use', 'use', 'return', 'die'),
  });
  fc.assert(
    fc.property(fc.array(step, { minLength: 50, maxLength: 400 }), (steps) => {
      let shares: Shares = {};
      let now = 1_000_000;
      let births = 4;
      const processes = [0, 1, 2, 3].map((n) => ({
        holder: `p${n}`,
        used: [] as Used,
        granted: 0,
        until: 0,
      }));
      const uses: number[] = [];
      for (const { process, wait, act } of steps) {
        now += wait;
        const one = processes[process]!;
        if (act === 'die') processes[process] = { holder: `p${births++}`, used: [], granted: 0, until: 0 };
        if (act === 'return' || (act === 'use' && (one.granted === 0 || now >= one.until))) {
          const renewed = renew(
            shares,
            { holder: one.holder, used: one.used, waiting: act === 'use' ? 1 : 0 },
            { now, limit: LIMIT, windowMs: WINDOW },
          );
          ({ shares } = renewed);
          Object.assign(one, { granted: renewed.granted, until: renewed.until });
        }
        if (act === 'use' && one.granted > 0) {
          one.granted--;
          one.used.push([stepOf(now, WINDOW), 1]);
          uses.push(now);
        }
      }
      for (let i = LIMIT; i < uses.length; i++)
        expect(uses[i]! - uses[i - LIMIT]!).toBeGreaterThanOrEqual(WINDOW);
    }),
    { numRuns: 300 },
  );
});
