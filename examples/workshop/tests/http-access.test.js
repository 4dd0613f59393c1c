import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, test } from 'node:test';
import { startServer } from './support/library.js';

describe('sessions', () => {
  test('sign in, see oneself, sign out', async (t) => {
    const { visitor, signIn } = await startServer(t);
    assert.equal((await visitor('GET', '/api/session')).json, null);
    const noah = await signIn('noah@mail.example');
    const { json } = await noah('GET', '/api/session');
    assert.equal(json.name, 'Noah Brandt');
    assert.equal('passwordHash' in json, false);
    assert.equal((await noah('DELETE', '/api/session')).status, 204);
    assert.equal((await noah('GET', '/api/session')).json, null);
  });

  test('a wrong password and an unknown address look the same; guessing is stopped', async (t) => {
    const { visitor } = await startServer(t);
    const attempt = (email) => visitor('POST', '/api/session', { email, password: 'wrong' });
    const known = await attempt('noah@mail.example');
    const unknown = await attempt('nobody@mail.example');
    assert.deepEqual([known.status, known.json], [unknown.status, unknown.json]);
    for (let count = 0; count < 7; count += 1) await attempt('noah@mail.example');
    assert.equal((await attempt('noah@mail.example')).status, 429);
  });
});

describe('rights', () => {
  test('visitors are asked to sign in, members are kept from the desk', async (t) => {
    const { visitor, signIn } = await startServer(t);
    const noah = await signIn('noah@mail.example');
    for (const target of ['/api/members', '/api/reports', '/api/exports/loans']) {
      assert.equal((await visitor('GET', target)).status, 401, target);
      assert.equal((await noah('GET', target)).status, 403, target);
    }
  });

  test('members see their own records only', async (t) => {
    const { signIn } = await startServer(t);
    const noah = await signIn('noah@mail.example');
    assert.ok((await noah('GET', '/api/loans')).json.items.every((loan) => loan.memberId === 'm-10'));
    assert.equal((await noah('GET', '/api/members/m-10')).status, 200);
    assert.equal((await noah('GET', '/api/members/m-3')).status, 404);
    assert.equal((await noah('DELETE', '/api/reservations/r-1')).status, 404);
  });

  test('staff add members; an address is taken once', async (t) => {
    const { signIn } = await startServer(t);
    const staff = await signIn('ines@workshop.example');
    const member = { name: 'Ada', email: 'ADA@mail.example', plan: 'basic', password: 'long enough' };
    const added = await staff('POST', '/api/members', member);
    assert.deepEqual([added.status, added.json.email, added.json.role], [201, 'ada@mail.example', 'member']);
    assert.deepEqual((await staff('POST', '/api/members', member)).json.problems, { email: 'invalid.taken' });
  });
});

describe('reports and files', () => {
  test('the numbers of the desk', async (t) => {
    const { signIn } = await startServer(t);
    const staff = await signIn('ines@workshop.example');
    const { json } = await staff('GET', '/api/reports');
    assert.deepEqual([json.summary.tools, json.summary.activeLoans, json.summary.overdueLoans], [25, 10, 3]);
    assert.equal(json.popular[0].name, 'Hammer drill');
    assert.equal(json.trend.length, 28);
    const csv = await staff('GET', '/api/exports/tools');
    assert.match(csv.headers.get('content-disposition'), /tools-2026-03-10\.csv/);
    assert.equal(csv.text.split('\r\n').length, 28);
  });

  test('files are served from their folder and from nowhere else', async (t) => {
    const root = path.resolve(import.meta.dirname, '../web');
    const { visitor } = await startServer(t, undefined, { root });
    assert.match((await visitor('GET', '/')).text, /<title>Workshop/);
    assert.equal((await visitor('GET', '/%2e%2e%2fpackage.json')).status, 404);
    assert.equal((await visitor('GET', '/favicon.png')).headers.get('content-type'), 'image/png');
  });
});
