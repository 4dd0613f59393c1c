/** What a run's agent gets of them. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { GATEWAY_URL } from '@headrace/runner/protocol';
import { expectStatus, newAccount, tenant } from '../accounts/callers.fixture.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { mcpServersOf, mcpTarget } from './of-project.ts';

let s: TestServer;
let orgId: string;
let key: string;
let project: string;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
});
afterAll(async () => {
  await s?.close();
});
beforeEach(async () => {
  const made = await tenant(s);
  orgId = made.organization.id;
  ({ key } = await newAccount(s, made.cookie));
  project = await newProject();
});

const newProject = async () =>
  expectStatus(await s.call('POST', '/api/projects', { name: 'n' }, { key }), 201).body.project.id as string;
const create = async (body: Record<string, unknown>) =>
  expectStatus(await s.call('POST', '/api/mcp-servers', { name: 'A', ...body }, { key }), 201).body.mcpServer
    .id as string;
const http = (body: Record<string, unknown> = {}) =>
  create({ transport: 'http', url: 'https://mcp.example.com/', ...body });
const of = (id = project, org = orgId) => mcpServersOf(s.service.ctx, { org_id: org, id }, 'token');
const namesOf = async (id?: string, org?: string) => (await of(id, org)).map((server) => server.name);

test('http goes through the gateway without what it is sent, stdio has its environment', async () => {
  const id = await http({ headers: { Authorization: 'Bearer secret' } });
  await create({
    name: 'B',
    transport: 'stdio',
    command: 'mcp --x "$TOKEN"',
    env: { TOKEN: 'secret', Token: '' },
  });
  expect(await of()).toEqual([
    {
      transport: 'http',
      name: 'A',
      url: `${GATEWAY_URL}/mcp/${id}`,
      headers: { authorization: 'Bearer token' },
    },
    {
      transport: 'stdio',
      name: 'B',
      command: ['/bin/sh', '-c', 'mcp --x "$TOKEN"'],
      env: { TOKEN: 'secret', Token: '' },
    },
  ]);
});

test("a project has its own servers and the organization's, of no other project or organization", async () => {
  const elsewhere = await newProject();
  const [wide, own, strange] = [
    await http({ name: 'wide' }),
    await http({ name: 'own', projectIds: [project] }),
    await http({ name: 'strange', projectIds: [elsewhere] }),
  ];
  expect([await namesOf(), await namesOf(elsewhere)]).toEqual([
    ['own', 'wide'],
    ['strange', 'wide'],
  ]);
  expect([await namesOf(project, 'org_other')]).toEqual([[]]);
  const reached = async (id: string, org = orgId) =>
    (await mcpTarget(s.service.ctx, { org_id: org, id: project }, id)) !== null;
  expect([
    await reached(wide),
    await reached(own),
    await reached(strange),
    await reached(wide, 'org_other'),
  ]).toEqual([true, true, false, false]);
});

test("at most 20, the project's own first, then the oldest; names are told apart", async () => {
  for (let i = 0; i < 20; i++) await http({ name: `wide ${i}` });
  await http({ name: 'own', projectIds: [project] });
  expect(await namesOf()).toEqual(['own', ...Array.from({ length: 19 }, (_, i) => `wide ${i}`)]);
  const [one] = [await newProject()];
  for (const name of ['X', 'X 2', 'X']) await http({ name, projectIds: [one] });
  expect((await namesOf(one)).slice(0, 3)).toEqual(['X', 'X 2', 'X 3']);
});

test('secrets of another place open nowhere: the run goes on without that server, its calls fail', async () => {
  const [from, stdio] = [
    await create({ name: 'B', transport: 'stdio', command: 'c', env: { A: 'secret' } }),
    await create({ name: 'C', transport: 'stdio', command: 'c', env: { A: 'other' } }),
  ];
  const served = await http({ headers: { a: 'b' } });
  const sealed = s.service.ctx.db.selectFrom('mcp_servers').select('secrets_sealed').where('id', '=', from);
  await s.service.ctx.db
    .updateTable('mcp_servers')
    .set({ secrets_sealed: (await sealed.executeTakeFirstOrThrow()).secrets_sealed })
    .where('id', 'in', [stdio, served])
    .execute();
  expect(await namesOf()).toEqual(['B', 'A']);
  await expect(mcpTarget(s.service.ctx, { org_id: orgId, id: project }, served)).rejects.toThrow();
});

test('a stdio server is not called through the gateway', async () => {
  const id = await create({ transport: 'stdio', command: 'c' });
  expect(await mcpTarget(s.service.ctx, { org_id: orgId, id: project }, id)).toBeNull();
});
