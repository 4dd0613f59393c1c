/** Every operation on every one of its paths, asked by those who may not: the answers in one table. */
import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeServiceKey } from './accounts/index.ts';
import { flatten, PERMISSIONS } from './accounts/permissions.ts';
import { expectStatus, invite, invited, newAccount, signedIn, tenant } from './accounts/callers.fixture.ts';
import { routes } from './app.ts';
import { PLATFORM } from './http/operation.ts';
import type { Route } from './http/operation.ts';
import { commitFiles } from './git/git.fixture.ts';
import { runGit } from './git/run-git.ts';
import { PARAM_PREFIX } from './http/path-params.ts';
import { base32, newId } from './ids.ts';
import { localFolder } from './scm/local/folders.ts';
import { startTestServer } from './service.fixture.ts';
import type { TestAnswer, TestServer } from './service.fixture.ts';

type Ids = Record<string, string>;
interface Sample {
  body?: (ids: Ids) => unknown;
  query?: (ids: Ids) => string;
  idem?: boolean;
}
const NOTHING: Sample = {};
const EMPTY: Sample = { body: () => ({}) };
const skill: Sample = {
  body: () => ({ files: [{ path: 'SKILL.md', content: '---\nname: name\ndescription: d\n---\n' }] }),
};
const settings: Sample = { body: () => ({ idleTimeoutMinutes: 5 }) };

