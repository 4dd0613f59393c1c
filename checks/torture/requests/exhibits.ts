/** One of everything, at rest: what reads read, and what refused requests name. */
import { randomUUID } from 'node:crypto';
import type { Actor, Calls, Made } from './actors.ts';
import { exhibitRepository } from './repository.ts';
import { newThreadPull } from './pulls.ts';
import { until } from './until.ts';

export const PLATFORM = '/api/platform/v1';
/** A command that the exhibited app's settings have people asked about. */
export const ASKING = 'ask=1';
export const FILES = ['README.md', 'src/index.ts', 'bin/run'];

/** Ids by the name of the path's parameter; `projectId` is a Direct project. */
export type Ids = Record<string, string>;

export interface Exhibits {
  ids: Ids;
  /** The head, which is the exhibited source's parent. */
  headSourceId: string;
}

/** Takes a worker and a runner. */
export async function makeExhibits(
  calls: Calls,
  key: Actor,
  owner: Actor,
  organizationId: string,
): Promise<Exhibits> {
  const { call, account, invite } = calls;
  const {
    app: { id: appId },
  } = await call(key, 'POST', `${PLATFORM}/apps`, { name: 'Exhibit' });
  const app = `${PLATFORM}/apps/${appId}`;
  await call(key, 'PATCH', `${app}/settings`, {
    approvals: [{ tool: 'sh', pattern: `${ASKING}*`, decision: 'ask' }],
  });
  const {
    source: { id: headSourceId },
  } = await call(key, 'POST', `${app}/sources`, {
    files: FILES.map((path) => ({ path, content: `${path}\n`, executable: path === 'bin/run' })),
  });
  await call(key, 'POST', `${app}/source-head/initialize`, { sourceId: headSourceId });
  const applyId = await applied(call, key, app, headSourceId);
  const {
    thread: { id: threadId },
  } = await call(key, 'POST', `${app}/threads`, {});
  const thread = `${app}/threads/${threadId}`;
  const {
    message: { id: messageId },
    run: { id: runId },
  } = await call(key, 'POST', `${thread}/messages`, {
    content: `\`\`\`sh\n${ASKING}\n\`\`\``,
    attachments: [{ mediaType: 'text/plain', data: Buffer.from('An attachment.').toString('base64') }],
  });
  const approvalId = await openApproval(call, key, thread);
  await call(key, 'POST', `${thread}/approvals/${approvalId}`, { decision: 'approve' });
  await until(
    () => call(key, 'GET', `${thread}/runs/${runId}?waitSeconds=10`),
    ({ run }) => run.status === 'completed',
    'the run',
  );
  const {
    source: { id: sourceId },
    operationId,
  } = await call(key, 'POST', `${thread}/edits`, {
    expectedSourceId: headSourceId,
    changes: [{ path: 'src/index.ts', content: 'edited\n' }],
  });
  const {
    checkpoints: [{ id: checkpointId }],
  } = await call(key, 'GET', `${thread}/checkpoints`);
  const {
    build: { id: buildId },
  } = await call(key, 'POST', `${thread}/builds`, { command: 'echo built > out.txt', outputDirectory: '.' });
  await until(
    () => call(key, 'GET', `${app}/builds/${buildId}?waitSeconds=10`),
    ({ build }) => build.status === 'ready',
    'the build',
  );
  const {
    preview: { id: previewId },
  } = await call(key, 'POST', `${thread}/previews`, { command: 'true', port: 3000 });
  await call(key, 'DELETE', `${app}/previews/${previewId}`);
  const {
    setup: { id: setupId },
  } = await newSetup(call, key, app);
  const {
    project: { id: projectId },
  } = await call(key, 'POST', '/api/projects', { name: 'Direct' });
  const taskId = await newTask(call, key, projectId as string);
  const [{ accountId, credentialId }, { userId }] = [await account(owner), await invite(owner, 'member')];
  const {
    sessions: [{ id: sessionId }],
  } = await call(owner, 'GET', '/api/sessions');
  const {
    invitation: { id: invitationId },
  } = await call(owner, 'POST', '/api/members', { email: 'open@example.test', role: 'member' });
  const {
    mcpServer: { id: mcpServerId },
  } = await call(key, 'POST', '/api/mcp-servers', {
    name: 'Tools',
    transport: 'stdio',
    command: 'node tools.mjs',
  });
  // One of its own: a stranger's organization has exhibits, too.
  const name = `exhibit${randomUUID().slice(0, 8)}`;
  for (const [actor, level] of [
    [key, app],
    [owner, '/api'],
  ] as const) {
    await call(actor, 'PUT', `${level}/environment/${name}`, { value: 'shown' });
    await call(actor, 'PUT', `${level}/skills/${name}`, { files: [skillFile(name)] });
  }
  const automationId = await newAutomation(call, key, projectId as string);
  const executionId = await executed(call, key, automationId);
  const webhookId = await newWebhook(call, key);
  const {
    delivery: { id: deliveryId },
  } = await call(key, 'POST', `/api/webhooks/${webhookId}/test`, {});
  const { host } = await call(owner, 'POST', '/api/hosts', { name: 'Laptop' });
  const repository = await exhibitRepository(calls, key);
  const {
    project: { id: boundProjectId },
  } = await call(key, 'POST', '/api/projects', { name: 'Bound', repositoryId: repository.repositoryId });
  const pull = await newThreadPull(calls, key, boundProjectId as string);
  return {
    headSourceId,
    ids: {
      ...repository,
      boundProjectId,
      ...pull,
      taskId,
      mcpServerId,
      automationId,
      executionId,
      webhookId,
      deliveryId,
      hostId: host.id as string,
      appId,
      projectId,
      sourceId,
      threadId,
      messageId,
      index: '0',
      runId,
      approvalId,
      checkpointId,
      buildId,
      previewId,
      setupId,
      applyId,
      operationId,
      accountId,
      credentialId,
      userId,
      sessionId,
      invitationId,
      organizationId,
      provider: 'openai',
      name,
      token: 'a'.repeat(43),
    },
  };
}

