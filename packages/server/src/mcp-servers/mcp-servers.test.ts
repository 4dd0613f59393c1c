import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectStatus, newAccount, tenant } from '../accounts/callers.fixture.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestAnswer, TestServer } from '../service.fixture.ts';

const URL = 'https://mcp.example.com/';
const SECRET = 'Bearer not-to-be-told';
let s: TestServer;
let cookie: string;
let orgId: string;
let key: string;
let mine: string;
let other: string;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
  const made = await tenant(s);
  [cookie, orgId] = [made.cookie, made.organization.id];
  ({ key } = await newAccount(s, cookie));
  [mine, other] = [await project(), await project()];
});
afterAll(async () => {
  await s?.close();
});

const project = async () =>
  expectStatus(await s.call('POST', '/api/projects', { name: 'n' }, { key }), 201).body.project.id as string;
const post = (body: unknown, options: { key?: string; idem?: string } = {}) =>
  s.call('POST', '/api/mcp-servers', body, { key, ...options });
const patch = (id: string, body: unknown, as = key) =>
  s.call('PATCH', `/api/mcp-servers/${id}`, body, { key: as });
const get = (id: string, as = key) => s.call('GET', `/api/mcp-servers/${id}`, undefined, { key: as });
const list = async (as = key) =>
  expectStatus(
    await s.call('GET', '/api/mcp-servers?limit=200', undefined, { key: as }),
    200,
  ).body.mcpServers.map((one: { id: string }) => one.id) as string[];
const create = async (body: Record<string, unknown> = {}, as = key) =>
  expectStatus(await post({ name: 'Search', transport: 'http', url: URL, ...body }, { key: as }), 201).body
    .mcpServer;
const paths = (answer: TestAnswer) =>
  (expectStatus(answer, 400).body.error.fields as { path: string }[]).map((field) => field.path);
const codeOf = (answer: TestAnswer) => `${answer.status} ${answer.body.error?.code}`;

describe('201 and 200', () => {
  test('an http server is made, read, listed, changed and deleted', async () => {
    const server = await create({ headers: { Authorization: SECRET, 'X-Team': 'garden' } });
    expect(server).toEqual({
      id: expect.stringMatching(/^mcp_/),
      orgId,
      name: 'Search',
      transport: 'http',
      url: URL,
      command: null,
      headers: ['authorization', 'x-team'],
      env: [],
      projectIds: null,
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: expect.stringMatching(/Z$/),
    });
    expect(expectStatus(await get(server.id), 200).body.mcpServer).toEqual(server);
    expect(await list()).toContain(server.id);
    const renamed = expectStatus(await patch(server.id, { name: 'Find', projectIds: [mine, mine] }), 200).body
      .mcpServer;
    expect(renamed).toEqual({ ...server, name: 'Find', projectIds: [mine], updatedAt: renamed.updatedAt });
    expect(renamed.updatedAt > server.updatedAt).toBe(true);
    expect(
      expectStatus(await s.call('DELETE', `/api/mcp-servers/${server.id}`, undefined, { key }), 200).body
        .mcpServer,
    ).toEqual(renamed);
    expect(codeOf(await get(server.id))).toBe('404 mcp_server_not_found');
    expect(await list()).not.toContain(server.id);
  });

  test('a stdio server; a change of transport leaves nothing of the other one', async () => {
    const server = await create({
      transport: 'stdio',
      url: undefined,
      command: 'node mcp.mjs',
      env: { TOKEN: SECRET },
    });
    expect(server).toMatchObject({
      transport: 'stdio',
      url: null,
      command: 'node mcp.mjs',
      headers: [],
      env: ['TOKEN'],
    });
    expect(
      expectStatus(await patch(server.id, { transport: 'http', url: URL }), 200).body.mcpServer,
    ).toMatchObject({ transport: 'http', url: URL, command: null, headers: [], env: [] });
    expect(paths(await patch(server.id, { transport: 'stdio' }))).toEqual(['/command']);
  });

  test('pages are newest first', async () => {
    const ids = (await list()).length;
    const [one, two, three] = [await create(), await create(), await create()];
    const first = (await s.call('GET', '/api/mcp-servers?limit=2', undefined, { key })).body;
    expect([first.mcpServers.map((m: { id: string }) => m.id), first.hasMore]).toEqual([
      [three.id, two.id],
      true,
    ]);
    const rest = (await s.call('GET', `/api/mcp-servers?cursor=${first.nextCursor}`, undefined, { key }))
      .body;
    expect([rest.mcpServers[0].id, rest.mcpServers.length]).toEqual([one.id, ids + 1]);
  });

  test('a write is told on the Direct feed as its operation, and in the audit log', async () => {
    const { headers, body } = await post({ name: 'n', transport: 'http', url: URL });
    const id = headers.get('x-operation-id');
    const told = async () =>
      (await s.call('GET', '/api/events?limit=500', undefined, { key })).body.events
        .filter((e: { data: { id: string } }) => e.data.id === id)
        .map((e: { type: string; data: unknown }) => [e.type, e.data]);
    await expect
      .poll(told, { timeout: 5_000, interval: 20 })
      .toEqual([['operation.updated', { id, status: 'succeeded' }]]);
    const { entries } = (await s.call('GET', '/api/audit', undefined, { cookie })).body;
    expect(entries[0]).toMatchObject({ action: 'mcp_server.created', targetId: body.mcpServer.id });
  });
});

