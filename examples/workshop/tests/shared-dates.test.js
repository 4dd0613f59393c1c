import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { addDays, daysBetween, eachDay, isDay, rangesOverlap, resolveDay, weekday } from '../shared/dates.js';
import { parseAmount, plainAmount, sumCents } from '../shared/money.js';

describe('days', () => {
  test('only days of the calendar are days', () => {
    assert.ok(isDay('2024-02-29'));
    for (const wrong of ['2023-02-29', '2023-13-01', '2023-1-1', '', null, 20230101]) assert.equal(isDay(wrong), false);
  });

  test('moving by days crosses months, leap days and summer time', () => {
    assert.equal(addDays('2024-02-28', 2), '2024-03-01');
    assert.equal(addDays('2026-03-28', 2), '2026-03-30');
    assert.equal(addDays('2026-01-01', -1), '2025-12-31');
    assert.equal(daysBetween('2026-03-01', '2026-02-27'), -2);
  });

  test('weeks begin on Monday', () => {
    assert.equal(weekday('2026-03-09'), 1);
    assert.equal(weekday('2026-03-15'), 7);
  });

  test('ranges that share one day overlap', () => {
    const range = { from: '2026-03-01', to: '2026-03-05' };
    assert.ok(rangesOverlap(range, { from: '2026-03-05', to: '2026-03-09' }));
    assert.equal(rangesOverlap(range, { from: '2026-03-06', to: '2026-03-09' }), false);
    assert.equal(eachDay(range.from, range.to).length, 5);
  });

  test('fixtures are relative to today', () => {
    assert.equal(resolveDay('today', '2026-03-10'), '2026-03-10');
    assert.equal(resolveDay('today-10', '2026-03-10'), '2026-02-28');
    assert.equal(resolveDay('2020-01-01', '2026-03-10'), '2020-01-01');
  });
});

describe('money', () => {
  test('amounts are read in both notations and never guessed', () => {
    assert.equal(parseAmount('12'), 1200);
    assert.equal(parseAmount('12,5'), 1250);
    assert.equal(parseAmount(' 0.05 '), 5);
    for (const wrong of ['', '1.234', '-3', '1,2,3', 'ten']) assert.equal(parseAmount(wrong), null);
  });

  test('cents survive addition and writing', () => {
    assert.equal(plainAmount(sumCents([10, 20])), '0.30');
    assert.equal(plainAmount(-1205), '-12.05');
    assert.equal(plainAmount(5), '0.05');
  });
});