/** A valid request of each operation. A new operation has to be added: the walk fails without it. */
const SAMPLES: Record<string, Sample> = {
  'projects.createApp': { body: () => ({ name: 'n' }) },
  'projects.listApps': NOTHING,
  'projects.getApp': NOTHING,
  'projects.updateApp': { body: () => ({ name: 'n' }) },
  'projects.deleteApp': NOTHING,
  'projects.initializeHead': { body: ({ sourceId }) => ({ sourceId }) },
  'projects.getHead': NOTHING,
  'projects.listHeadHistory': NOTHING,
  'projects.createProject': { body: () => ({ name: 'n' }) },
  'projects.listProjects': NOTHING,
  'projects.getProject': NOTHING,
  'projects.updateProject': { body: () => ({ name: 'n' }) },
  'projects.deleteProject': NOTHING,
  'sources.importSource': { body: () => ({ files: [] }) },
  'sources.listSources': NOTHING,
  'sources.getSource': NOTHING,
  'sources.listFiles': NOTHING,
  'sources.getFile': { query: () => '?path=a' },
  'sources.getArchive': NOTHING,
  'sources.searchSource': { query: () => '?q=a' },
  'sources.getDiff': { query: ({ sourceId }) => `?base=${sourceId}` },
  'threads.createThread': EMPTY,
  'threads.forkThread': EMPTY,
  'threads.listThreads': NOTHING,
  'threads.getThread': NOTHING,
  'threads.updateThread': { body: () => ({ title: 't' }) },
  'threads.deleteThread': NOTHING,
  'threads.createDirectThread': { body: ({ projectId }) => ({ projectId }) },
  'threads.listAllThreads': NOTHING,
  'threads.listAllAppThreads': NOTHING,
  'threads.exportThread': NOTHING,
  'messages.sendMessage': { body: () => ({ content: 'c' }) },
  'messages.listMessages': NOTHING,
  'messages.getAttachment': NOTHING,
  'runs.listRuns': NOTHING,
  'runs.getRun': NOTHING,
  'runs.listTools': NOTHING,
  'runs.stopRun': EMPTY,
  'runs.retryRun': EMPTY,
  'checkpoints.listCheckpoints': NOTHING,
  'checkpoints.restoreCheckpoint': EMPTY,
  'checkpoints.restoreSource': { body: ({ sourceId }) => ({ sourceId }) },
  'applies.createApply': {
    body: ({ sourceId, idem }) => ({ expectedSourceId: sourceId, clientOperationId: idem }),
  },
  'applies.previewApply': { body: ({ sourceId }) => ({ expectedSourceId: sourceId }) },
  'applies.previewFile': { body: ({ sourceId }) => ({ expectedSourceId: sourceId, path: 'a' }) },
  'applies.listApplies': NOTHING,
  'applies.listAllAppApplies': NOTHING,
  'applies.getApply': NOTHING,
  'edits.createEdit': {
    body: ({ sourceId }) => ({ expectedSourceId: sourceId, changes: [{ path: 'a', content: 'b' }] }),
  },
  'execs.createExec': { body: () => ({ command: 'true' }) },
  'approvals.listApprovals': NOTHING,
  'approvals.answerApproval': { body: () => ({ decision: 'deny' }) },
  'builds.createBuild': { body: () => ({ command: 'true', outputDirectory: '.' }) },
  'builds.listBuilds': NOTHING,
  'builds.createAppBuild': { body: () => ({ command: 'true', outputDirectory: '.' }) },
  'builds.listAppBuilds': NOTHING,
  'builds.listAllAppBuilds': NOTHING,
  'builds.getBuild': NOTHING,
  'builds.getArtifact': NOTHING,
  'builds.getManifest': NOTHING,
  'builds.getLogs': NOTHING,
  'builds.cancelBuild': EMPTY,
  'previews.createPreview': { body: () => ({ command: 'true', port: 3000 }) },
  'previews.listPreviews': NOTHING,
  'previews.createAppPreview': { body: () => ({ command: 'true', port: 3000 }) },
  'previews.listAppPreviews': NOTHING,
  'previews.listAllAppPreviews': NOTHING,
  'previews.getPreview': NOTHING,
  'previews.deletePreview': NOTHING,
  'workspaces.reportActivity': { body: () => ({ idleTimeoutMinutes: 5 }) },
  'workspaces.getPolicy': NOTHING,
  'workspaces.listHistory': NOTHING,
  'events.listAppEvents': NOTHING,
  'events.appEventsHead': NOTHING,
  'events.streamAppEvents': NOTHING,
  'events.listAllAppEvents': NOTHING,
  'events.allAppEventsHead': NOTHING,
  'events.streamAllAppEvents': NOTHING,
  'events.listEvents': NOTHING,
  'events.eventsHead': NOTHING,
  'events.streamEvents': NOTHING,
  'settings.getAppSettings': NOTHING,
  'settings.updateAppSettings': settings,
  'settings.getOrganizationSettings': NOTHING,
  'settings.listRuntimes': NOTHING,
  'settings.updateOrganizationSettings': settings,
  'environment.listAppVariables': NOTHING,
  'environment.getAppVariable': NOTHING,
  'environment.setAppVariable': { body: () => ({ value: 'v' }) },
  'environment.deleteAppVariable': NOTHING,
  'setups.listSetups': NOTHING,
  'setups.createSetup': EMPTY,
  'setups.getSetup': NOTHING,
  'setups.getLogs': NOTHING,
  'environment.listOrganizationVariables': NOTHING,
  'environment.getOrganizationVariable': NOTHING,
  'environment.setOrganizationVariable': { body: () => ({ value: 'v' }) },
  'environment.deleteOrganizationVariable': NOTHING,
  'skills.listAppSkills': NOTHING,
  'skills.getAppSkill': NOTHING,
  'skills.getAppSkillArchive': NOTHING,
  'skills.setAppSkill': skill,
  'skills.deleteAppSkill': NOTHING,
  'skills.listOrganizationSkills': NOTHING,
  'skills.getOrganizationSkill': NOTHING,
  'skills.getOrganizationSkillArchive': NOTHING,
  'skills.setOrganizationSkill': skill,
  'skills.deleteOrganizationSkill': NOTHING,
  'operations.getOperation': NOTHING,
  'operations.listOperations': { query: () => '?idempotencyKey=k' },
  'usage.listModels': NOTHING,
  'usage.listModelKeys': NOTHING,
  'usage.setModelKey': { body: () => ({ key: 'k' }) },
  'usage.deleteModelKey': NOTHING,
  'usage.readUsage': NOTHING,
  'tasks.createTask': { body: ({ projectId }) => ({ projectId, title: 't' }) },
  'tasks.listTasks': NOTHING,
  'tasks.getTask': NOTHING,
  'tasks.updateTask': { body: () => ({ title: 't' }) },
  'tasks.deleteTask': NOTHING,
  'automations.createAutomation': {
    body: ({ projectId }) => ({ projectId, name: 'n', prompt: 'p', trigger: { kind: 'webhook' } }),
  },
  'automations.listAutomations': NOTHING,
  'automations.getAutomation': NOTHING,
  'automations.updateAutomation': { body: () => ({ name: 'n' }) },
  'automations.deleteAutomation': NOTHING,
  'automations.rotateSecret': EMPTY,
  'automations.runAutomation': EMPTY,
  'automations.listExecutions': NOTHING,
  'automations.getExecution': NOTHING,
  'automations.previewSchedule': { query: () => '?cron=0+3+*+*+*&timeZone=UTC' },
  'mcpServers.createMcpServer': {
    body: () => ({ name: 'n', transport: 'http', url: 'https://mcp.example.com/' }),
  },
  'mcpServers.listMcpServers': NOTHING,
  'mcpServers.getMcpServer': NOTHING,
  'mcpServers.updateMcpServer': { body: () => ({ name: 'n' }) },
  'mcpServers.deleteMcpServer': NOTHING,
  'hosts.createHost': { body: () => ({ name: 'n' }) },
  'hosts.listHosts': NOTHING,
  'hosts.connectHost': NOTHING,
  'hosts.getHost': NOTHING,
  'hosts.updateHost': { body: () => ({ name: 'n' }) },
  'hosts.deleteHost': NOTHING,
  'hosts.rotateToken': EMPTY,
  'hosts.listBindings': NOTHING,
  'webhooks.createWebhook': { body: () => ({ url: 'https://hooks.example.com/', types: ['*'] }) },
  'webhooks.listWebhooks': NOTHING,
  'webhooks.getWebhook': NOTHING,
  'webhooks.updateWebhook': { body: () => ({ disabled: true }) },
  'webhooks.deleteWebhook': NOTHING,
  'webhooks.rotateSecret': EMPTY,
  'webhooks.testWebhook': EMPTY,
  'webhooks.listDeliveries': NOTHING,
  'webhooks.getDelivery': NOTHING,
  'webhooks.redeliver': EMPTY,
  'scm.listInstallations': NOTHING,
  'scm.getInstallation': NOTHING,
  'scm.syncInstallation': EMPTY,
  'scm.updateRepository': { body: () => ({ requiredChecks: [] }) },
  'scm.deleteRepository': NOTHING,
  'scm.listBranches': NOTHING,
  'scm.inspectRepository': NOTHING,
  'scm.createStatus': { body: () => ({ context: 'ci', state: 'success' }) },
  'scm.listStatuses': NOTHING,
  'scm.createPullRequest': { body: () => ({ title: 't', headRef: 'next' }) },
  'scm.listPullRequests': NOTHING,
  'scm.getPullRequest': NOTHING,
  'scm.updatePullRequest': { body: () => ({ title: 't' }) },
  'scm.mergePullRequest': EMPTY,
  'scm.createComment': { body: () => ({ body: 'c' }) },
  'scm.listComments': NOTHING,
  'scm.updateComment': { body: () => ({ resolved: true }) },
  'scm.createInstallation': {
    // Refused before anybody is asked.
    body: () => ({ provider: 'github', name: 'n', baseUrl: 'https://127.0.0.1', token: 't' }),
  },
  'scm.updateInstallation': { body: () => ({ name: 'n' }) },
  'scm.deleteInstallation': NOTHING,
  'scm.receiveWebhook': EMPTY,
  'automations.receiveHook': EMPTY,
  'scm.createRepository': { body: () => ({ name: `r-${randomUUID()}` }) },
  'scm.listRepositories': NOTHING,
  'scm.getRepository': NOTHING,
  'pullRequests.createPullRequest': EMPTY,
  'pullRequests.listPullRequests': NOTHING,
  'pullRequests.getPullRequest': NOTHING,
  'pullRequests.updatePullRequest': { body: () => ({ title: 'n' }) },
  'pullRequests.syncPullRequest': EMPTY,
  'pullRequests.updateBranch': EMPTY,
  'pullRequests.mergePullRequest': EMPTY,
  'pullRequests.updateReviewLoop': { body: () => ({ enabled: true }) },
  'accounts.signIn': { body: () => ({ email: 'nobody@example.test', password: 'none of ours' }) },
  'accounts.signOut': EMPTY,
  'accounts.getSession': NOTHING,
  'accounts.changePassword': {
    body: () => ({ currentPassword: 'none of ours', newPassword: 'a good password' }),
  },
  'accounts.listSessions': NOTHING,
  'accounts.endSession': NOTHING,
  'accounts.switchOrganization': { body: ({ organizationId }) => ({ organizationId }) },
  'accounts.createOrganization': { body: () => ({ name: 'n' }) },
  'accounts.deleteOrganization': NOTHING,
  'accounts.listMembers': NOTHING,
  'accounts.inviteMember': { body: () => ({ email: `${randomUUID()}@example.test`, role: 'member' }) },
  'accounts.listInvitations': NOTHING,
  'accounts.revokeInvitation': NOTHING,
  'accounts.updateMember': { body: () => ({ role: 'admin' }) },
  'accounts.removeMember': NOTHING,
  'accounts.acceptInvitation': { body: () => ({ name: 'n', password: 'a good password' }) },
  'accounts.createServiceAccount': { body: () => ({ name: 'n', permissions: {} }) },
  'accounts.listServiceAccounts': NOTHING,
  'accounts.getServiceAccount': NOTHING,
  'accounts.updateServiceAccount': { body: () => ({ name: 'n' }) },
  'accounts.deleteServiceAccount': NOTHING,
  'accounts.rotateCredential': EMPTY,
  'accounts.listCredentials': NOTHING,
  'accounts.revokeCredential': NOTHING,
  'audit.listEntries': NOTHING,
  'system.getSystem': NOTHING,
  'system.listStuck': NOTHING,
  'health.getHealth': NOTHING,
  'health.getReadiness': NOTHING,
};

