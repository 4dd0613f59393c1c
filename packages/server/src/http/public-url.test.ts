import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';

const PUBLIC = 'https://example.com/headrace';
let listening: TestServer;
let published: TestServer;
beforeAll(async () => {
  listening = await startTestServer({ HEADRACE_ROLES: 'api' });
  published = await startTestServer({ HEADRACE_ROLES: 'api', HEADRACE_PUBLIC_URL: `${PUBLIC}/` }, listening);
});
afterAll(async () => {
  await published?.close();
  await listening?.close();
});

test('addresses that are shown begin with the public URL, by default the listening address', async () => {
  const { project } = (await listening.call('POST', '/api/projects', { name: 'Garden' })).body;
  const { automation } = (
    await listening.call('POST', '/api/automations', {
      name: 'Hook',
      projectId: project.id,
      prompt: 'Look.',
      trigger: { kind: 'webhook' },
    })
  ).body;
  const { repository } = (
    await listening.call('POST', '/api/source-control/scm/repositories', { name: 'garden' })
  ).body;
  for (const [s, base] of [
    [listening, listening.base],
    [published, PUBLIC],
  ] as const) {
    const shown = (await s.call('GET', `/api/automations/${automation.id}`)).body.automation;
    expect(shown.hookUrl).toBe(`${base}/api/hooks/automations/${automation.id}`);
    const cloned = (await s.call('GET', `/api/source-control/scm/repositories/${repository.id}`)).body;
    expect(cloned.repository.cloneUrl).toBe(`${base}/git/garden.git`);
  }
});
