import { expect, test } from 'vitest';
import { readWebhook } from './webhook.ts';

const read = (event: string, payload: unknown, type = 'application/json') =>
  readWebhook(
    { 'x-github-event': event, 'content-type': type },
    Buffer.from(
      type === 'application/json'
        ? JSON.stringify(payload)
        : `payload=${encodeURIComponent(JSON.stringify(payload))}`,
    ),
  );
const repository = { id: 7 };
const of = (...numbers: (number | null)[]) => ({
  repositories: numbers.map((pullRequest) => ({ externalId: '7', pullRequest })),
  isInstallation: false,
});

test.each([
  ['push', { repository }, of(null)],
  ['pull_request', { repository, pull_request: { number: 3 } }, of(3)],
  ['pull_request_review', { repository, pull_request: { number: 3 } }, of(3)],
  ['issue_comment', { repository, issue: { number: 4, pull_request: {} } }, of(4)],
  ['issue_comment', { repository, issue: { number: 4 } }, of(null)],
  ['check_run', { repository, check_run: { pull_requests: [{ number: 1 }, { number: 2 }] } }, of(1, 2)],
  ['status', { repository, sha: 'x' }, of(null)],
  ['repository', { repository, action: 'renamed' }, { ...of(null), isInstallation: true }],
  ['installation', { action: 'deleted' }, { repositories: [], isInstallation: true }],
  ['push', {}, { repositories: [], isInstallation: false }],
  ['ping', { repository }, null],
  ['star', { repository }, null],
  ['push', null, null],
  [
    'pull_request',
    { repository: { id: '7; drop' }, pull_request: { number: -1 } },
    { repositories: [], isInstallation: false },
  ],
])('%s %j', (event, payload, hint) => {
  expect(read(event, payload)).toEqual(hint);
  expect(read(event, payload, 'application/x-www-form-urlencoded')).toEqual(hint);
});

test('what is no JSON is of no interest', () => {
  expect(readWebhook({ 'x-github-event': 'push' }, Buffer.from('{'))).toBeNull();
});
