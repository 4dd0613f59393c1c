/**
 * What the document cannot say of a valid request: which ids exist, which state a write needs, what a text
 * means. Everything else is drawn from the schemas. What is not named here works with the exhibits as they
 * are.
 */
import { createHmac, randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import type { Random } from '../../harness/random.ts';
import { OWNER } from './actors.ts';
import type { Actor } from './actors.ts';
import {
  ASKING,
  FILES,
  HOOK_SECRET,
  newAutomation,
  newTask,
  newWebhook,
  openApproval,
  PLATFORM,
  RECEIVER,
  SKILL,
  skillFile,
} from './exhibits.ts';
import { until } from './until.ts';
import type { Ids } from './exhibits.ts';
import type { Json, JsonObject } from './sample.ts';
import { newConflict } from './conflicts.ts';
import { changedThread, newThreadPull } from './pulls.ts';
import { newName, newPull, nextBranch } from './repository.ts';
import { newInstallation, pathOf, WEBHOOK_SECRET } from './world.ts';
import type { Draw, World } from './world.ts';

export interface Prepared {
  /** In place of the exhibits'. */
  ids?: Ids;
  actor?: Actor;
  /** Members that are set; `undefined`: left out. */
  body?: Record<string, Json | undefined>;
  query?: Record<string, string | undefined>;
  headers?: Actor;
  gzip?: Buffer;
  /** Once it is answered. */
  after?: (made: Record<string, any> | undefined) => unknown; // oxlint-disable-line typescript/no-explicit-any -- an answer's body
}

type Recipe = (draw: Draw) => Prepared | Promise<Prepared>;

const sometimes = (random: Random, share: number) => random.next() < share;
/** The member as it was drawn, seldom: with most values it refuses. */
const seldom = (random: Random, ...names: string[]) =>
  Object.fromEntries(names.filter(() => !sometimes(random, 0.1)).map((name) => [name, undefined]));
const appOf = ({ exhibits }: World) => `${PLATFORM}/apps/${exhibits.ids.appId}`;
const INSTALLATIONS = '/api/source-control/scm/installations';
const REPOSITORIES = '/api/source-control/scm/repositories';
const MODELS = ['scripted', 'openai/none', 'anthropic/none'];
const CONTENTS = [
  'Hello',
  '```sh\ntrue\n```',
  '```sh\nfalse\n```',
  '````file new.txt\n```\n````',
  'Nothing to run: ``` in a text',
];
const EVENT_TYPES = [
  'thread.updated',
  'run.completed',
  'message.persisted',
  'platform.head.updated',
  'operation.updated',
];

const CRONS = ['0 3 * * *', '*/15 8-18 * * MON-FRI', '30 2 L * ?', '0 9 15W * *', '@weekly'];
const ZONES = ['UTC', 'Europe/Berlin', 'Asia/Kolkata', 'Australia/Lord_Howe'];

const hookTrigger = (random: Random): JsonObject => ({
  kind: 'webhook',
  ...random.pick<JsonObject>([{}, { source: 'tracker' }, { defaults: { projectSlug: 'web' } }]),
});

/** A prompt and a filter with existing paths; without a repository, like the exhibits' project. */
const definition = (random: Random) => ({
  prompt: random.pick([...CONTENTS, 'Look at {{payload.title}}.\n\n{{payload}}', 'A literal \\{{']),
  filter: random.pick<Json>([[], [{ path: 'payload.state', op: 'in', value: ['open', 1, null] }]]),
  baseBranch: undefined,
  pullRequest: undefined,
});

const ofAllApps: Recipe = ({ world, random }) => ({
  query: { appId: sometimes(random, 0.3) ? world.exhibits.ids.appId : undefined },
});

/** One of few names: a level has at most 100 variables. */
const variable = (random: Random): Prepared => ({
  ids: { name: random.pick(['A', '_b', 'API_URL']) },
  body: { value: random.pick(['a long value', 'ä → 🔑 ä → 🔑', 'two\nlines of text']) },
});
async function newVariable({ calls: { call } }: World, actor: Actor, level: string): Promise<string> {
  const name = `V_${randomUUID().replaceAll('-', '_')}`;
  await call(actor, 'PUT', `${level}/environment/${name}`, { value: 'gone soon' });
  return name;
}

const anySource = ({ random, world }: Draw) =>
  sometimes(random, 0.3) ? world.exhibits.headSourceId : undefined;
const buildOrder = (draw: Draw) => ({
  ...command(draw, 'true', 'false', 'mkdir out && date > out/now'),
  outputDirectory: draw.random.pick(['.', 'out', 'src']),
  sourceId: anySource(draw),
});
/** The preview is stopped once it is answered. */
const previewOrder = ({ world }: Draw) => ({
  body: { command: 'true', port: 3000 },
  after: async (made: { preview?: { id: string } } | undefined) => {
    if (made?.preview)
      await world.calls.call(world.key, 'DELETE', `${appOf(world)}/previews/${made.preview.id}`);
  },
});
/** One and the same: a level has at most 50 skills. */
const skill = (random: Random): Prepared => ({
  ids: { name: SKILL },
  body: {
    files: [skillFile(SKILL), { path: 'data/ä.txt', content: random.pick(['', 'ä → 🔑', 'two\nlines']) }],
  },
});
async function newSkill({ calls: { call } }: World, actor: Actor, level: string): Promise<string> {
  const name = `s-${randomUUID()}`;
  await call(actor, 'PUT', `${level}/skills/${name}`, { files: [skillFile(name)] });
  return name;
}

export const RECIPES: Record<string, Recipe> = {
  'projects.updateApp': ({ world, random }) => ({
    ids: world.spare,
    body: seldom(random, 'expectedVersion'),
  }),
  'projects.deleteApp': async ({ world }) => ({ ids: { appId: await newApp(world) } }),
  'projects.initializeHead': async ({ world }) => {
    const appId = await newApp(world);
    const { source } = await world.calls.call(world.key, 'POST', `${PLATFORM}/apps/${appId}/sources`, {
      files: [],
    });
    return { ids: { appId }, body: { sourceId: source.id as string } };
  },
  // Bound to no repository: its threads begin from nothing.
  'projects.createProject': () => ({ body: { repositoryId: undefined } }),
  'projects.updateProject': ({ world, random }) => ({
    ids: world.spare,
    body: seldom(random, 'expectedVersion'),
  }),
  'projects.deleteProject': async ({ world }) => ({
    ids: {
      projectId: (await world.calls.call(world.key, 'POST', '/api/projects', { name: 'Gone soon' })).project
        .id as string,
    },
  }),
  'sources.importSource': async ({ world, random, isPlain }) => {
    const parentSourceId = sometimes(random, 0.5) ? world.exhibits.ids.sourceId : undefined;
    if (isPlain || sometimes(random, 0.7))
      return {
        query: { message: undefined, parentSourceId: undefined, links: undefined },
        body: { files: bundle(random), parentSourceId, baseSourceId: undefined, changes: undefined },
      };
    return { query: { parentSourceId }, gzip: await tarGz(bundle(random)) };
  },
  'sources.listFiles': ({ random }) => ({ query: sometimes(random, 0.5) ? { prefix: 'src/' } : {} }),
  'sources.getFile': ({ random }) => ({ query: { path: random.pick(FILES) }, headers: conditional(random) }),
  'sources.getArchive': ({ random }) => ({ headers: conditional(random) }),
  'sources.searchSource': ({ random }) => ({
    // The second is a text only.
    query: random.pick<Record<string, string>>([{ q: 'a' }, { q: '(', regex: 'false' }, { q: '[a-z]+' }]),
  }),
  'sources.getDiff': ({ world }) => ({ query: { base: world.exhibits.headSourceId } }),
  'threads.createThread': ({ world, random, isPlain }) => ({
    body: {
      sourceId: sometimes(random, 0.3) ? world.exhibits.headSourceId : undefined,
      ...firstWork(random, isPlain),
    },
  }),
  'threads.createDirectThread': ({ world, random, isPlain }) => ({
    body: {
      ...random.pick([
        { projectId: world.exhibits.ids.appId!, taskId: undefined },
        { projectId: world.exhibits.ids.projectId!, taskId: undefined },
        // The issue must be the task's.
        { projectId: world.exhibits.ids.projectId!, taskId: world.spare.taskId!, trackerIssueUrl: undefined },
      ]),
      sourceId: undefined,
      baseBranch: undefined,
      // It takes a program that is connected.
      executionTarget: undefined,
      ...firstWork(random, isPlain),
    },
  }),
  'threads.forkThread': ({ world, random, isPlain }) => ({
    body: {
      checkpointId: sometimes(random, 0.5) ? world.exhibits.ids.checkpointId : undefined,
      ...firstWork(random, isPlain),
    },
  }),
  'threads.listAllThreads': ({ world, random }) => ({
    query: { projectId: sometimes(random, 0.3) ? world.exhibits.ids.appId : undefined },
  }),
  'threads.updateThread': ({ world, random }) => ({
    ids: { threadId: world.spare.threadId! },
    body: {
      ...seldom(random, 'expectedVersion', 'expectedTitleVersion', 'expectedArchiveVersion'),
      ...(sometimes(random, 0.5) ? { archived: undefined } : { status: undefined }),
    },
  }),
  'threads.deleteThread': async ({ world }) => ({
    ids: { threadId: (await world.threads.take()).id as string },
  }),
  'messages.sendMessage': (draw) =>
    inThread(draw, () => ({
      body: {
        ...(sometimes(draw.random, 0.3) && !draw.isPlain ? {} : { content: draw.random.pick(CONTENTS) }),
        modelId: sometimes(draw.random, 0.2) ? draw.random.pick(MODELS) : undefined,
      },
    })),
  'runs.stopRun': (draw) =>
    inThread(draw, async (thread) => {
      // A retry may repeat it.
      await draw.world.calls.call(draw.world.key, 'POST', `${thread.path}/messages`, {
        content: '```sh\nsleep 5\n```',
      });
      return {};
    }),
  'runs.retryRun': (draw) =>
    inThread(
      draw,
      async (thread) => {
        if (thread.latestUserMessageAt !== null) return {};
        const { run } = await draw.world.calls.call(draw.world.key, 'POST', `${thread.path}/messages`, {
          content: 'Hello',
        });
        await until(
          () => draw.world.calls.call(draw.world.key, 'GET', `${thread.path}/runs/${run.id}?waitSeconds=10`),
          (answer) => answer.run.finishedAt !== null,
          'a run',
        );
        return {};
      },
      (thread) => thread.latestUserMessageAt !== null,
    ),
  'checkpoints.restoreSource': (draw) =>
    inThread(draw, () => Promise.resolve({ body: { sourceId: draw.world.exhibits.ids.sourceId } })),
  'checkpoints.restoreCheckpoint': (draw) =>
    inThread(draw, async (thread) => {
      const { call } = draw.world.calls;
      await call(draw.world.key, 'POST', `${thread.path}/edits`, {
        expectedSourceId: thread.latestSourceId,
        changes: [{ path: `${randomUUID()}.txt`, content: '' }],
      });
      return {
        ids: {
          checkpointId: (await call(draw.world.key, 'GET', `${thread.path}/checkpoints`)).checkpoints[0]
            .id as string,
        },
      };
    }),
  'applies.createApply': async ({ world, random }) => {
    const thread = await world.threads.take();
    return {
      ids: { threadId: thread.id as string },
      body: {
        expectedSourceId: thread.latestSourceId as string,
        resolutions: undefined,
        ...seldom(random, 'expectedHeadSourceId'),
      },
    };
  },
  'applies.previewApply': (draw) =>
    inThread(draw, (thread) => ({
      body: {
        expectedSourceId: thread.latestSourceId as string,
        resolutions: undefined,
        ...seldom(draw.random, 'expectedHeadSourceId'),
      },
    })),
  'applies.previewFile': async ({ world: { calls, key } }) => {
    const { ids, body } = await newConflict(calls, key);
    return { ids, body: { ...body, resolutions: undefined, expectedHeadSourceId: undefined } };
  },
  'applies.listApplies': ({ world, random }) => ({
    query: { threadId: sometimes(random, 0.3) ? world.exhibits.ids.threadId : undefined },
  }),
  'edits.createEdit': (draw) =>
    inThread(draw, (thread) => ({
      body: { expectedSourceId: thread.latestSourceId as string, changes: bundle(draw.random, 1) },
    })),
  'execs.createExec': (draw) =>
    inThread(draw, () => ({
      body: command(draw, 'true', 'cat', 'echo told >&2; exit 3', 'date > now.txt'),
      headers: !draw.isPlain && sometimes(draw.random, 0.4) ? [['accept', 'text/event-stream']] : [],
    })),
  'approvals.answerApproval': (draw) =>
    inThread(draw, async (thread) => {
      await draw.world.calls.call(draw.world.key, 'POST', `${thread.path}/messages`, {
        content: `\`\`\`sh\n${ASKING}${randomUUID()}\n\`\`\``,
      });
      return { ids: { approvalId: await openApproval(draw.world.calls.call, draw.world.key, thread.path) } };
    }),
  'builds.createBuild': (draw) => inThread(draw, () => ({ body: buildOrder(draw) })),
  'builds.createAppBuild': (draw) => ({ body: buildOrder(draw) }),
  'builds.cancelBuild': (draw) =>
    inThread(draw, async (thread) => ({
      ids: {
        buildId: (
          await draw.world.calls.call(draw.world.key, 'POST', `${thread.path}/builds`, {
            command: 'sleep 60',
            outputDirectory: '.',
          })
        ).build.id as string,
      },
    })),
  'builds.getArtifact': ({ random }) => ({ headers: conditional(random) }),
  'builds.getLogs': ({ random }) => ({ headers: sometimes(random, 0.4) ? [['accept', 'text/plain']] : [] }),
  'previews.createPreview': (draw) => inThread(draw, () => previewOrder(draw)),
  'previews.createAppPreview': (draw) => {
    const { body, after } = previewOrder(draw);
    return { body: { ...body, sourceId: anySource(draw) }, after };
  },
  'previews.deletePreview': async ({ world }) => ({
    ids: {
      previewId: (
        await world.calls.call(
          world.key,
          'POST',
          `${appOf(world)}/threads/${world.exhibits.ids.threadId}/previews`,
          { command: 'true', port: 3000 },
        )
      ).preview.id as string,
    },
  }),
  'setups.createSetup': ({ random }) => ({ body: { force: sometimes(random, 0.2), sourceId: undefined } }),
  'setups.getLogs': ({ random }) => ({ headers: sometimes(random, 0.4) ? [['accept', 'text/plain']] : [] }),
  'settings.updateAppSettings': ({ world }) => ({ ids: world.spare, body: { runtime: undefined } }),
  'settings.updateOrganizationSettings': ({ world }) => ({
    actor: world.elsewhere,
    body: { runtime: undefined },
  }),
  'environment.setAppVariable': ({ random }) => variable(random),
  'environment.setOrganizationVariable': ({ world, random }) => ({
    actor: world.elsewhere,
    ...variable(random),
  }),
  'environment.deleteAppVariable': async ({ world }) => ({
    ids: { name: await newVariable(world, world.key, appOf(world)) },
  }),
  'environment.deleteOrganizationVariable': async ({ world }) => ({
    actor: world.elsewhere,
    ids: { name: await newVariable(world, world.elsewhere, '/api') },
  }),
  'skills.setAppSkill': ({ random }) => skill(random),
  'skills.setOrganizationSkill': ({ world, random }) => ({ actor: world.elsewhere, ...skill(random) }),
  'skills.deleteAppSkill': async ({ world }) => ({
    ids: { name: await newSkill(world, world.key, appOf(world)) },
  }),
  'skills.deleteOrganizationSkill': async ({ world }) => ({
    actor: world.elsewhere,
    ids: { name: await newSkill(world, world.elsewhere, '/api') },
  }),
  'operations.getOperation': ({ world, random }) => ({ ids: { operationId: random.pick(world.operations) } }),
  'scm.createRepository': ({ world, random }) => ({
    body: {
      name: newName(),
      ...(sometimes(random, 0.5) ? { files: undefined } : { files: [{ path: 'a', content: 'a' }] }),
    },
    after: async (made) => {
      if (made?.repository)
        await world.calls.call(world.key, 'DELETE', `${REPOSITORIES}/${made.repository.id as string}`);
    },
  }),
  'scm.updateRepository': ({ random }) => ({
    body: { requiredChecks: [], mergeMethods: undefined, ...seldom(random, 'defaultBranch') },
  }),
  'scm.deleteRepository': async ({ world: { calls, key } }) => {
    const { repository } = await calls.call(key, 'POST', REPOSITORIES, { name: newName() });
    return { ids: { repositoryId: repository.id as string } };
  },
  'scm.inspectRepository': ({ random }) => ({ query: seldom(random, 'ref') }),
  'scm.createPullRequest': ({ random }) => ({
    body: { headRef: nextBranch(), ...seldom(random, 'baseRef') },
  }),
  'scm.updatePullRequest': async ({ world: { calls, key, exhibits }, random }) => ({
    ids: await newPull(calls, key, exhibits.ids.repositoryId!),
    body: seldom(random, 'base'),
  }),
  'scm.mergePullRequest': async ({ world: { calls, key, exhibits }, random }) => ({
    ids: await newPull(calls, key, exhibits.ids.repositoryId!),
    body: seldom(random, 'expectedHeadSha'),
  }),
  'scm.createComment': ({ random }) => ({ body: seldom(random, 'inReplyTo') }),
  'scm.createInstallation': ({ world }) => ({
    body: { provider: 'github', app: undefined, ...world.github },
    after: async (made) => {
      if (made?.installation)
        await world.calls.call(world.owner, 'DELETE', `${INSTALLATIONS}/${made.installation.id as string}`);
    },
  }),
  'scm.updateInstallation': ({ world, random }) => ({
    ids: world.spare,
    body: {
      app: undefined,
      webhookSecret: undefined,
      token: sometimes(random, 0.5) ? world.github.token : undefined,
    },
  }),
  'scm.deleteInstallation': async ({ world }) => ({ ids: { installationId: await newInstallation(world) } }),
  'scm.receiveWebhook': ({ world }) => {
    const body = { zen: randomUUID() };
    const signature = createHmac('sha256', WEBHOOK_SECRET).update(JSON.stringify(body)).digest('hex');
    return {
      ids: world.spare,
      body,
      headers: [
        ['x-github-event', 'ping'],
        ['x-github-delivery', randomUUID()],
        ['x-hub-signature-256', `sha256=${signature}`],
      ],
    };
  },
  'pullRequests.createPullRequest': async ({ world: { calls, key, exhibits } }) => ({
    ids: { pullThreadId: await changedThread(calls, key, exhibits.ids.boundProjectId!) },
    // Another pull request's number goes with nothing else.
    body: { number: undefined, base: undefined },
  }),
  'pullRequests.updatePullRequest': onPull({ base: undefined, state: undefined }),
  'pullRequests.syncPullRequest': onPull({ take: undefined }),
  'pullRequests.updateBranch': onPull({}),
  'pullRequests.updateReviewLoop': onPull({}),
  'pullRequests.mergePullRequest': onPull({ method: undefined, expectedHeadSha: undefined }),
  'tasks.createTask': ({ world, random }) => ({
    body: {
      projectId: world.exhibits.ids.projectId,
      // A project has one task per issue.
      trackerIssueUrl: sometimes(random, 0.5) ? `https://tracker.example.com/${randomUUID()}` : undefined,
    },
  }),
  'tasks.listTasks': ({ world, random }) => ({
    query: { projectId: sometimes(random, 0.3) ? world.exhibits.ids.projectId : undefined },
  }),
  'tasks.updateTask': ({ world }) => ({ ids: world.spare }),
  'tasks.deleteTask': async ({ world }) => ({
    ids: { taskId: await newTask(world.calls.call, world.key, world.exhibits.ids.projectId!) },
  }),
  'mcpServers.createMcpServer': ({ world, random }) => ({
    body: {
      command: undefined,
      url: undefined,
      headers: undefined,
      env: undefined,
      projectIds: undefined,
      ...mcpServer(random),
    },
    after: async (made) => {
      if (made?.mcpServer)
        await world.calls.call(world.key, 'DELETE', `/api/mcp-servers/${made.mcpServer.id}`);
    },
  }),
  'mcpServers.updateMcpServer': async ({ world, random }) => {
    const server = mcpServer(random);
    return {
      ...(await oneMcpServer(world, random, server)),
      body: {
        command: undefined,
        url: undefined,
        headers: undefined,
        env: undefined,
        projectIds: undefined,
        transport: undefined,
        ...(sometimes(random, 0.5) ? server : {}),
      },
    };
  },
  'mcpServers.deleteMcpServer': async ({ world, random }) => ({
    ids: (await oneMcpServer(world, random)).ids!,
  }),
  'automations.createAutomation': ({ world, random }) => ({
    body: {
      ...definition(random),
      projectId: world.exhibits.ids.projectId,
      trigger: random.pick<JsonObject>([
        { kind: 'schedule', cron: random.pick(CRONS), timeZone: random.pick(ZONES) },
        { kind: 'event', types: [random.pick(EVENT_TYPES.slice(0, 3))] },
        hookTrigger(random),
      ]),
      // Events would start threads, whose events would start more.
      disabled: true,
    },
    after: async (made) => {
      if (made?.automation)
        await world.calls.call(world.key, 'DELETE', `/api/automations/${made.automation.id}`);
    },
  }),
  'applies.listAllAppApplies': ofAllApps,
  'builds.listAllAppBuilds': ofAllApps,
  'previews.listAllAppPreviews': ofAllApps,
  'threads.listAllAppThreads': ofAllApps,
  'automations.listAutomations': ({ world, random }) => ({
    query: { projectId: sometimes(random, 0.3) ? world.exhibits.ids.projectId : undefined },
  }),
  'automations.previewSchedule': ({ random }) => ({
    query: { cron: random.pick(CRONS), timeZone: random.pick(ZONES) },
  }),
  'automations.updateAutomation': ({ world, random }) => ({
    ids: world.spare,
    body: { ...definition(random), trigger: sometimes(random, 0.5) ? hookTrigger(random) : undefined },
  }),
  'automations.deleteAutomation': async ({ world: { calls, key, exhibits } }) => ({
    ids: { automationId: await newAutomation(calls.call, key, exhibits.ids.projectId!) },
  }),
  'automations.rotateSecret': ({ world }) => ({ ids: world.spare }),
  'automations.receiveHook': () => ({
    body: { id: randomUUID() },
    headers: [['authorization', `Bearer ${HOOK_SECRET}`]],
  }),
  'hosts.deleteHost': async ({ world }) => ({
    ids: {
      hostId: (await world.calls.call(world.owner, 'POST', '/api/hosts', { name: 'Gone soon' })).host
        .id as string,
    },
  }),
  'webhooks.createWebhook': ({ world, random }) => ({
    body: {
      url: RECEIVER,
      projectId: sometimes(random, 0.5) ? world.exhibits.ids.projectId : undefined,
    },
    after: async (made) => {
      if (made?.subscription)
        await world.calls.call(world.key, 'DELETE', `/api/webhooks/${made.subscription.id}`);
    },
  }),
  'webhooks.updateWebhook': ({ world, random }) => ({
    ids: world.spare,
    body: { url: sometimes(random, 0.5) ? `${RECEIVER}${randomUUID()}` : undefined },
  }),
  'webhooks.deleteWebhook': async ({ world }) => ({
    ids: { webhookId: await newWebhook(world.calls.call, world.key) },
  }),
  'webhooks.rotateSecret': ({ world }) => ({ ids: world.spare }),
  'webhooks.testWebhook': ({ world }) => ({ ids: world.spare }),
  'usage.setModelKey': ({ world, random }) => ({
    actor: world.elsewhere,
    ids: { provider: random.pick(['openai', 'anthropic', 'provider-1']) },
  }),
  'usage.deleteModelKey': async ({ world }) => {
    const provider = randomUUID();
    await world.calls.call(world.elsewhere, 'PUT', `/api/model-keys/${provider}`, { key: 'none' });
    return { actor: world.elsewhere, ids: { provider } };
  },
  'usage.readUsage': ({ random }) => ({
    query: {
      from: random.pick([undefined, '2026-01-01', '2026-01-01T00:00:00Z']),
      to: random.pick([undefined, '2026-12-31', '2026-12-31T23:59:59.999+01:00']),
    },
  }),
  'accounts.signIn': () => ({ body: OWNER }),
  'accounts.signOut': async ({ world }) => ({ actor: await world.calls.signIn(OWNER) }),
  'accounts.switchOrganization': ({ world, random }) => ({
    actor: world.wanderer,
    body: { organizationId: random.pick(world.organizations) },
  }),
  'accounts.deleteOrganization': async ({ world }) => ({
    ids: {
      organizationId: (
        await world.calls.call(world.owner, 'POST', '/api/organizations', { name: 'Gone soon' })
      ).organization.id as string,
    },
  }),
  'accounts.inviteMember': () => ({ body: { email: `${randomUUID()}@example.test` } }),
  'accounts.acceptInvitation': async ({ world }) => {
    const { invitation } = await world.calls.call(world.owner, 'POST', '/api/members', {
      email: `${randomUUID()}@example.test`,
      role: 'member',
    });
    return { ids: { token: (invitation.url as string).split('/').at(-1)! } };
  },
  'accounts.changePassword': async ({ world }) => {
    const { actor, password } = await world.calls.invite(world.owner, 'member');
    return { actor, body: { currentPassword: password, newPassword: randomUUID() } };
  },
  'accounts.endSession': async ({ world }) => {
    const { actor, email, password } = await world.calls.invite(world.owner, 'member');
    await world.calls.signIn({ email, password });
    const { sessions } = await world.calls.call(actor, 'GET', '/api/sessions');
    return {
      actor,
      ids: { sessionId: sessions.find((one: { current: boolean }) => !one.current).id as string },
    };
  },
  'accounts.revokeInvitation': async ({ world }) => {
    const { invitation } = await world.calls.call(world.owner, 'POST', '/api/members', {
      email: `${randomUUID()}@example.test`,
      role: 'member',
    });
    return { ids: { invitationId: invitation.id as string } };
  },
  'accounts.updateMember': ({ world }) => ({ ids: world.spare }),
  'accounts.removeMember': async ({ world }) => ({
    ids: { userId: (await world.calls.invite(world.owner, 'member')).userId },
  }),
  'accounts.updateServiceAccount': ({ world }) => ({ ids: world.spare }),
  'accounts.deleteServiceAccount': async ({ world }) => ({
    ids: { accountId: (await world.calls.account(world.owner)).accountId },
  }),
  'accounts.rotateCredential': ({ world }) => ({ ids: world.spare }),
  'accounts.revokeCredential': async ({ world }) => {
    const { credential } = await world.calls.call(
      world.owner,
      'POST',
      `/api/service-accounts/${world.spare.accountId}/credentials`,
    );
    return { ids: { accountId: world.spare.accountId!, credentialId: credential.id as string } };
  },
};

/** A pull request of its own, and members that are set. */
function onPull(body: Record<string, Json | undefined>): Recipe {
  return async ({ world: { calls, key, exhibits } }) => ({
    ids: await newThreadPull(calls, key, exhibits.ids.boundProjectId!),
    body,
  });
}

/** Which members a server has follows from its transport. */
function mcpServer(random: Random): JsonObject {
  if (sometimes(random, 0.5))
    return {
      transport: 'stdio',
      command: 'node tools.mjs',
      ...(sometimes(random, 0.5) ? { env: { WORD: 'heron' } } : {}),
    };
  return {
    transport: 'http',
    url: random.pick(['https://mcp.example.com/', 'http://mcp.example.com:8080/a?b=c']),
    ...(sometimes(random, 0.5) ? { headers: { 'X-Key': 'secret' } } : {}),
  };
}

/** A server that goes once the request is answered. */
async function oneMcpServer(
  { calls: { call }, key }: World,
  random: Random,
  server = mcpServer(random),
): Promise<Prepared> {
  const { mcpServer: made } = await call(key, 'POST', '/api/mcp-servers', { name: 'Tools', ...server });
  return {
    ids: { mcpServerId: made.id as string },
    after: async () => {
      await call(key, 'DELETE', `/api/mcp-servers/${made.id as string}`);
    },
  };
}

/**
 * Weights relative to 1: sandboxes take a tenth of a second of a core or more, passwords too; a stream is
 * held for a quarter of a second.
 */
const COSTLY = [
  'automations.runAutomation',
  'messages.sendMessage',
  'runs.stopRun',
  'runs.retryRun',
  'checkpoints.restoreSource',
  'checkpoints.restoreCheckpoint',
  'applies.createApply',
  'applies.previewFile',
  'execs.createExec',
  'approvals.answerApproval',
  'builds.createBuild',
  'builds.createAppBuild',
  'builds.cancelBuild',
  'setups.createSetup',
  'previews.createPreview',
  'previews.createAppPreview',
  'previews.deletePreview',
  'threads.deleteThread',
  'scm.createPullRequest',
  'scm.updatePullRequest',
  'scm.mergePullRequest',
  'scm.createInstallation',
  'pullRequests.createPullRequest',
  'pullRequests.updatePullRequest',
  'pullRequests.syncPullRequest',
  'pullRequests.updateBranch',
  'pullRequests.updateReviewLoop',
  'pullRequests.mergePullRequest',
  'accounts.signIn',
  'accounts.signOut',
  'accounts.acceptInvitation',
  'accounts.changePassword',
  'accounts.endSession',
  'accounts.removeMember',
];
export const weightOf = ({ base }: { base: string }) =>
  COSTLY.includes(base)
    ? 0.12
    : /^threads.create/.test(base)
      ? 0.3
      : /^(edits|applies.preview|events.stream)/.test(base)
        ? 0.4
        : 1;

/**
 * A list's or feed's own cursor, with the filters of the request; undefined where there is no further page.
 */
export async function cursorFor(
  { world, operation }: Draw,
  ids: Ids,
  query: Record<string, string>,
  actor: Actor,
): Promise<string | undefined> {
  const { limit: _, cursor: __, waitSeconds: ___, ...filters } = query;
  const list = pathOf(operation, ids).replace(/\/events\/(head|stream)$/, '/events');
  const { nextCursor } = await world.calls.call(
    actor,
    'GET',
    `${list}?${new URLSearchParams({ ...filters, limit: '1' }).toString()}`,
  );
  return (nextCursor as string | null) ?? undefined;
}

/** Filters of events that exist on the feed. */
export function eventFilters({ world, operation, random }: Draw): Record<string, string | undefined> {
  const { ids } = world.exhibits;
  return {
    threadId: operation.isPlatform && sometimes(random, 0.3) ? ids.threadId : undefined,
    runId: sometimes(random, 0.2) ? ids.runId : undefined,
    projectId: !operation.isPlatform && sometimes(random, 0.3) ? ids.projectId : undefined,
    types: sometimes(random, 0.3)
      ? EVENT_TYPES.filter(() => sometimes(random, 0.5)).join(',') || undefined
      : undefined,
  };
}

async function newApp({ calls, key }: World): Promise<string> {
  return (await calls.call(key, 'POST', `${PLATFORM}/apps`, { name: 'Gone soon' })).app.id as string;
}

type Thread = Record<string, unknown> & { path: string };

/** Takes a thread, and gives it back once the request is answered. */
async function inThread(
  { world }: Draw,
  prepare: (thread: Thread) => Prepared | Promise<Prepared>,
  isRight?: (thread: Record<string, unknown>) => boolean,
): Promise<Prepared> {
  const taken = await world.threads.take(isRight);
  const prepared = await prepare({ ...taken, path: `${appOf(world)}/threads/${taken.id}` });
  return {
    ...prepared,
    ids: { ...prepared.ids, threadId: taken.id as string },
    after: async (made) => {
      await prepared.after?.(made);
      world.threads.giveBack(taken.id as string);
    },
  };
}

/** One of these commands, or whatever text was drawn: the shell makes of it what it can, within a second. */
function command({ random, isPlain }: Draw, ...known: string[]): Record<string, Json | undefined> {
  return isPlain || sometimes(random, 0.7) ? { command: random.pick(known) } : { timeoutSeconds: 1 };
}

function firstWork(random: Random, isPlain: boolean): Record<string, Json | undefined> {
  return {
    modelId: sometimes(random, 0.2) ? random.pick(MODELS) : undefined,
    message: !isPlain && sometimes(random, 0.15) ? { content: random.pick(CONTENTS) } : undefined,
  };
}

function bundle(random: Random, least = 0): JsonObject[] {
  return Array.from({ length: least + random.below(5) }, (_, i) => ({
    path: `${random.pick(['', 'src/', 'ünï/', 'a b/'])}file-${i}-${random.below(1e6)}${random.pick(['', '.ts', ' (1).txt', '.漢字'])}`,
    ...(sometimes(random, 0.3)
      ? { content: Buffer.from([0, 1, 0xff, random.below(256)]).toString('base64'), encoding: 'base64' }
      : { content: random.pick(['', 'text\n', 'a\0b', '漢字🙂']) }),
    ...(sometimes(random, 0.3) ? { executable: sometimes(random, 0.5) } : {}),
  }));
}

async function tarGz(files: JsonObject[]): Promise<Buffer> {
  const tar = pack();
  for (const { path, executable } of files)
    tar.entry({ name: path as string, mode: executable ? 0o755 : 0o644 }, 'content\n');
  tar.finalize();
  const parts: Buffer[] = [];
  for await (const part of tar) parts.push(part as Buffer);
  return gzipSync(Buffer.concat(parts));
}

const conditional = (random: Random): Actor =>
  sometimes(random, 0.3)
    ? [['if-none-match', random.pick(['*', '"none"', 'W/"none", "other"', 'garbage'])]]
    : [];
