/** For tests: projects with automations on a real service. */
import type { TestAnswer, TestServer } from '../service.fixture.ts';
import { ok } from '../threads/threads.fixture.ts';

type Json = TestAnswer['body'];

/** Once a year, so that none is due during a test. */
export const YEARLY = { kind: 'schedule', cron: '0 3 1 1 *', timeZone: 'UTC' };

export const newProject = async (s: TestServer, key = s.key): Promise<string> =>
  (await ok(s.call('POST', '/api/projects', { name: 'Garden' }, { key }))).project.id;

/** Creates an automation, by default a yearly one. Returns the response's body, which may have a secret. */
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

/** Fields that are refused, alone or in a whole definition, and the paths of the faults. */
export const REFUSED: [Json, ...string[]][] = [
  [{ name: '' }, '/name'],
  [{ prompt: 'p'.repeat(20_001), name: null }, '/name', '/prompt'],
  [{ trigger: 'daily' }, '/trigger'],
  [{ trigger: {} }, '/trigger/kind'],
  [{ trigger: { kind: 'moon' } }, '/trigger/kind'],
  [{ trigger: { kind: 'schedule' } }, '/trigger/cron', '/trigger/timeZone'],
  [{ trigger: { ...YEARLY, types: ['run.failed'] } }, '/trigger/types'],
  [{ trigger: { ...YEARLY, cron: '*/4 * * * *' } }, '/trigger/cron'],
  [{ trigger: { ...YEARLY, cron: '60 3 * * *', timeZone: 'Mars' } }, '/trigger/timeZone', '/trigger/cron'],
  [{ trigger: { kind: 'event', types: [] } }, '/trigger/types'],
  [
    {
      trigger: { kind: 'event', types: ['run.failed', 'run.*', 'operation.updated', 'platform.app.created'] },
    },
    '/trigger/types/1',
    '/trigger/types/2',
    '/trigger/types/3',
  ],
  [{ trigger: { kind: 'event', types: ['run.failed'], cron: '0 3 * * *' } }, '/trigger/cron'],
  [
    { trigger: { kind: 'webhook', source: 'pigeon', secret: 's'.repeat(15), defaults: { slug: 'x' } } },
    '/trigger/source',
    '/trigger/secret',
    '/trigger/defaults/slug',
  ],
  [{ trigger: { kind: 'webhook', secret: 's'.repeat(201) } }, '/trigger/secret'],
  [{ prompt: 'Say {{secrets.token}}.' }, '/prompt'],
  [{ filter: {} }, '/filter'],
  [{ filter: Array.from({ length: 21 }, () => ({ path: 'payload.a', op: 'exists' })) }, '/filter'],
  [
    {
      filter: [
        { path: 'payload.a', op: 'like', value: 'x' },
        { op: 'exists', not: true },
      ],
    },
    '/filter/0/op',
    '/filter/1/path',
    '/filter/1/not',
  ],
  [
    { prompt: '{{env.PATH}}', filter: [{ path: 'env.PATH', op: 'eq' }] },
    '/prompt',
    '/filter/0/path',
    '/filter/0/value',
  ],
  [{ baseBranch: 'ä'.repeat(200) }, '/baseBranch'],
  [{ pullRequest: 'merged', overlap: 'sometimes' }, '/pullRequest', '/overlap'],
  [{ spendLimitMicros: -1, monthlyLimitMicros: 1.5 }, '/spendLimitMicros', '/monthlyLimitMicros'],
  [{ disableAfterFailures: 0 }, '/disableAfterFailures'],
  [{ disableAfterFailures: 101, disabled: 'no' }, '/disableAfterFailures', '/disabled'],
  [{ consecutiveFailures: 0 }, '/consecutiveFailures'],
];
