import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../ids.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { expectStatus, invited, newAccount, signedIn, tenant } from './callers.fixture.ts';

let s: TestServer;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
});
afterAll(async () => {
  await s?.close();
});

const apps = (key: string) => s.call('GET', '/api/platform/v1/apps', undefined, { key });
const remove = (id: string, cookie: string) =>
  s.call('DELETE', `/api/organizations/${id}`, undefined, { cookie });

describe('201', () => {
  test('an owner makes a further, empty one, and goes on acting where they were', async () => {
    const cookie = await signedIn(s);
    const before = (await s.call('GET', '/api/session', undefined, { cookie })).body;
    const { organization } = expectStatus(
      await s.call('POST', '/api/organizations', { name: 'Second' }, { cookie }),
      201,
    ).body;
    expect(organization).toEqual({ id: expect.stringMatching(/^org_/), name: 'Second', role: 'owner' });
    const after = (await s.call('GET', '/api/session', undefined, { cookie })).body;
    expect([after.activeOrganizationId, after.organizations.at(-1)]).toEqual([
      before.activeOrganizationId,
      organization,
    ]);
  });

  test('who owns another organization may also while acting as a member', async () => {
    const { cookie } = await tenant(s);
    const kim = await invited(s, cookie, 'member');
    expectStatus(await s.call('POST', '/api/organizations', { name: 'Mine' }, { cookie: kim.cookie }), 403);
    const { cookie: other } = await tenant(s);
    const lee = await invited(s, other, 'owner');
    const { organizationId } = {
      organizationId: (await s.call('GET', '/api/session', undefined, { cookie: lee.cookie })).body
        .activeOrganizationId,
    };
    expect(organizationId).toBeTruthy();
    expectStatus(await s.call('POST', '/api/organizations', { name: 'Mine' }, { cookie: lee.cookie }), 201);
  });
});

describe('200', () => {
  test('deletion ends keys, stored secrets, apps and every session there', async () => {
    const { cookie, organization } = await tenant(s);
    const { key } = await newAccount(s, cookie);
    const { app } = expectStatus(
      await s.call('POST', '/api/platform/v1/apps', { name: 'Gone' }, { key }),
      201,
    ).body;
    const kim = await invited(s, cookie, 'member');
    expectStatus(await s.call('PUT', '/api/model-keys/openai', { key: 'sk-secret' }, { cookie }), 200);
    expectStatus(
      await s.call(
        'POST',
        '/api/mcp-servers',
        { name: 'tools', transport: 'stdio', command: 'true', env: { TOKEN: 'secret' } },
        { key },
      ),
      201,
    );
    const skill = { files: [{ path: 'SKILL.md', content: '---\nname: a\ndescription: d\n---\n' }] };
    for (const path of ['/api', `/api/platform/v1/apps/${app.id}`]) {
      expectStatus(await s.call('PUT', `${path}/environment/A`, { value: 'v' }, { cookie }), 200);
      expectStatus(await s.call('PUT', `${path}/skills/a`, skill, { cookie }), 200);
    }
    expect(expectStatus(await remove(organization.id, cookie), 200).body.organization).toEqual({
      ...organization,
      role: 'owner',
    });
    for (const table of ['model_keys', 'mcp_servers', 'variables', 'skills'] as const)
      expect(
        await s.service.ctx.db
          .selectFrom(table)
          .select('created_at')
          .where('org_id', '=', organization.id)
          .execute(),
      ).toEqual([]);
    expectStatus(await apps(key), 401);
    for (const session of [cookie, kim.cookie]) {
      const { body } = await s.call('GET', '/api/session', undefined, { cookie: session });
      expect([
        body.activeOrganizationId,
        body.organizations.some((o: { id: string }) => o.id === organization.id),
      ]).toEqual([null, false]);
      expectStatus(await s.call('GET', '/api/projects', undefined, { cookie: session }), 403);
    }
    const project = await s.service.ctx.db
      .selectFrom('projects')
      .select('deleted_at')
      .where('id', '=', app.id)
      .executeTakeFirstOrThrow();
    expect(project.deleted_at).not.toBeNull();
    const fresh = await signedIn(s);
    expectStatus(await remove(organization.id, fresh), 404);
    expectStatus(
      await s.call(
        'PUT',
        '/api/session/organization',
        { organizationId: organization.id },
        { cookie: fresh },
      ),
      404,
    );
    // The session lives on and finds back.
    const home = (await s.call('GET', '/api/session', undefined, { cookie: fresh })).body
      .activeOrganizationId;
    expect(
      expectStatus(
        await s.call('PUT', '/api/session/organization', { organizationId: home }, { cookie }),
        200,
      ).body.activeOrganizationId,
    ).toBe(home);
    expectStatus(await apps(s.key), 200);
  });

  test('who is no member anywhere is told so, and may sign out', async () => {
    const { cookie } = await tenant(s);
    const kim = await invited(s, cookie, 'member');
    expectStatus(await s.call('DELETE', `/api/members/${kim.user.id}`, undefined, { cookie }), 200);
    const lonely = await signedIn(s, kim);
    expect((await s.call('GET', '/api/session', undefined, { cookie: lonely })).body).toMatchObject({
      organizations: [],
      activeOrganizationId: null,
    });
    expectStatus(await s.call('GET', '/api/projects', undefined, { cookie: lonely }), 403);
    expectStatus(await s.call('POST', '/api/organizations', { name: 'x' }, { cookie: lonely }), 403);
    expectStatus(
      await s.call('PUT', '/api/session/organization', { organizationId: 'org_x' }, { cookie: lonely }),
      403,
    );
    expectStatus(await s.call('POST', '/api/auth/sign-out', {}, { cookie: lonely }), 200);
  });
});

