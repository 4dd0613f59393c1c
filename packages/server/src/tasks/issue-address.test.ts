import { describe, expect, test } from 'vitest';
import { identifierOf, issueKey, issueUrlFaults } from './issue-address.ts';

const X = 'https://tracker.example.com';

test.each([
  ['https://github.com/acme/web/issues/12', 'acme/web#12'],
  ['https://git.example.com/acme/web/issues/12/#note', 'acme/web#12'],
  ['https://gitlab.com/acme/web/-/issues/7', 'acme/web#7'],
  ['https://gitlab.com/acme/tools/web/-/issues/7?a=b', 'acme/tools/web#7'],
  ['https://github.com/acme/web/issues/12/events', 'events'],
  ['https://linear.app/acme/issue/ENG-123/fix-the-login-page', 'ENG-123'],
  ['https://acme.atlassian.net/browse/PROJ_2-42', 'PROJ_2-42'],
  [`${X}/items/abc`, 'abc'],
  [`${X}/items/abc//?view=1#top`, 'abc'],
  [`${X}/items/utf-8`, 'utf-8'],
  [`${X}/items/grün`, 'grün'],
  [`${X}/items/a%00b`, 'a%00b'],
  [`${X}/items/50%`, '50%'],
  [`${X}/${'🦊'.repeat(150)}`, '🦊'.repeat(100)],
  [`${X}/`, 'tracker.example.com'],
])('%s is %s', (address, identifier) => expect(identifierOf(address)).toBe(identifier));

describe('the same issue', () => {
  test.each([
    'HTTPS://Tracker.Example.COM/items/a',
    `${X}/items/a/`,
    `${X}/items/a//`,
    `${X}/items/a#top`,
    `${X}/items/a/#`,
  ])('%s', (address) => expect(issueKey(address)).toBe(issueKey(`${X}/items/a`)));
});

describe('another issue', () => {
  test.each([
    'http://tracker.example.com/items/a',
    `${X}/items/A`,
    `${X}/items/a?b`,
    `${X}/items/a/b`,
    `${X}:444/items/a`,
  ])('%s', (address) => expect(issueKey(address)).not.toBe(issueKey(`${X}/items/a`)));
});

test('the key of the longest address fits into an index', () =>
  expect(issueKey(`${X}/${'🦊'.repeat(2_000)}`)).toHaveLength(43));

test.each(['ftp://x/1', 'https://me@x/1', 'https:/\\me:p@x', 'javascript:alert(1)', 'x/1', ''])(
  '%s is refused',
  (address) => expect(issueUrlFaults('/url', address).map(({ path }) => path)).toEqual(['/url']),
);
test('an address without a user is accepted, and so is no address', () =>
  expect([`${X}/?a=b@c`, undefined].flatMap((address) => issueUrlFaults('/url', address))).toEqual([]));
