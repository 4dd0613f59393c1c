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
const of = (...moved: object[]) => ({ repository: { externalId: '7', moved }, isInstallation: false });
const sha = 'a'.repeat(40);

test.each([
  ['push', { repository, ref: 'refs/heads/a/b' }, of({ branch: 'a/b' })],
  ['push', { repository, ref: 'refs/tags/v1' }, { repository: null, isInstallation: false }],
  ['delete', { repository, ref: 'a/b', ref_type: 'branch' }, of({ branch: 'a/b' })],
  ['create', { repository, ref: 'v1', ref_type: 'tag' }, { repository: null, isInstallation: false }],
  ['merge_group', { repository, merge_group: {} }, of()],
  ['push', { repository, ref: 'refs/heads/a\0' }, of()],
  ['push', { repository, ref: 'refs/heads/\ud800' }, of()],
  ['push', { repository, ref: { toString: 1 } }, of()],
  ['delete', { repository, ref: 'a\0', ref_type: 'branch' }, of()],
  ['pull_request', { repository, pull_request: { number: 3 } }, of({ number: 3 })],
  ['pull_request_review', { repository, pull_request: { number: 3 } }, of({ number: 3 })],
  ['pull_request_review_comment', { repository, pull_request: { number: 3 } }, of({ number: 3 })],
  ['pull_request_review_thread', { repository, pull_request: { number: 3 } }, of({ number: 3 })],
  ['issue_comment', { repository, issue: { number: 4, pull_request: {} } }, of({ number: 4 })],
  ['issue_comment', { repository, issue: { number: 4 } }, { repository: null, isInstallation: false }],
  [
    'check_run',
    { repository, check_run: { head_sha: sha, pull_requests: [{ number: 1 }, { number: 2 }] } },
    of({ number: 1 }, { number: 2 }),
  ],
  ['check_run', { repository, check_run: { head_sha: sha, pull_requests: [] } }, of({ commitSha: sha })],
  ['check_suite', { repository, check_suite: { head_sha: sha } }, of({ commitSha: sha })],
  ['workflow_run', { repository, workflow_run: { head_sha: sha } }, of({ commitSha: sha })],
  ['status', { repository, sha }, of({ commitSha: sha })],
  ['status', { repository, sha: 'x' }, of()],
  ['repository', { repository, action: 'renamed' }, { ...of(), isInstallation: true }],
  ['installation', { action: 'deleted' }, { repository: null, isInstallation: true }],
  ['push', {}, { repository: null, isInstallation: false }],
  ['ping', { repository }, null],
  ['star', { repository }, null],
  ['push', null, null],
  [
    'pull_request',
    { repository: { id: '7; drop' }, pull_request: { number: -1 } },
    { repository: null, isInstallation: false },
  ],
])('%s %j', (event, payload, hint) => {
  expect(read(event, payload)).toEqual(hint);
  expect(read(event, payload, 'application/x-www-form-urlencoded')).toEqual(hint);
});

test('what is no JSON is of no interest', () => {
  expect(readWebhook({ 'x-github-event': 'push' }, Buffer.from('{'))).toBeNull();
});
