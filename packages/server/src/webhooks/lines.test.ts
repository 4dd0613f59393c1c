import { expect, test } from 'vitest';
import { Lines } from './lines.ts';

const due = (subscriptionId: string, id: string, { number = 1, isFailing = false } = {}) => ({
  subscription_id: subscriptionId,
  id,
  number,
  attempt_count: 0,
  failed_attempts: isFailing ? 10 : 9,
});

/** Takes turns at `now` and begins as many attempts as were allowed, all of them due. */
function begin(lines: Lines, now: number): Map<string, number> {
  const taken = lines.take(now);
  for (const wanted of taken) {
    const { subscriptionId, places } = wanted;
    const found = Array.from({ length: places }, (_, i) =>
      due(subscriptionId, `${subscriptionId} ${now} ${i}`),
    );
    lines.found(wanted, found);
    for (const one of found) lines.begin(one, now);
  }
  return new Map(taken.map(({ subscriptionId, places }) => [subscriptionId, places]));
}
const markAll = (lines: Lines, count: number, prefix = 'wh') =>
  Array.from({ length: count }, (_, n) => lines.mark(`${prefix}_${n}`));

test('a subscription has eight places, and a further one when its receiver has answered', () => {
  const lines = new Lines();
  lines.mark('wh_1');
  expect(begin(lines, 0).get('wh_1')).toBe(8);
  expect(lines.underWay()).toHaveLength(8);
  expect(lines.take(0)).toEqual([]);
  lines.answered('wh_1', 'wh_1 0 3', 10);
  expect(lines.underWay()).toHaveLength(8);
  expect(lines.take(0)).toMatchObject([{ subscriptionId: 'wh_1', places: 1 }]);
});

test('subscriptions take turns: one with many deliveries does not delay the others', () => {
  const lines = new Lines();
  markAll(lines, 150);
  const first = new Set(begin(lines, 0).keys());
  const second = new Set(begin(lines, 0).keys());
  expect([first.size, first.intersection(second).size]).toEqual([100, 0]);
});

test('those that fail or are slow leave room for others, and all together are bounded', () => {
  const lines = new Lines();
  markAll(lines, 300, 'dead');
  for (let i = 0; i < 10; i++) begin(lines, 0);
  expect(lines.underWay()).toHaveLength(1_024);
  const stuck = new Lines();
  markAll(stuck, 64, 'slow');
  begin(stuck, 0);
  expect(stuck.underWay()).toHaveLength(512);
  markAll(stuck, 1, 'slow');
  stuck.end('slow_0', 'slow_0 0 0', { isAccepted: false });
  stuck.end('slow_1', 'slow_1 0 0', { isAccepted: false });
  markAll(stuck, 3, 'well');
  const later = begin(stuck, 2_000);
  expect([...later].filter(([id]) => id.startsWith('well')).map(([, places]) => places)).toEqual([8, 8, 8]);
  expect([...later].filter(([id]) => id.startsWith('slow')).length).toBeLessThanOrEqual(2);
});

test('attempts that turn out to be slow give the places of others back, and have fewer from then on', () => {
  const lines = new Lines();
  const round = (now: number) => [...begin(lines, now), ...begin(lines, now), ...begin(lines, now)];
  markAll(lines, 128, 'slow');
  round(0);
  markAll(lines, 2, 'well');
  expect(lines.underWay()).toHaveLength(1_024);
  expect(round(500)).toEqual([]);
  expect(round(1_500)).toEqual([
    ['well_0', 8],
    ['well_1', 8],
  ]);
  const end = (ids: string[], now: number) => {
    for (const id of ids) {
      const subscriptionId = id.split(' ')[0]!;
      lines.answered(subscriptionId, id, now);
      lines.end(subscriptionId, id, { isAccepted: true });
    }
  };
  const idsOf = (prefix: string) => lines.underWay().filter((id) => id.startsWith(prefix));
  end(idsOf('well'), 1_600);
  // They accept after 14 s each.
  end(idsOf('slow'), 14_000);
  markAll(lines, 128, 'slow');
  round(14_000);
  expect(idsOf('slow')).toHaveLength(512);
  // One that answers soon is like the others again.
  end(idsOf('slow_0 '), 14_900);
  end(idsOf('slow_1 '), 14_900);
  markAll(lines, 1, 'slow');
  expect(round(15_500).map(([id]) => id)).toContain('slow_0');
});

test('a subscription is slow until its receiver has answered', () => {
  const lines = new Lines();
  markAll(lines, 65);
  begin(lines, 0);
  const first = 'wh_0 0 0';
  expect(lines.underWay()).toContain(first);
  lines.answered('wh_0', first, 900);
  lines.end('wh_0', first, { isAccepted: true });
  for (let i = 1; i < 8; i++) lines.answered('wh_0', `wh_0 0 ${i}`, 900);
  expect(lines.take(5_000).map(({ subscriptionId }) => subscriptionId)).toEqual(['wh_0']);
});

test('attempts to all failing subscriptions together begin at a bounded rate', () => {
  const lines = new Lines();
  markAll(lines, 20, 'dead');
  let begun = 0;
  for (let now = 0; now < 10_000; now += 5) {
    for (const { subscriptionId, places } of lines.take(now)) {
      for (let i = 0; i < places; i++) {
        const id = `${subscriptionId} ${begun++}`;
        lines.begin(due(subscriptionId, id, { isFailing: true }), now);
        lines.end(subscriptionId, id, { isAccepted: false });
      }
      lines.mark(subscriptionId);
    }
  }
  expect(begun / 10).toBeGreaterThan(80);
  expect(begun / 10).toBeLessThan(120);
  expect(lines.restMs(10_000)).toBeLessThanOrEqual(200);
});

test('after trouble a subscription rests, and idle ones are forgotten', () => {
  const lines = new Lines();
  lines.mark('wh_1');
  const { subscriptionId } = lines.take(0)[0]!;
  lines.begin(due(subscriptionId, 'whd_1'), 0);
  lines.forgetIdle();
  lines.end(subscriptionId, 'whd_1', { isAccepted: true });
  lines.rest(subscriptionId, 500);
  expect([lines.take(499), lines.restMs(499), lines.take(500).length]).toEqual([[], 1, 1]);
  lines.forgetIdle();
  expect([lines.restMs(0), lines.take(1_000)]).toEqual([Infinity, []]);
});

test('first attempts that are done are not looked for again, until a look says that there are some', () => {
  const lines = new Lines();
  const floor = (numbers: number[]) => {
    lines.mark('wh_1');
    const [wanted] = lines.take(0);
    const found = numbers.map((number) => due('wh_1', `whd_${number}`, { number }));
    lines.found(wanted!, found);
    for (const one of found) lines.begin(one, 0);
    return wanted!.floor;
  };
  const end = (number: number) => lines.end('wh_1', `whd_${number}`, { isAccepted: true });
  expect(floor([5, 9])).toBe(0);
  expect(floor([12])).toBe(4);
  end(5);
  expect([floor([]), floor([])]).toEqual([4, 8]);
  end(9);
  end(12);
  expect([floor([]), floor([])]).toEqual([8, 12]);
  lines.markFromStart('wh_1');
  expect([floor([]), floor([])]).toEqual([0, 12]);
  lines.rest('wh_1', 0);
  expect(floor([])).toBe(0);
});