describe('400, 401, 403, 404', () => {
  test('a name is needed; keys, admins and strangers are refused', async () => {
    const { cookie, organization } = await tenant(s);
    const admin = await invited(s, cookie, 'admin');
    const { key } = await newAccount(s, cookie);
    expectStatus(await s.call('POST', '/api/organizations', { name: '' }, { cookie }), 400);
    expectStatus(await s.call('POST', '/api/organizations', { name: 'x' }, { key }), 401);
    expectStatus(await s.call('POST', '/api/organizations', { name: 'x' }, { cookie: admin.cookie }), 403);
    expectStatus(await s.call('DELETE', `/api/organizations/${organization.id}`, undefined, { key }), 401);
    expectStatus(await remove(organization.id, admin.cookie), 403);
    expect(
      expectStatus(await remove((await tenant(s)).organization.id, admin.cookie), 404).body.error.code,
    ).toBe('organization_not_found');
    expectStatus(await apps(key), 200);
  });
});

describe('409', () => {
  test('build_busy while a build has a sandbox; the same key may try again afterwards', async () => {
    const { cookie, organization } = await tenant(s);
    const { key } = await newAccount(s, cookie);
    const { app } = expectStatus(
      await s.call('POST', '/api/platform/v1/apps', { name: 'Building' }, { key }),
      201,
    ).body;
    const [thread, build] = [newId('thr'), newId('bld')];
    const { db } = s.service.ctx;
    await db
      .insertInto('threads')
      .values({
        org_id: organization.id,
        id: thread,
        project_id: app.id,
        listed: true,
        status: 'blocked',
        initialization_state: 'completed',
        created_by: 'usr_x',
      })
      .execute();
    await db
      .insertInto('builds')
      .values({
        org_id: organization.id,
        id: build,
        project_id: app.id,
        listed: true,
        thread_id: thread,
        source_id: 'src_x',
        command: 'true',
        output_directory: '.',
        timeout_seconds: 1,
        status: 'building',
        created_by: 'usr_x',
      })
      .execute();
    const attempt = () =>
      s.call('DELETE', `/api/organizations/${organization.id}`, undefined, { cookie, idem: 'same' });
    expect(expectStatus(await attempt(), 409).body.error.code).toBe('build_busy');
    expectStatus(await apps(key), 200);
    await db.updateTable('builds').set({ status: 'failed' }).where('id', '=', build).execute();
    expectStatus(await attempt(), 200);
  });
});
