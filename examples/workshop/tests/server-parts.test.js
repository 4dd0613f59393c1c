import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createPasswords } from '../server/auth/passwords.js';
import { createSessions } from '../server/auth/sessions.js';
import { createThrottle } from '../server/auth/throttle.js';
import { readConfig } from '../server/config.js';
import { readCookie } from '../server/http/cookies.js';
import { createRouter } from '../server/router.js';
import { routes } from '../server/routes.js';
import { toCsv } from '../server/services/csv.js';

describe('router', () => {
  const find = createRouter([
    { method: 'GET', path: '/api/tools/:id', name: 'show' },
    { method: 'GET', path: '/api/tools/new', name: 'new' },
  ]);
  test('a literal beats a parameter', () => assert.equal(find('GET', '/api/tools/new').route.name, 'new'));
  test('parameters are decoded', () => assert.deepEqual(find('GET', '/api/tools/a%20b').params, { id: 'a b' }));
  test('what is not there is 404, a wrong method 405', () => {
    assert.throws(() => find('GET', '/api/tools'), { status: 404 });
    assert.throws(() => find('GET', '/api/tools/%ff'), { status: 404 });
    assert.throws(() => find('POST', '/api/tools/x'), { status: 405, details: { allowed: ['GET'] } });
  });
  test('every route of the library says who may use it', () => {
    for (const route of routes) assert.match(route.allow, /^(?:visitor|member|staff)$/, route.path);
  });
});

describe('passwords and sessions', () => {
  test('the right password verifies, in any Unicode form', () => {
    const passwords = createPasswords(2);
    const stored = passwords.hash('caf\u00e9 au lait');
    assert.ok(passwords.verify('cafe\u0301 au lait', stored));
    assert.equal(passwords.verify('cafe au lait', stored), false);
    assert.notEqual(passwords.hash('same'), passwords.hash('same'));
  });

  test('a session ends by time and by closing', () => {
    let now = 0;
    const sessions = createSessions(() => now);
    const token = sessions.open('m-1');
    assert.equal(sessions.find(token), 'm-1');
    assert.equal(sessions.find('guess'), null);
    now = 13 * 60 * 60 * 1000;
    assert.equal(sessions.find(token), null);
    const other = sessions.open('m-2');
    sessions.closeAll('m-2');
    assert.equal(sessions.find(other), null);
  });

  test('guessing is stopped and forgiven later', () => {
    let now = 0;
    const throttle = createThrottle(() => now);
    for (let count = 0; count < 8; count += 1) throttle.failed('a@b.example');
    assert.ok(throttle.blocked('a@b.example'));
    assert.equal(throttle.blocked('c@d.example'), false);
    now = 16 * 60 * 1000;
    assert.equal(throttle.blocked('a@b.example'), false);
  });
});

describe('small parts', () => {
  test('CSV quotes what it must and disarms formulas', () => {
    const rows = [{ name: 'Vogt, "Mia"', note: '=1+1', cents: -5 }, { name: null, note: 'two\nlines' }];
    assert.equal(toCsv(['name', 'note', 'cents'], rows), 'name,note,cents\r\n"Vogt, ""Mia""",\'=1+1,-5\r\n,"two\nlines",\r\n');
  });
  test('cookies are found among others', () => {
    assert.equal(readCookie('a=1; workshop_session=x=y; b=2', 'workshop_session'), 'x=y');
    assert.equal(readCookie(undefined, 'a'), undefined);
  });
  test('configuration names everything that is wrong', () => {
    assert.throws(() => readConfig({ WORKSHOP_PORT: 'x', WORKSHOP_DEMO_PASSWORD: 'short' }, '/'), /PORT.*PASSWORD/);
    assert.equal(readConfig({}, '/srv').dataFile, '/srv/var/library.json');
  });
});