/** The skill that is set again and again. */
export const SKILL = 'release-notes';
/** The least that a skill of that name has. */
export const skillFile = (name: string) => ({
  path: 'SKILL.md',
  content: `---\nname: ${name}\ndescription: Shown.\n---\n`,
});

/** An app's setup, which is ready: its threads have the layer. */
async function newSetup(call: Calls['call'], key: Actor, app: string) {
  await call(key, 'PATCH', `${app}/settings`, {
    setup: { command: 'echo made > made', paths: ['package.json'] },
  });
  const { setup } = await call(key, 'POST', `${app}/setups`, {});
  return until(
    () => call(key, 'GET', `${app}/setups/${setup.id as string}?waitSeconds=10`),
    (now) => now.setup.status === 'ready',
    'the setup',
  );
}

async function applied(call: Calls['call'], key: Actor, app: string, sourceId: string): Promise<string> {
  const {
    thread: { id: threadId },
  } = await call(key, 'POST', `${app}/threads`, {});
  const clientOperationId = randomUUID();
  const {
    apply: { id },
  } = await call(
    key,
    'POST',
    `${app}/threads/${threadId}/apply`,
    { expectedSourceId: sourceId, clientOperationId },
    clientOperationId,
  );
  await until(
    () => call(key, 'GET', `${app}/applies/${id}?waitSeconds=10`),
    ({ apply }) => apply.status === 'applied',
    'the apply',
  );
  return id as string;
}

export async function newTask(call: Calls['call'], key: Actor, projectId: string): Promise<string> {
  return (await call(key, 'POST', '/api/tasks', { projectId, title: 'Task' })).task.id as string;
}

export const HOOK_SECRET = 'the torture is the sender';

/** An automation whose filter excludes every hook. It runs by hand any number of times. */
export async function newAutomation(call: Calls['call'], key: Actor, projectId: string): Promise<string> {
  const { automation } = await call(key, 'POST', '/api/automations', {
    projectId,
    name: 'Automation',
    prompt: 'Nothing to do.',
    trigger: { kind: 'webhook', secret: HOOK_SECRET },
    filter: [{ path: 'payload.isFromTorture', op: 'eq', value: false }],
    overlap: 'allow',
  });
  return automation.id as string;
}

/** An execution that has ended. */
async function executed(call: Calls['call'], key: Actor, automationId: string): Promise<string> {
  const automation = `/api/automations/${automationId}`;
  const { execution } = await call(key, 'POST', `${automation}/run`, {});
  await until(
    () => call(key, 'GET', `${automation}/executions/${execution.id}?waitSeconds=10`),
    (answer) => answer.execution.status === 'completed',
    'the execution',
  );
  return execution.id as string;
}

/** Its host does not resolve (RFC 2606): its attempts end at once and reach no server. */
export const RECEIVER = 'https://hooks.invalid/';

export async function newWebhook(call: Calls['call'], key: Actor): Promise<string> {
  const { subscription } = await call(key, 'POST', '/api/webhooks', { url: RECEIVER, types: ['run.failed'] });
  return subscription.id as string;
}

/** The first approval of a thread, once it is asked for. */
export async function openApproval(call: Calls['call'], key: Actor, thread: string): Promise<string> {
  const { approvals } = await until(
    () => call(key, 'GET', `${thread}/approvals`),
    (answer) => answer.approvals.some((a: Made) => a.status === 'pending'),
    'the approval',
  );
  return approvals.find((a: Made) => a.status === 'pending').id as string;
}
