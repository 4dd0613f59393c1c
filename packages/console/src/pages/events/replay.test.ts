import { expect, test } from 'vitest';
import { commandOf, pathOf, queryOf } from './replay.ts';

test('a replay has the filters that its cursor belongs to', () => {
  const ofApp = { appId: 'prj_1', threadId: 'thr_1', types: ['run.completed', 'run.failed'] };
  expect([pathOf(ofApp), queryOf(ofApp)]).toEqual([
    '/api/platform/v1/apps/prj_1/events',
    { threadId: 'thr_1', types: 'run.completed,run.failed' },
  ]);
  expect(commandOf(ofApp, 'c1')).toBe(
    "headrace events --app 'prj_1' --thread 'thr_1' --type 'run.completed' --type 'run.failed' --since 'c1'",
  );
  const direct = { direct: true, projectId: 'prj_2', runId: 'run_1' } as const;
  expect([pathOf(direct), queryOf(direct)]).toEqual(['/api/events', { projectId: 'prj_2', runId: 'run_1' }]);
  expect(commandOf(direct, 'c2')).toBe(
    "headrace events --direct --project 'prj_2' --run 'run_1' --since 'c2'",
  );
  expect([pathOf({}), queryOf({}), commandOf({}, 'c3')]).toEqual([
    '/api/platform/v1/events',
    {},
    "headrace events --all-apps --since 'c3'",
  ]);
});
