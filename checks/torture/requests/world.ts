/** What requests are drawn against: one of everything at rest, and threads to be worked in. */
import type { Random } from '../../harness/random.ts';
import type { Service } from '../../harness/service.ts';
import { byBearer, byKey, createCalls, OWNER } from './actors.ts';
import type { Actor, Calls, Made } from './actors.ts';
import type { Operation } from './document.ts';
import { makeExhibits, newAutomation, newTask, newWebhook, PLATFORM } from './exhibits.ts';
import { until } from './until.ts';
import type { Exhibits, Ids } from './exhibits.ts';
import type { Wire } from './wire.ts';

export interface World {
  calls: Calls;
  serviceKey: string;
  key: Actor;
  bearer: Actor;
  owner: Actor;
  /** The owner in another organization, whose settings disturb nobody. */
  elsewhere: Actor;
  /** A session that changes its organization, and one that may end. */
  wanderer: Actor;
  leaver: Actor;
  organizations: string[];
  exhibits: Exhibits;
  github: Github;
  /** May be changed by anybody, but is there. */
  spare: Ids;
  /** Receipts of the key's writes. */
  operations: string[];
  threads: Threads;
  /** What each path takes. */
  methods: Map<string, string[]>;
}

/** A host of repositories that a credential is tried at. */
export interface Github {
  baseUrl: string;
  token: string;
}

export async function makeWorld(
  { service, github }: { service: Service; github: Github },
  wire: Wire,
  operations: Operation[],
): Promise<World> {
  const calls = createCalls(wire, service.base);
  const [owner, wanderer, leaver] = [
    await calls.signIn(OWNER),
    await calls.signIn(OWNER),
    await calls.signIn(OWNER),
  ];
  const { activeOrganizationId: home } = await calls.call(owner, 'GET', '/api/session');
  const { actor: elsewhere, organizationId } = await calls.tenant(OWNER);
  const {
    organization: { id: exhibited },
  } = await calls.call(owner, 'POST', '/api/organizations', { name: 'Exhibit' });
  const key = byKey(service.key);
  const exhibits = await makeExhibits(calls, key, owner, exhibited as string);
  const {
    app: { id: appId },
  } = await calls.call(key, 'POST', `${PLATFORM}/apps`, { name: 'Spare' });
  const {
    thread: { id: threadId },
  } = await calls.call(key, 'POST', `${PLATFORM}/apps/${exhibits.ids.appId}/threads`, { title: 'Spare' });
  const {
    project: { id: projectId },
  } = await calls.call(key, 'POST', '/api/projects', { name: 'Spare' });
  const [{ accountId }, { userId }] = [await calls.account(owner), await calls.invite(owner, 'member')];
  const taskId = await newTask(calls.call, key, exhibits.ids.projectId!);
  const automationId = await newAutomation(calls.call, key, exhibits.ids.projectId!);
  const webhookId = await newWebhook(calls.call, key);
  const installationId = await newInstallation({ calls, owner, github });
  return {
    calls,
    serviceKey: service.key,
    key,
    bearer: byBearer(service.key),
    owner,
    elsewhere,
    wanderer,
    leaver,
    organizations: [home as string, organizationId],
    exhibits,
    github,
    spare: { appId, threadId, projectId, accountId, userId, installationId, taskId, automationId, webhookId },
    operations: [exhibits.ids.operationId!],
    threads: createThreads(calls, key, exhibits),
    methods: new Map(
      Object.entries(Object.groupBy(operations, ({ path }) => path)).map(([path, all]) => [
        path,
        all!.map(({ method }) => method),
      ]),
    ),
  };
}

/**
 * The exhibit that a path's parameter names. On Platform paths, and before what an app and a Direct project both
 * have, `projectId` names an app; before pull requests, `threadId` a thread on a repository.
 */
export function exhibitName({ isPlatform, path }: Operation, parameter: string): string {
  if (parameter === 'projectId' && (isPlatform || path.startsWith('/api/projects/{projectId}/')))
    return 'appId';
  return parameter === 'threadId' && path.includes('/pull-requests') ? 'pullThreadId' : parameter;
}

export const pathOf = (operation: Operation, ids: Ids): string =>
  operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(ids[exhibitName(operation, name)]!),
  );

export const WEBHOOK_SECRET = 'a secret of the torture';

export async function newInstallation({
  calls,
  owner,
  github,
}: Pick<World, 'calls' | 'owner' | 'github'>): Promise<string> {
  const { installation } = await calls.call(owner, 'POST', '/api/source-control/scm/installations', {
    provider: 'github',
    name: 'Stand-in',
    webhookSecret: WEBHOOK_SECRET,
    ...github,
  });
  return installation.id as string;
}

export interface Threads {
  /** An idle thread of the exhibited app that nobody else works in; `isRight` may ask for more. */
  take(isRight?: (thread: Made) => boolean): Promise<Made>;
  /** It may be taken again once it is idle. */
  giveBack(threadId: string): void;
}

const LOOKS = 4;

function createThreads({ call }: Calls, key: Actor, { ids }: Exhibits): Threads {
  const app = `${PLATFORM}/apps/${ids.appId}`;
  const free: string[] = [];
  const isIdle = (t: Made) =>
    t.initializationState === 'completed' &&
    ['ready', 'failed'].includes(t.status as string) &&
    t.sealedAt === null;
  const look = async (id: string): Promise<Made> =>
    (await call(key, 'GET', `${app}/threads/${id}`)).thread as Made;
  return {
    async take(isRight = () => true) {
      for (let looks = Math.min(LOOKS, free.length); looks > 0; looks--) {
        const id = free.shift();
        if (id === undefined) break;
        const thread = await look(id);
        if (isIdle(thread) && isRight(thread)) return thread;
        if (thread.sealedAt === null) free.push(id);
      }
      const {
        thread: { id },
      } = await call(key, 'POST', `${app}/threads`, {});
      return (
        await until(
          () => call(key, 'GET', `${app}/threads/${id}`),
          ({ thread }) => isIdle(thread as Made),
          'a thread',
        )
      ).thread as Made;
    },
    giveBack(threadId) {
      free.push(threadId);
    },
  };
}

/** What a run needs to be drawn. */
export interface Draw {
  world: World;
  operation: Operation;
  random: Random;
  /** The first request of an operation: one that has to succeed. */
  isPlain: boolean;
}
