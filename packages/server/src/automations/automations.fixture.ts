/** For tests: projects with automations on a real service. */
import type { TestAnswer, TestServer } from '../service.fixture.ts';
import { ok } from '../threads/threads.fixture.ts';

type Json = TestAnswer['body'];

/** Once a year, so that none begins while a test looks on. */
export const YEARLY = { kind: 'schedule', cron: '0 3 1 1 *', timeZone: 'UTC' };

export const newProject = async (s: TestServer, key = s.key): Promise<string> =>
  (await ok(s.call('POST', '/api/projects', { name: 'Garden' }, { key }))).project.id;

/** Makes an automation, a yearly one without `trigger`. Returns the answer's body, which may have a secret. */
export const newAutomation = (
  s: TestServer,
  projectId: string,
  fields: Json = {},
  key = s.key,
): Promise<Json> =>
  ok(
    s.call(
      'POST',
      '/api/automations',
      { projectId, name: 'Tidy', prompt: 'Tidy up.', trigger: YEARLY, ...fields },
      { key },
    ),
  );

export const automationNow = async (s: TestServer, id: string): Promise<Json> =>
  (await ok(s.call('GET', `/api/automations/${id}`))).automation;