const MISSING: Record<string, string> = {
  appId: 'app',
  projectId: 'project',
  sourceId: 'source',
  threadId: 'thread',
  messageId: 'attachment',
  runId: 'run',
  checkpointId: 'checkpoint',
  approvalId: 'approval',
  applyId: 'apply',
  buildId: 'build',
  previewId: 'preview',
  setupId: 'setup',
  operationId: 'operation',
  accountId: 'service_account',
  credentialId: 'credential',
  userId: 'member',
  invitationId: 'invitation',
  sessionId: 'session',
  organizationId: 'organization',
  mcpServerId: 'mcp_server',
  installationId: 'installation',
  repositoryId: 'repository',
  commentId: 'comment',
  pullRequestId: 'pull_request',
  taskId: 'task',
  webhookId: 'webhook',
  deliveryId: 'delivery',
  automationId: 'automation',
  executionId: 'execution',
  hostId: 'host',
};
const UNSTREAMED = routes.filter((r) => !/events\.stream/.test(r.operation.name));
const accessOf = (route: Route) => route.operation.access;
const takesKey = (route: Route) =>
  accessOf(route) !== 'public' &&
  !(typeof accessOf(route) === 'object' && 'session' in (accessOf(route) as object));
const isUnrestricted = (route: Route) =>
  (accessOf(route) as { unrestricted?: boolean }).unrestricted === true;
