import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { debtOf, lateFineCents } from '../shared/fines.js';
import { dueDay, reasonsAgainstLoan, reasonsAgainstRenewal } from '../shared/loan-rules.js';
import { nextOpenDay, openDaysAfter } from '../shared/opening-hours.js';
import { reasonsAgainstReservation } from '../shared/reservation-rules.js';
import { advanceQueue, positionOf } from '../shared/waiting-list.js';

// Open on Tuesdays and Saturdays; Saturday the 14th is a holiday.
const HOURS = {
  week: [{ day: 2, open: '16:00', close: '19:00' }, { day: 6, open: '10:00', close: '15:00' }],
  closures: [{ date: '2026-03-14' }],
};
const TODAY = '2026-03-10';
const loan = (fields) => ({ id: 'l-1', memberId: 'm-1', out: '2026-03-03', due: TODAY, returned: null, renewals: 0, ...fields });

describe('opening hours', () => {
  test('a closure is skipped', () => assert.equal(nextOpenDay(HOURS, '2026-03-11'), '2026-03-17'));
  test('a library that never opens does not hang', () => {
    assert.equal(nextOpenDay({ week: [], closures: [] }, TODAY), TODAY);
  });
  test('only open days count', () => assert.equal(openDaysAfter(HOURS, '2026-03-07', '2026-03-17'), 2));
});

describe('loans', () => {
  const base = {
    member: { id: 'm-1', plan: 'basic' }, tool: { condition: 'good' }, memberLoans: [], debtCents: 0, claim: null, today: TODAY,
  };

  test('are due on an open day', () => {
    assert.equal(dueDay({ loanDays: 4 }, HOURS, TODAY), '2026-03-17');
  });

  test('are allowed when nothing speaks against them', () => assert.deepEqual(reasonsAgainstLoan(base), []));

  test('are refused with every reason at once', () => {
    const memberLoans = [loan({ due: '2026-03-01' }), loan(), loan()];
    const reasons = reasonsAgainstLoan({
      ...base, tool: { condition: 'repair' }, memberLoans, debtCents: 1501, claim: { memberId: 'm-2' },
    });
    assert.deepEqual(reasons, [
      'rule.toolNotUsable', 'rule.tooManyLoans', 'rule.hasOverdue', 'rule.tooMuchDebt', 'rule.claimedByOther',
    ]);
  });

  test('go to the member for whom the tool is kept', () => {
    assert.deepEqual(reasonsAgainstLoan({ ...base, claim: { memberId: 'm-1' } }), []);
  });

  test('are renewed twice at most, and never past somebody who waits', () => {
    const ask = (fields, more) => reasonsAgainstRenewal({ loan: loan(fields), someoneWaits: false, reservedSoon: false, today: TODAY, ...more });
    assert.deepEqual(ask({ renewals: 1 }), []);
    assert.deepEqual(ask({ renewals: 2 }), ['rule.noRenewalsLeft']);
    assert.deepEqual(ask({ due: '2026-03-09' }, { someoneWaits: true }), ['rule.renewOverdue', 'rule.someoneWaits']);
  });
});

describe('fines', () => {
  test('count open days only', () => assert.equal(lateFineCents(loan({ due: '2026-03-07' }), HOURS, '2026-03-16'), 50));
  test('have a cap', () => assert.equal(lateFineCents(loan({ due: '2025-03-07' }), HOURS, TODAY), 2500));
  test('nothing is owed for a return in time', () => assert.equal(lateFineCents(loan({}), HOURS, TODAY), 0));
  test('settled fines are no debt', () => {
    assert.equal(debtOf([{ cents: 100, settled: null }, { cents: 900, settled: TODAY }]), 100);
  });
});

describe('reservations', () => {
  const ask = (from, to, more) => reasonsAgainstReservation({
    range: { from, to }, taken: [{ from: '2026-03-20', to: '2026-03-22' }], pendingCount: 0, maxReservations: 1, today: TODAY, ...more,
  });
  test('fit between what is taken', () => assert.deepEqual(ask('2026-03-15', '2026-03-19'), []));
  test('are refused by range', () => {
    assert.deepEqual(ask('2026-03-19', '2026-03-20'), ['rule.rangeTaken']);
    assert.deepEqual(ask('2026-03-12', '2026-03-11'), ['rule.rangeBackwards']);
    assert.deepEqual(ask('2026-04-01', '2026-04-15'), ['rule.rangeTooLong']);
    assert.deepEqual(ask(TODAY, TODAY), ['rule.rangeInPast']);
    assert.deepEqual(ask('2026-07-01', '2026-07-02'), ['rule.rangeTooFar']);
  });
});

describe('waiting lists', () => {
  const entry = (id, place, status, holdUntil = null) => ({ id, memberId: `m-${place}`, place, status, holdUntil });
  test('the first in line gets the hold', () => {
    const entries = [entry('w-2', 2, 'waiting'), entry('w-1', 1, 'waiting'), entry('w-0', 0, 'left')];
    assert.equal(positionOf(entries, 'm-2'), 2);
    assert.deepEqual([...advanceQueue(entries, HOURS, TODAY)], [['w-1', { status: 'held', holdUntil: '2026-03-17' }]]);
  });
  test('a hold that ran out goes to the next', () => {
    const entries = [entry('w-1', 1, 'held', '2026-03-09'), entry('w-2', 2, 'waiting')];
    assert.deepEqual([...advanceQueue(entries, HOURS, TODAY)].map(([id, patch]) => [id, patch.status]), [
      ['w-1', 'lapsed'], ['w-2', 'held'],
    ]);
  });
  test('a running hold is left alone', () => {
    assert.equal(advanceQueue([entry('w-1', 1, 'held', TODAY), entry('w-2', 2, 'waiting')], HOURS, TODAY).size, 0);
  });
});