describe('secrets', () => {
  test('are in no answer, replay, receipt, event, audit entry or row', async () => {
    const idem = randomUUID();
    const made = { name: 'n', transport: 'http', url: URL, headers: { Authorization: SECRET } };
    const [first, again] = [await post(made, { idem }), await post(made, { idem })];
    expect([first.status, again.text, again.headers.get('idempotent-replayed')]).toEqual([
      201,
      first.text,
      'true',
    ]);
    const { id } = first.body.mcpServer;
    const answers = [
      first,
      again,
      await get(id),
      await patch(id, { headers: { Authorization: `${SECRET}-2` } }),
      await s.call('GET', '/api/mcp-servers', undefined, { key }),
      await s.call('GET', '/api/events?limit=500', undefined, { key }),
      await s.call('GET', '/api/audit', undefined, { cookie }),
      await s.call('GET', `/api/operations/${first.headers.get('x-operation-id')}`, undefined, { key }),
    ];
    expect(answers.map((answer) => [answer.status < 300, answer.text.includes('not-to-be-told')])).toEqual(
      answers.map(() => [true, false]),
    );
    for (const table of ['mcp_servers', 'operations', 'audit_entries', 'events', 'outbox']) {
      const { rows } = await sql<{ row: string }>`select t::text as row from ${sql.table(table)} t`.execute(
        s.service.ctx.db,
      );
      const hex = Buffer.from('not-to-be-told').toString('hex');
      expect(
        rows.filter(({ row }) => row.includes('not-to-be-told') || row.includes(hex)),
        table,
      ).toEqual([]);
    }
  });

  test('a refusal names no value', async () => {
    const answer = await post({
      name: 'n',
      transport: 'http',
      url: URL,
      headers: { Authorization: `${SECRET}\n`, Host: 'not-to-be-told' },
    });
    expect([answer.status, answer.text.includes('not-to-be-told')]).toEqual([400, false]);
  });

  test('go to no other origin: whoever changes the URL has to know them', async () => {
    const { id } = await create({ headers: { Authorization: SECRET } });
    for (const url of ['https://evil.example/', 'http://mcp.example.com/', 'https://mcp.example.com:8443/'])
      expect(paths(await patch(id, { url }))).toEqual(['/headers']);
    expectStatus(await patch(id, { url: 'https://mcp.example.com/v2' }), 200);
    expect(
      expectStatus(await patch(id, { url: 'https://new.example/', headers: {} }), 200).body.mcpServer,
    ).toMatchObject({ url: 'https://new.example/', headers: [] });
    expectStatus(await patch(id, { url: 'https://newer.example/' }), 200);
  });
});