const isOperators = (route: Route) => (accessOf(route) as { operator?: true }).operator === true;
const permissionsOf = (route: Route) =>
  typeof accessOf(route) === 'object' && 'permissions' in (accessOf(route) as object)
    ? (accessOf(route) as { permissions: readonly string[] }).permissions
    : [];
const isPlatform = (route: Route) => route.path.startsWith(PLATFORM);
const idParams = (route: Route) =>
  [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => name!).filter((name) => name in PARAM_PREFIX);

interface Party {
  cookie: string;
  key: string;
  ids: Ids;
}
let s: TestServer;
let us: Party;
let them: Party;

beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
  us = await party();
  them = await party();
}, 60_000);
afterAll(async () => {
  await s?.close();
});

/** An organization with one of everything, its owner a member of no other. */
async function party(): Promise<Party> {
  const founder = await tenant(s);
  const owner = await invited(s, founder.cookie, 'owner');
  const { key } = await newAccount(s, owner.cookie);
  const made = await newAccount(s, owner.cookie);
  const post = async (path: string, body: unknown, idem = randomUUID()) => {
    const answer = await s.call('POST', path, body, { key, idem });
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${answer.text}`);
    return answer;
  };
  const app = (await post(`${PLATFORM}/apps`, { name: 'ours' })).body.app.id as string;
  const p = `${PLATFORM}/apps/${app}`;
  const imported = await post(`${p}/sources`, { files: [{ path: 'a', content: 'b' }] });
  const sourceId = imported.body.source.id as string;
  await post(`${p}/source-head/initialize`, { sourceId });
  const thread = async () => (await post(`${p}/threads`, {})).body.thread.id as string;
  const [threadId, applied, built, shown] = [await thread(), await thread(), await thread(), await thread()];
  await post(`${p}/threads/${threadId}/edits`, {
    expectedSourceId: sourceId,
    changes: [{ path: 'a', content: 'c' }],
  });
  const checkpointId = (await s.call('GET', `${p}/threads/${threadId}/checkpoints`, undefined, { key })).body
    .checkpoints[0].id as string;
  const sent = await post(`${p}/threads/${threadId}/messages`, {
    content: 'hi',
    attachments: [{ mediaType: 'text/plain', data: 'b3Vycw==' }],
  });
  const [messageId, runId] = [sent.body.message.id as string, sent.body.run.id as string];
  const idem = randomUUID();
  const applyId = (
    await post(`${p}/threads/${applied}/apply`, { expectedSourceId: sourceId, clientOperationId: idem }, idem)
  ).body.apply.id as string;
  const buildId = (await post(`${p}/threads/${built}/builds`, { command: 'true', outputDirectory: '.' })).body
    .build.id as string;
  const previewId = (await post(`${p}/threads/${shown}/previews`, { command: 'true', port: 3000 })).body
    .preview.id as string;
  const setup = { command: 'true', paths: ['.'] };
  expectStatus(await s.call('PATCH', `${p}/settings`, { setup }, { key }), 200);
  const setupId = (await post(`${p}/setups`, { sourceId })).body.setup.id as string;
  const projectId = (await post('/api/projects', { name: 'direct' })).body.project.id as string;
  const taskId = (await post('/api/tasks', { projectId, title: 'ours' })).body.task.id as string;
  const automationId = (
    await post('/api/automations', { projectId, name: 'n', prompt: 'p', trigger: { kind: 'webhook' } })
  ).body.automation.id as string;
  const executionId = (await post(`/api/automations/${automationId}/run`, {})).body.execution.id as string;
  const mcpServerId = (
    await post('/api/mcp-servers', { name: 'ours', transport: 'http', url: 'https://mcp.example.com/' })
  ).body.mcpServer.id as string;
  for (const [path, as] of [
    [p, { key }],
    ['/api', { cookie: owner.cookie }],
  ] as const) {
    expectStatus(await s.call('PUT', `${path}/environment/name`, { value: 'ours' }, as), 200);
    expectStatus(await s.call('PUT', `${path}/skills/name`, skill.body!({}), as), 200);
  }
  const hosted = await s.call('POST', '/api/hosts', { name: 'ours' }, { cookie: owner.cookie });
  expectStatus(hosted, 201);
  const hostId = hosted.body.host.id as string;
  const webhookId = (await post('/api/webhooks', { url: 'https://hooks.example.com/', types: ['*'] })).body
    .subscription.id as string;
  const deliveryId = (await post(`/api/webhooks/${webhookId}/test`, {})).body.delivery.id as string;
  const repository = (
    await post('/api/source-control/scm/repositories', { name: 'ours', files: [{ path: 'a', content: 'b' }] })
  ).body.repository;
  const folder = localFolder(s.service.ctx.config, repository.id);
  const main = (await runGit(folder, ['rev-parse', 'refs/heads/main'])).output.toString().trim();
  await runGit(folder, ['update-ref', 'refs/heads/next', main]);
  const commitSha = await commitFiles(folder, 'next', [{ path: 'a', content: 'c' }]);
  const pulls = `/api/source-control/scm/repositories/${repository.id}/pull-requests`;
  await post(pulls, { title: 't', headRef: 'next' });
  const commentId = (await post(`${pulls}/1/comments`, { body: 'c' })).body.comment.id as string;
  const member = await invited(s, owner.cookie, 'member');
  const { db } = s.service.ctx;
  const session = await db
    .selectFrom('sessions')
    .select('id')
    .where('user_id', '=', member.user.id)
    .executeTakeFirstOrThrow();
  const { email } = await invite(s, owner.cookie, 'member');
  const invitation = await db
    .selectFrom('invitations')
    .select('id')
    .where('email', '=', email)
    .executeTakeFirstOrThrow();
  const approvalId = await openApproval(founder.organization.id, threadId, runId);
  return {
    cookie: owner.cookie,
    key,
    ids: {
      appId: app,
      sourceId,
      threadId,
      checkpointId,
      messageId,
      runId,
      applyId,
      buildId,
      previewId,
      setupId,
      projectId,
      approvalId,
      taskId,
      automationId,
      executionId,
      mcpServerId,
      hostId,
      webhookId,
      deliveryId,
      repositoryId: repository.id,
      commitSha,
      commentId,
      installationId: repository.installationId,
      pullRequestId: await insertPullRequest(threadId, repository.id),
      operationId: imported.headers.get('x-operation-id')!,
      accountId: made.account.id,
      credentialId: made.credential.id,
      userId: member.user.id,
      sessionId: session.id,
      invitationId: invitation.id,
      organizationId: founder.organization.id,
    },
  };
}

/** Without an event: threads of apps have none. */
async function insertPullRequest(threadId: string, repositoryId: string): Promise<string> {
  const { db } = s.service.ctx;
  const thread = await db
    .selectFrom('threads')
    .select(['org_id', 'project_id'])
    .where('id', '=', threadId)
    .executeTakeFirstOrThrow();
  const { id } = await db
    .insertInto('pull_requests')
    .values({
      ...thread,
      id: newId('pr'),
      thread_id: threadId,
      repository_id: repositoryId,
      number: 1,
      url: 'https://git.example.com/ours/pull/1',
      repo_full_name: 'ours',
      title: 'ours',
      state: 'open',
      head_ref: 'ours',
      head_sha: '1'.repeat(40),
      base_ref: 'main',
      created_by: 'sa_1',
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

/** No worker runs here that could ask. */
async function openApproval(orgId: string, threadId: string, runId: string): Promise<string> {
  const { db } = s.service.ctx;
  const [toolId, id] = [newId('tool'), newId('apr')];
  await db
    .insertInto('tools')
    .values({
      org_id: orgId,
      id: toolId,
      thread_id: threadId,
      run_id: runId,
      call_id: 'c',
      name: 'sh',
      status: 'pending',
      first_event_id: newId('evt'),
    })
    .execute();
  await db
    .insertInto('approvals')
    .values({
      org_id: orgId,
      id,
      thread_id: threadId,
      run_id: runId,
      tool_id: toolId,
      request_id: 'r',
      title: 't',
      status: 'pending',
      expires_at: new Date(Date.now() + 3_600_000),
    })
    .execute();
  return id;
}

/** What is no id of ours. */
const NAMED: Record<string, string> = { provider: 'openai', number: '1', index: '0', name: 'name' };
const absent = (): Ids =>
  Object.fromEntries(
    Object.entries(PARAM_PREFIX).map(([name, prefix]) => [
      name,
      `${prefix}_${base32(randomBytes(16).fill(1, 0, 1))}`,
    ]),
  );

/** The `/projects/{projectId}` form of a Platform path names an app. */
/** In the `/projects` form of a Platform path, and before what an app and a Direct project both have. */
const isApps = (route: Route, name: string) =>
  name === 'projectId' && (isPlatform(route) || route.path.startsWith('/api/projects/:projectId/'));
const valueOf = (route: Route, ids: Ids, name: string) => (isApps(route, name) ? ids.appId! : ids[name]);

function ask(route: Route, ids: Ids, as: { key?: string | null; cookie?: string }): Promise<TestAnswer> {
  const sample = SAMPLES[route.operation.name]!;
  const idem = randomUUID();
  const path = route.path.replace(
    /:(\w+)/g,
    (_, name: string) => valueOf(route, ids, name) ?? NAMED[name] ?? 'none',
  );
  return s.call(route.method, path + (sample.query?.(ids) ?? ''), sample.body?.({ ...ids, idem }), {
    ...as,
    idem,
    headers: { 'x-request-id': 'walk' },
  });
}

/** Sends each to its answer, a few at a time; returns the complaints. */
async function walk<T>(list: readonly T[], check: (one: T) => Promise<string[]>): Promise<string[]> {
  const queue = [...list];
  const wrong: string[] = [];
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (let one = queue.shift(); one !== undefined; one = queue.shift()) wrong.push(...(await check(one)));
    }),
  );
  return wrong.sort();
}

const told = (route: Route, what: string, answer: TestAnswer) =>
  `${route.operationId} ${what}: ${answer.status} ${answer.body?.error?.code ?? ''}`;
function refusal(route: Route, what: string, answer: TestAnswer, status: number, code: string): string[] {
  const { error } = (answer.body ?? {}) as { error?: { code: string; requestId: string; message: string } };
  const isRight =
    answer.status === status &&
    error?.code === code &&
    error.requestId === 'walk' &&
    !/_[0-9a-z]{26}/.test(error.message);
  return isRight ? [] : [told(route, what, answer)];
}

test('the walk knows every operation', () => {
  expect(Object.keys(SAMPLES).sort()).toEqual([...new Set(routes.map((r) => r.operation.name))].sort());
  expect(routes.flatMap(idParams).filter((name) => !(name in MISSING) || !(name in us.ids))).toEqual([]);
});

describe('401', () => {
  const isPublic = (route: Route) => accessOf(route) === 'public';

  test('without a credential, whatever it asks for; what is public asks for none', async () => {
    expect(
      await walk(
        routes.filter((r) => !isPublic(r)),
        async (route) =>
          (await Promise.all([us.ids, absent()].map((ids) => ask(route, ids, { key: null })))).flatMap((a) =>
            refusal(route, 'nobody', a, 401, 'unauthorized'),
          ),
      ),
    ).toEqual([]);
    // A process that only answers is ready without a runner.
    const expected: Record<string, string> = {
      'accounts.signIn': 'unauthorized',
      'scm.receiveWebhook': 'unauthorized',
      'automations.receiveHook': 'unauthorized',
      'accounts.acceptInvitation': 'invitation_not_found',
      'hosts.connectHost': 'unauthorized',
      'health.getHealth': '200',
      'health.getReadiness': '200',
    };
    const answers = await Promise.all(
      routes
        .filter(isPublic)
        .map(async (route) => [route.operation.name, await ask(route, us.ids, { key: null })] as const),
    );
    expect(
      Object.fromEntries(
        answers.map(([name, { status, body }]) => [name, body.error?.code ?? String(status)]),
      ),
    ).toEqual(expected);
  });

  test('with a well-formed key that nobody has', async () => {
    const key = makeServiceKey();
    expect(
      await walk(
        routes.filter((r) => !isPublic(r)),
        async (route) =>
          (await Promise.all([us.ids, absent()].map((ids) => ask(route, ids, { key })))).flatMap((a) =>
            refusal(route, 'unknown key', a, 401, 'unauthorized'),
          ),
      ),
    ).toEqual([]);
  });

  test('with the key of a disabled account', async () => {
    const { account, key } = await newAccount(s, us.cookie);
    expectStatus(await s.call('GET', '/api/projects', undefined, { key }), 200);
    expectStatus(
      await s.call('PATCH', `/api/service-accounts/${account.id}`, { disabled: true }, { cookie: us.cookie }),
      200,
    );
    expect(
      await walk(
        routes.filter((r) => !isPublic(r)),
        async (route) => refusal(route, 'disabled', await ask(route, us.ids, { key }), 401, 'unauthorized'),
      ),
    ).toEqual([]);
  });

  test('with a key, however mighty, where a browser session is needed', async () => {
    const sessionOnly = routes.filter((r) => !isPublic(r) && !takesKey(r));
    expect(sessionOnly.length).toBeGreaterThan(20);
    expect(
      await walk(sessionOnly, async (route) =>
        (await Promise.all([us.ids, absent()].map((ids) => ask(route, ids, { key: us.key })))).flatMap((a) =>
          refusal(route, 'key', a, 401, 'unauthorized'),
        ),
      ),
    ).toEqual([]);
  });
});

describe('403, on the Direct API 401', () => {
  test('with a key that has every permission but one that the operation takes', async () => {
    const all = [...flatten(PERMISSIONS)];
    const without = new Map<string, string>();
    for (const permission of new Set(routes.flatMap(permissionsOf))) {
      const permissions: Record<string, string[]> = {};
      for (const one of all.filter((p) => p !== permission))
        (permissions[one.split(':')[0]!] ??= []).push(one.split(':')[1]!);
      without.set(permission, (await newAccount(s, us.cookie, { permissions })).key);
    }
    const asked = routes.flatMap((route) =>
      permissionsOf(route).map((permission) => ({ route, permission })),
    );
    expect(asked.length).toBeGreaterThan(150);
    expect(
      await walk(asked, async ({ route, permission }) => {
        const answers = await Promise.all(
          [us.ids, absent()].map((ids) => ask(route, ids, { key: without.get(permission)! })),
        );
        return answers.flatMap((a) =>
          isPlatform(route)
            ? refusal(route, `no ${permission}`, a, 403, 'forbidden')
            : refusal(route, `no ${permission}`, a, 401, 'unauthorized'),
        );
      }),
    ).toEqual([]);
  });

  test('with a key restricted to another project: 403 for every app id, on the Direct API as if there were none', async () => {
    const { key } = await newAccount(s, us.cookie, { projectIds: [newId('prj')] });
    const asked = routes.filter((r) => takesKey(r) && (idParams(r).length > 0 || isUnrestricted(r)));
    expect(
      await walk(asked, async (route) => {
        const answers = await Promise.all([us.ids, absent()].map((ids) => ask(route, ids, { key })));
        if (isPlatform(route))
          return answers.flatMap((a) => refusal(route, 'restricted', a, 403, 'forbidden'));
        if (isUnrestricted(route))
          return answers.flatMap((a) => refusal(route, 'restricted', a, 401, 'unauthorized'));
        return [
          ...answers.flatMap((a) =>
            refusal(route, 'restricted', a, 404, `${MISSING[idParams(route)[0]!]}_not_found`),
          ),
          ...(answers[0]!.text === answers[1]!.text
            ? []
            : [told(route, 'tells that it is there', answers[0]!)]),
        ];
      }),
    ).toEqual([]);
  });
});

describe('403 with a session', () => {
  test('of a member where an owner or admin is needed', async () => {
    const { cookie } = await invited(s, us.cookie, 'member');
    const asked = routes.filter(
      (r) =>
        typeof accessOf(r) === 'object' &&
        ['admin', 'owner'].includes((accessOf(r) as { session?: string }).session ?? ''),
    );
    expect(asked.length).toBeGreaterThan(15);
    expect(
      await walk(asked, async (route) =>
        (await Promise.all([us.ids, absent()].map((ids) => ask(route, ids, { cookie })))).flatMap((a) =>
          refusal(route, 'member', a, 403, 'forbidden'),
        ),
      ),
    ).toEqual([]);
  });

  test('that writes from another site', async () => {
    const writes = routes.filter((r) => r.method !== 'GET' && accessOf(r) !== 'public');
    expect(
      await walk(writes, async (route) => {
        const path = route.path.replace(
          /:(\w+)/g,
          (_, name: string) => valueOf(route, us.ids, name) ?? 'none',
        );
        const answer = await s.call(route.method, path, SAMPLES[route.operation.name]!.body?.(us.ids), {
          key: null,
          headers: { cookie: us.cookie, origin: 'https://elsewhere.test', 'x-request-id': 'walk' },
        });
        return refusal(route, 'elsewhere', answer, 403, 'forbidden');
      }),
    ).toEqual([]);
  });
});

describe('404', () => {
  /** One path id after the other is another caller's, the ones before it are the caller's own. */
  const asked = routes
    .filter((r) => accessOf(r) !== 'public')
    .flatMap((route) => idParams(route).map((name, at) => ({ route, name, at })));

  test("another organization's resource is answered exactly as one that does not exist", async () => {
    expect(asked.length).toBeGreaterThan(200);
    expect(
      await walk(asked, async ({ route, name, at }) => {
        const nobodys = absent();
        const as = takesKey(route) ? { key: them.key } : { cookie: them.cookie };
        const ids = (strange: Ids): Ids => {
          const mixed = { ...them.ids };
          for (const one of idParams(route).slice(at)) mixed[one] = strange[one]!;
          if (isApps(route, name)) mixed.appId = strange.appId!;
          return mixed;
        };
        const [foreign, unknown] = [await ask(route, ids(us.ids), as), await ask(route, ids(nobodys), as)];
        const code = `${isPlatform(route) && name === 'projectId' ? 'app' : MISSING[name]}_not_found`;
        return [
          ...refusal(route, `foreign ${name}`, foreign, 404, code),
          ...refusal(route, `unknown ${name}`, unknown, 404, code),
          ...(foreign.text === unknown.text
            ? []
            : [told(route, `${name} differs: ${foreign.text} ${unknown.text}`, foreign)]),
        ];
      }),
    ).toEqual([]);
  });

  test('so are ids in bodies and queries', async () => {
    const strange = (ids: Ids) =>
      [
        'projects.initializeHead',
        'sources.getDiff',
        'threads.createThread',
        'threads.createDirectThread',
        'threads.forkThread',
        'applies.createApply',
        'applies.previewApply',
        'edits.createEdit',
        'builds.createBuild',
        'setups.createSetup',
        'checkpoints.restoreSource',
      ].map((name) => ({ route: routes.find((r) => r.operation.name === name)!, ids }));
    const answers = await Promise.all(
      [us.ids, absent()].map((ids) =>
        Promise.all(
          strange(ids).map(async ({ route }) => {
            const own = them.ids;
            const idem = randomUUID();
            const path = route.path.replace(/:(\w+)/g, (_, name: string) => valueOf(route, own, name)!);
            const body = {
              ...(SAMPLES[route.operation.name]!.body?.({ ...ids, idem }) as object | undefined),
              ...(/createThread|createBuild|createSetup/.test(route.operation.name)
                ? { sourceId: ids.sourceId }
                : {}),
              ...(route.operation.name === 'threads.forkThread' ? { checkpointId: ids.checkpointId } : {}),
            };
            // A thread that nothing occupies: one with a preview only.
            const idle = path.replace(own.threadId!, idleThread());
            return s.call(
              route.method,
              idle + (SAMPLES[route.operation.name]!.query?.(ids) ?? ''),
              route.method === 'GET' ? undefined : body,
              { key: them.key, idem, headers: { 'x-request-id': 'walk' } },
            );
          }),
        ),
      ),
    );
    expect(answers[0]!.map((a) => `${a.status} ${a.body.error?.code}`)).toEqual([
      '404 source_not_found',
      '404 source_not_found',
      '404 source_not_found',
      '404 project_not_found',
      '404 checkpoint_not_found',
      '404 source_not_found',
      '404 source_not_found',
      '404 source_not_found',
      '404 source_not_found',
      '404 source_not_found',
      '404 source_not_found',
    ]);
    expect(answers[0]!.map((a) => a.text)).toEqual(answers[1]!.map((a) => a.text));
  });
  let idle: string;
  beforeAll(async () => {
    idle = (await s.call('POST', `${PLATFORM}/apps/${them.ids.appId}/threads`, {}, { key: them.key })).body
      .thread.id as string;
  });
  const idleThread = () => idle;
});

describe('200', () => {
  test("the caller's own can be read, and no list shows another organization's or, to a restricted key, other projects'", async () => {
    const reads = UNSTREAMED.filter(
      (r) => r.operation.kind === 'read' && r.method === 'GET' && accessOf(r) !== 'public',
    );
    const NOT_YET: Record<string, string> = {
      'builds.getArtifact': 'build_not_ready',
      'builds.getManifest': 'build_not_ready',
    };
    const restricted = (await newAccount(s, us.cookie, { projectIds: [newId('prj')] })).key;
    const ours = new RegExp(Object.values(us.ids).join('|'));
    const operator = { cookie: await signedIn(s) };
    const credentialOf = (route: Route, party: Party) =>
      takesKey(route) ? { key: party.key } : { cookie: party.cookie };
    expect(
      await walk(reads, async (route) => {
        const own = await ask(route, us.ids, isOperators(route) ? operator : credentialOf(route, us));
        const isRight = NOT_YET[route.operation.name]
          ? own.body?.error?.code === NOT_YET[route.operation.name]
          : own.status === 200;
        if (idParams(route).length) return isRight ? [] : [told(route, 'own', own)];
        const others = [
          await ask(route, us.ids, credentialOf(route, them)),
          ...(takesKey(route) && !isUnrestricted(route)
            ? [await ask(route, us.ids, { key: restricted })]
            : []),
        ];
        return [
          ...(isRight ? [] : [told(route, 'own', own)]),
          ...others.flatMap((a) =>
            a.status === (isOperators(route) ? 403 : 200) && !ours.test(a.text)
              ? []
              : [told(route, 'shows others', a)],
          ),
        ];
      }),
    ).toEqual([]);
  });
});
