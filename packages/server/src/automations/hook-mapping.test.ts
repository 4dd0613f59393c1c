import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { mapHook } from './hook-mapping.ts';

const FIXTURES = join(import.meta.dirname, 'fixtures');
const payloadOf = (name: string) =>
  JSON.parse(readFileSync(join(FIXTURES, `${name}.json`), 'utf8')) as Record<string, unknown>;
const defaults = { organizationSlug: 'fallback-org', projectSlug: 'fallback-project', projectId: '99' };

const ofIssue = {
  issueId: '1170820242',
  shortId: 'FRONT-END-9',
  title: 'ReferenceError: total is not defined',
  level: 'error',
  projectId: '1',
  projectSlug: 'front-end',
  organizationSlug: 'acme',
  url: 'https://acme.sentry.io/issues/1170820242/',
};
const ofEvent = {
  issueId: '1117540176',
  title: 'ReferenceError: total is not defined',
  level: 'error',
  projectId: '1',
  projectSlug: 'front-end',
  organizationSlug: 'acme',
  url: 'https://sentry.io/organizations/acme/issues/1117540176/events/e4874d664c3540c1a32eab185f12c5ab/',
};

describe('what an error tracker documents', () => {
  test.each([
    ['sentry-issue', { kind: 'mapped', issue: { errorTrackerIssue: ofIssue }, key: '1170820242' }],
    ['sentry-issue-alert', { kind: 'mapped', issue: { errorTrackerIssue: ofEvent }, key: '1117540176' }],
    ['sentry-metric-alert', { kind: 'filtered' }],
    ['sentry-error', { kind: 'unmapped' }],
    ['sentry-comment', { kind: 'unmapped' }],
  ])('%s', (name, expected) => expect(mapHook('error_tracker', payloadOf(name), defaults)).toEqual(expected));
});

describe('what a tracker documents', () => {
  const github = 'https://github.com/acme/web/issues/41';
  const linear = 'https://linear.app/acme/issue/ENG-5/the-total-is-wrong';
  test.each([
    ['github-issues-opened', github],
    ['github-issues-labeled', github],
    ['linear-issue', linear],
  ])('%s', (name, url) =>
    expect(mapHook('tracker', payloadOf(name))).toEqual({
      kind: 'mapped',
      issue: { trackerIssueUrl: url },
      key: expect.any(String) as string,
    }),
  );
  test.each([
    ['github-issues-closed', 'filtered'],
    ['linear-issue-update', 'filtered'],
    ['github-ping', 'unmapped'],
  ])('%s', (name, kind) => expect(mapHook('tracker', payloadOf(name))).toEqual({ kind }));

  test('hooks about one issue have one key, however its URL is written', () => {
    const keyOf = (url: string) => (mapHook('tracker', { issue: { html_url: url } }) as { key: string }).key;
    expect(keyOf(`${github}/#issuecomment-1`)).toBe(keyOf(github));
    expect(keyOf(linear)).not.toBe(keyOf(github));
  });
});

test('each fixture names its source', () => {
  const readme = readFileSync(join(FIXTURES, 'README.md'), 'utf8');
  const files = readdirSync(FIXTURES).filter((file) => file.endsWith('.json'));
  expect(files.filter((file) => !readme.includes(`\`${file}\``))).toEqual([]);
});

test('a generic source maps nothing and takes any action', () => {
  expect(mapHook('generic', { action: 'closed' })).toEqual({ kind: 'mapped' });
});

describe('an error tracker', () => {
  const issue = { id: '9', title: 'Bare', web_url: 'https://errors.example.com/issues/9' };
  const mapped = (data: object, given: object = defaults, more: object = {}) =>
    mapHook('error_tracker', { action: 'created', data, ...more }, given);
  const recordOf = (data: object) =>
    (mapped(data) as { issue: { errorTrackerIssue: Record<string, string> } }).issue.errorTrackerIssue;

  test('without slugs has the defaults', () => {
    expect(recordOf({ issue })).toEqual({
      issueId: '9',
      title: 'Bare',
      url: 'https://errors.example.com/issues/9',
      ...defaults,
    });
  });

  test('has slugs of the API address', () => {
    const url = 'https://errors.example.com/api/0/projects/acme/backend/events/1/';
    expect(recordOf({ issue: { ...issue, url } })).toMatchObject({
      organizationSlug: 'acme',
      projectSlug: 'backend',
    });
    const ofOrganization = 'https://errors.example.com/api/0/organizations/acme/issues/9/';
    expect(
      recordOf({ issue: { ...issue, url: ofOrganization, project: { id: 5, slug: 'web' } } }),
    ).toMatchObject({
      organizationSlug: 'acme',
      projectSlug: 'web',
      projectId: '5',
    });
  });

  test.each([
    ['no issue', {}],
    ['an issue without an address', { issue: { id: '1' } }],
    ['an address that is none', { issue: { ...issue, web_url: 'issues/9' } }],
    ['an address with a user', { issue: { ...issue, web_url: 'https://me:secret@errors.example.com/9' } }],
    ['another scheme', { issue: { ...issue, web_url: 'javascript:alert(1)' } }],
    ['a long id', { issue: { ...issue, id: 'x'.repeat(129) } }],
    ['an id that is no text', { issue: { ...issue, id: { $gt: 0 } } }],
    ['data that is no object', 'text'],
  ])('with %s is unmapped', (_, data) => expect(mapped(data as object)).toEqual({ kind: 'unmapped' }));

  test('without a default for a missing field is unmapped', () => {
    expect(mapped({ issue }, { projectId: '1' })).toEqual({ kind: 'unmapped' });
  });

  test('omits fields that are too long, and cuts the title', () => {
    const long = recordOf({
      issue: { ...issue, level: 'x'.repeat(51), shortId: 'y'.repeat(129), title: '🦊'.repeat(501) },
    });
    expect(long).toEqual({ issueId: '9', url: issue.web_url, title: '🦊'.repeat(500), ...defaults });
  });

  test.each(['resolved', 'assigned', 'archived', 'critical', '', 5, null, ['created'], '__proto__'])(
    'with the action %j is filtered',
    (action) => expect(mapped({ issue }, defaults, { action })).toEqual({ kind: 'filtered' }),
  );

  test('without an action is mapped', () => {
    expect(mapHook('error_tracker', { data: { issue } }, defaults)).toMatchObject({ kind: 'mapped' });
  });
});

test('a tracker whose first URL is invalid is unmapped', () => {
  for (const url of ['nowhere', `https://x.example.com/${'y'.repeat(2048)}`, 'ftp://x.example.com/1'])
    expect(
      mapHook('tracker', { issue: { html_url: url }, url: 'https://linear.app/acme/issue/ENG-5' }),
    ).toEqual({
      kind: 'unmapped',
    });
});
