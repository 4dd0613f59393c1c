import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startServer } from './support/library.js';

const STAFF = 'ines@workshop.example';

describe('the desk', () => {
  test('hands out, takes back late, fines, and keeps the tool for the next in line', async (t) => {
    const { ctx, signIn } = await startServer(t);
    const staff = await signIn(STAFF);
    const lent = await staff('POST', '/api/loans', { toolId: 't-8', memberId: 'm-12' });
    assert.equal(lent.status, 201);
    assert.equal(lent.json.due, '2026-03-24');

    const back = await staff('POST', '/api/loans/l-24/return');
    assert.equal(back.json.fine.cents, 50);
    assert.equal(ctx.store.waiting.get('w-1').status, 'held');
    const { json } = await staff('GET', '/api/tools/t-1');
    assert.equal(json.availability, 'held');
  });

  test('refuses with the house rules and changes nothing', async (t) => {
    const { ctx, signIn } = await startServer(t);
    const staff = await signIn(STAFF);
    const before = ctx.store.loans.count();
    const refusal = await staff('POST', '/api/loans', { toolId: 't-1', memberId: 'm-6' });
    assert.equal(refusal.status, 409);
    assert.deepEqual(refusal.json.reasons, ['rule.hasOverdue', 'rule.tooMuchDebt', 'rule.alreadyLent']);
    const kept = await staff('POST', '/api/loans', { toolId: 't-25', memberId: 'm-12' });
    assert.deepEqual(kept.json.reasons, ['rule.claimedByOther']);
    assert.equal(ctx.store.loans.count(), before);
    assert.equal((await staff('POST', '/api/loans/l-1/return')).status, 409);
  });

  test('a reservation is fulfilled by the loan', async (t) => {
    const { ctx, signIn } = await startServer(t);
    const staff = await signIn(STAFF);
    assert.equal((await staff('POST', '/api/loans', { toolId: 't-20', memberId: 'm-9' })).status, 201);
    assert.equal(ctx.store.reservations.get('r-4').status, 'fulfilled');
  });

  test('settles a fine once', async (t) => {
    const { signIn } = await startServer(t);
    const staff = await signIn(STAFF);
    const before = (await staff('GET', '/api/fines')).json.openCents;
    assert.equal((await staff('POST', '/api/fines/f-4/pay')).json.outcome, 'paid');
    assert.equal((await staff('POST', '/api/fines/f-4/waive')).status, 409);
    assert.equal((await staff('GET', '/api/fines')).json.openCents, before - 1800);
  });
});

describe('a member', () => {
  test('renews, but not past somebody who waits', async (t) => {
    const { signIn } = await startServer(t);
    const priya = await signIn('priya@mail.example');
    const renewed = await priya('POST', '/api/loans/l-27/renew');
    assert.deepEqual([renewed.status, renewed.json.renewals], [200, 1]);
    const leila = await signIn('leila@mail.example');
    assert.deepEqual((await leila('POST', '/api/loans/l-24/renew')).json.reasons, ['rule.renewOverdue', 'rule.someoneWaits']);
  });

  test('reserves and cancels', async (t) => {
    const { signIn } = await startServer(t);
    const noah = await signIn('noah@mail.example');
    const made = await noah('POST', '/api/reservations', { toolId: 't-19', from: '2026-03-12', to: '2026-03-14' });
    assert.equal(made.status, 201);
    const second = await noah('POST', '/api/reservations', { toolId: 't-7', from: '2026-03-13', to: '2026-03-14' });
    assert.deepEqual(second.json.reasons, ['rule.rangeTaken', 'rule.tooManyReservations']);
    assert.equal((await noah('DELETE', `/api/reservations/${made.json.id}`)).json.status, 'cancelled');
  });

  test('joins and leaves a line', async (t) => {
    const { signIn } = await startServer(t);
    const noah = await signIn('noah@mail.example');
    const joined = await noah('POST', '/api/tools/t-1/waiting');
    assert.equal(joined.json.place, 3);
    assert.deepEqual((await noah('POST', '/api/tools/t-1/waiting')).json.reasons, ['rule.alreadyWaiting']);
    assert.deepEqual((await noah('POST', '/api/tools/t-8/waiting')).json.reasons, ['rule.toolOnShelf']);
    assert.equal((await noah('DELETE', `/api/waiting/${joined.json.id}`)).json.status, 'left');
  });
});
