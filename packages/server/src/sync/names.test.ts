import { expect, test } from 'vitest';
import { branchName, defaultBody, defaultTitle, issueOf, numbered } from './names.ts';

const THREAD = 'thr_01k9x3v5e8f7arh2m4t6w8y0zb';

test.each([
  ['Fix: Login — “page” #42!', 'fix-login-page-42'],
  ['日本語', 'thread'],
  [`${'x'.repeat(39)} tail`, 'x'.repeat(39)],
  ['../../etc/passwd', 'etc-passwd'],
  ['--force', 'force'],
  ['', 'thread'],
])('the branch of %j', (title, slug) => {
  expect(branchName('headrace/', title, THREAD)).toBe(`headrace/${slug}-w8y0zb`);
});

test('further branches of a thread have a number', () => {
  expect([numbered('b', 1), numbered('b', 2), numbered('b', 12)]).toEqual(['b', 'b-2', 'b-12']);
});

test("a title is the thread's, else the first line of its first message, else Update; on one line and cut", () => {
  expect([
    defaultTitle('From the\nthread `x`', 'message'),
    defaultTitle('t'.repeat(300), null),
    defaultTitle(' ', '\n\nFirst line\nsecond'),
    defaultTitle(null, 'm'.repeat(80)),
    defaultTitle(null, null),
  ]).toEqual(["From the thread 'x'", `${'t'.repeat(255)}…`, 'First line', `${'m'.repeat(71)}…`, 'Update']);
});

const HOST = 'https://git.example.com';
const issues = (trackerIssueUrl: string | null, errorTrackerUrl: string | null = null) => ({
  trackerIssueUrl,
  errorTrackerUrl,
  repositoryUrl: `${HOST}/acme/web`,
});

test('a body is the last reply, with the issues that the change is for', () => {
  expect([
    defaultBody('Done.', issues(`${HOST}/Acme/web/issues/7`, 'https://errors.example.com/1')),
    defaultBody(null, issues(`${HOST}/acme/other/issues/7`)),
    defaultBody('Done.', issues('https://tracker.example.com/AB-1')),
    defaultBody('x'.repeat(5_000), issues(null)).length,
    defaultBody(null, issues(null)),
  ]).toEqual([
    'Done.\n\nCloses #7\nRefs https://errors.example.com/1',
    `Refs ${HOST}/acme/other/issues/7`,
    'Done.\n\nRefs https://tracker.example.com/AB-1',
    4_000,
    '',
  ]);
});

test('an address names an issue only at the host of the repository', () => {
  expect([
    issueOf(`${HOST}/acme/web/issues/7#note`, `${HOST}/acme/web`),
    issueOf(`${HOST}/acme/web/pull/7`, `${HOST}/acme/web`),
    issueOf('https://elsewhere.example.com/acme/web/issues/7', `${HOST}/acme/web`),
    issueOf('no address', `${HOST}/acme/web`),
    issueOf(`${HOST}/acme/web/issues/7`, null),
  ]).toEqual([{ fullName: 'acme/web', number: 7 }, null, null, null, null]);
});