describe('400', () => {
  const http = { name: 'n', transport: 'http', url: URL };
  const stdio = { name: 'n', transport: 'stdio', command: 'c' };
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`n${i}`, 'v']));
  test.each<[string, unknown, string[]]>([
    ['nothing', {}, ['/name', '/transport']],
    [
      'all faults together',
      { transport: 'http', projectIds: [], more: 1 },
      ['/more', '/name', '/projectIds', '/url'],
    ],
    ['a transport that is none', { ...http, transport: 'pigeon' }, ['/transport']],
    ['http without url', { name: 'n', transport: 'http' }, ['/url']],
    ['stdio without command', { name: 'n', transport: 'stdio' }, ['/command']],
    ['fields of stdio for http', { ...http, command: 'c', env: {} }, ['/command', '/env']],
    ['fields of http for stdio', { ...stdio, url: URL, headers: {} }, ['/headers', '/url']],
    ['a name that is too long', { ...http, name: 'n'.repeat(101) }, ['/name']],
    ['an empty command', { ...stdio, command: '' }, ['/command']],
    ['no project', { ...http, projectIds: [] }, ['/projectIds']],
    [
      'a header that is taken',
      { ...http, headers: { Host: 'x', 'Mcp-Session-Id': 'x' } },
      ['/headers/Host', '/headers/Mcp-Session-Id'],
    ],
    ['a header given twice', { ...http, headers: { 'X-A': '1', 'x-a': '2' } }, ['/headers/x-a']],
    ['a header that is no header', { ...http, headers: { 'x a': '1' } }, ['/headers']],
    ['a value that would be two headers', { ...http, headers: { 'x-a': '1\r\nx-b: 2' } }, ['/headers/x-a']],
    ['a value that is too long', { ...http, headers: { 'x-a': 'v'.repeat(4097) } }, ['/headers/x-a']],
    ['too many headers', { ...http, headers: many(51) }, ['/headers']],
    ['a variable that is none', { ...stdio, env: { '1A': 'v' } }, ['/env']],
    ['values that are no texts', { ...stdio, env: { A: 1 } }, ['/env/A']],
  ])('%s', async (_what, body, expected) => {
    expect(paths(await post(body)).sort()).toEqual(expected);
  });

  test.each([
    'nonsense',
    'ftp://mcp.example.com',
    'file:///etc/passwd',
    'https://user:pass@mcp.example.com',
    `https://mcp.example.com/${'x'.repeat(2048)}`,
    'http://localhost:3000',
    'http://127.0.0.1',
    'http://[::1]/',
    'http://0x7f000001/',
    'http://10.1.2.3',
    'http://192.168.0.1',
    'http://169.254.169.254/latest',
    'http://metadata.google.internal/',
    'http://[fd00:ec2::254]/',
  ])('the URL %s', async (url) => {
    expect(paths(await post({ ...http, url }))).toEqual(['/url']);
    const { id } = await create();
    expect(paths(await patch(id, { url }))).toEqual(['/url']);
    expect((await get(id)).body.mcpServer.url).toBe(URL);
  });

  test('a service of an own network may be told to take private addresses', async () => {
    const own = await startTestServer({ HEADRACE_ROLES: 'api', HEADRACE_MCP_ALLOW_PRIVATE: '1' }, s);
    try {
      expectStatus(
        await own.call('POST', '/api/mcp-servers', { ...http, url: 'http://127.0.0.1:3000' }, { key }),
        201,
      );
    } finally {
      await own.close();
    }
  });
});

describe('a key that is restricted to projects', () => {
  test('makes, sees and changes servers of its own projects only', async () => {
    const { key: limited } = await newAccount(s, cookie, { projectIds: [mine] });
    const own = await create({ projectIds: [mine] }, limited);
    const [wide, strange, both] = [
      await create(),
      await create({ projectIds: [other] }),
      await create({ projectIds: [mine, other] }),
    ];
    const seen = await list(limited);
    expect([seen.includes(own.id), ...[wide, strange, both].map((one) => seen.includes(one.id))]).toEqual([
      true,
      false,
      false,
      false,
    ]);
    const nobodys = await get(`mcp_${'0'.repeat(26)}`, limited);
    for (const { id } of [wide, strange, both]) {
      expect((await get(id, limited)).body.error.message).toBe(nobodys.body.error.message);
      for (const answer of [
        await get(id, limited),
        await patch(id, { name: 'taken' }, limited),
        await s.call('DELETE', `/api/mcp-servers/${id}`, undefined, { key: limited }),
      ])
        expect(codeOf(answer)).toBe('404 mcp_server_not_found');
      expect((await get(id)).body.mcpServer.name).toBe('Search');
    }
    expectStatus(await patch(own.id, { name: 'Own' }, limited), 200);
    expect(codeOf(await patch(own.id, { projectIds: [mine, other] }, limited))).toBe('404 project_not_found');
    for (const answer of [
      await patch(own.id, { projectIds: null }, limited),
      await post({ name: 'n', transport: 'http', url: URL }, { key: limited }),
    ])
      expect(paths(answer)).toEqual(['/projectIds']);
    expect(
      codeOf(await post({ name: 'n', transport: 'http', url: URL, projectIds: [other] }, { key: limited })),
    ).toBe('404 project_not_found');
    expect((await get(own.id)).body.mcpServer).toMatchObject({ name: 'Own', projectIds: [mine] });
  });
});

describe('404', () => {
  test("another organization's server and project, and ones that are not there", async () => {
    const server = await create();
    for (const answer of [
      await get(server.id, s.key),
      await patch(server.id, { name: 'x' }, s.key),
      await s.call('DELETE', `/api/mcp-servers/${server.id}`, undefined, { key: s.key }),
      await get('mcp_x'),
    ])
      expect(codeOf(answer)).toBe('404 mcp_server_not_found');
    expect(await list(s.key)).not.toContain(server.id);
    for (const [projectId, as] of [
      [mine, s.key],
      ['prj_x', key],
    ] as const)
      expect(
        codeOf(await post({ name: 'n', transport: 'http', url: URL, projectIds: [projectId] }, { key: as })),
      ).toBe('404 project_not_found');
  });
});
