/**
 * Valid requests that get in each other's way: many at once on few apps and threads, whatever state these
 * are in. Most writes are refused; none may fail, and two that wait for each other's locks would.
 */
import { randomUUID } from 'node:crypto';
import type { Random } from '../../harness/random.ts';
import type { Made } from './actors.ts';
import type { Operation } from './document.ts';
import { PLATFORM } from './exhibits.ts';
import type { Ids } from './exhibits.ts';
import { errorOf, judge } from './judge.ts';
import { sample } from './sample.ts';
import type { JsonObject } from './sample.ts';
import { requestOf, withKey } from './specimen.ts';
import type { Sending } from './sending.ts';
import { shown } from './tally.ts';
import { pathOf } from './world.ts';
import type { World } from './world.ts';

const LANES = 12;
const APPS = 2;
const THREADS = 3;
/** One in five of these is enough: each takes a sandbox, or a thread away. */
const COSTLY =
  /^(execs|builds\.create|previews\.create|messages\.sendMessage|runs\.retryRun|checkpoints\.restoreCheckpoint|threads\.deleteThread)/;
/** The apps are deleted in the midst of the last requests. */
const LAST = 0.97;

/** What is there, by the answers: the newest of each kind by app. */
interface Place {
  app: string;
  threads: string[];
  ids: Ids;
}

export async function sendCrowd(sending: Sending, total: number, random: Random): Promise<void> {
  const { document, world, signal } = sending;
  const places = await Promise.all(Array.from({ length: APPS }, () => makePlace(world)));
  const takes = ({ takesKey, isStream, pathParameters }: Operation) =>
    takesKey && !isStream && pathParameters.some((name) => ['appId', 'projectId', 'threadId'].includes(name));
  const asked = document.operations.filter(
    (operation) =>
      takes(operation) && (operation.isPlatform || operation.pathParameters.includes('threadId')),
  );
  const reads = asked.filter(({ method }) => method === 'GET');
  const deletions = asked.filter(({ base }) => base === 'projects.deleteApp');
  const writes = asked.filter(({ method, base }) => method !== 'GET' && base !== 'projects.deleteApp');
  let next = 0;
  await Promise.all(
    Array.from({ length: LANES }, async () => {
      while (next++ < total && !signal.aborted) {
        const draw = () =>
          random.pick(
            next > total * LAST && random.next() < 0.1 ? deletions : random.next() < 0.8 ? writes : reads,
          );
        let operation = draw();
        while (COSTLY.test(operation.base) && random.next() < 0.8) operation = draw();
        await sendOne(sending, random.pick(places), operation, random);
      }
    }),
  );
}

async function makePlace({ calls: { call }, key, exhibits }: World): Promise<Place> {
  const {
    app: { id },
  } = await call(key, 'POST', `${PLATFORM}/apps`, { name: 'Crowd' });
  const app = id as string;
  const {
    source: { id: sourceId },
  } = await call(key, 'POST', `${PLATFORM}/apps/${app}/sources`, { files: [{ path: 'a', content: 'a' }] });
  await call(key, 'POST', `${PLATFORM}/apps/${app}/source-head/initialize`, { sourceId: sourceId as string });
  const threads = await Promise.all(
    Array.from(
      { length: THREADS },
      async () => (await call(key, 'POST', `${PLATFORM}/apps/${app}/threads`, {})).thread.id as string,
    ),
  );
  return { app, threads, ids: { ...exhibits.ids, appId: app, sourceId: sourceId as string } };
}

async function sendOne(
  { document, world, tally }: Sending,
  place: Place,
  operation: Operation,
  random: Random,
): Promise<void> {
  const ids: Ids = { ...place.ids, appId: place.app, threadId: random.pick(place.threads) };
  const key = operation.isWrite ? randomUUID() : undefined;
  const body = operation.body
    ? withKey({ ...(sample(operation.body.schema, random) as JsonObject), ...bodyOf(operation, ids) }, key)
    : undefined;
  const query = Object.fromEntries(
    operation.query
      .filter(({ required }) => required)
      .map(({ name }) => [name, name === 'path' ? 'a' : ids.sourceId!]),
  );
  const request = requestOf({
    operation,
    path: pathOf(operation, ids),
    query,
    actor: world.key,
    headers: [],
    key,
    body,
  });
  const answer = await world.calls.wire.send(request);
  tally.count('sent');
  tally.count(answer.status < 400 ? 'succeeded' : (errorOf(answer)?.code ?? String(answer.status)));
  if (answer.status >= 500) tally.count('5xx');
  for (const fault of judge(document, operation, answer, request.method))
    tally.fault(`crowd ${operation.base}: ${fault}`, () => shown(request, answer));
  if (operation.isWrite && answer.status < 300 && answer.body.length)
    await learn(world, place, operation, ids, JSON.parse(answer.body.toString()) as Made);
}

/** What would be refused for its text, or not be about anything there is. */
function bodyOf({ base, body }: Operation, { sourceId }: Ids): JsonObject {
  const names = Object.keys(body!.schema.properties ?? {});
  const about = Object.fromEntries(
    ['sourceId', 'expectedSourceId'].filter((name) => names.includes(name)).map((name) => [name, sourceId!]),
  );
  const known: Record<string, JsonObject> = {
    'edits.createEdit': { changes: [{ path: `b-${randomUUID()}`, content: 'b' }] },
    'sources.importSource': { files: [{ path: 'a', content: randomUUID() }], parentSourceId: sourceId! },
    'execs.createExec': { command: 'true' },
    'messages.sendMessage': { content: '```sh\ndate > now\n```', modelId: 'scripted' },
    'threads.createThread': { message: { content: 'Hello' }, modelId: 'scripted' },
    'builds.createBuild': { command: 'true', outputDirectory: '.' },
    'builds.createAppBuild': { command: 'true', outputDirectory: '.' },
    'previews.createAppPreview': { command: 'true', port: 3000 },
    'previews.createPreview': { command: 'true', port: 3000 },
    'workspaces.reportActivity': { idleTimeoutMinutes: 1 },
    'settings.updateAppSettings': {
      approvals: null,
      modelId: null,
      concurrency: null,
      spendLimitMicros: null,
      budgetMicros: null,
    },
  };
  return { ...about, ...known[base] };
}

const LEARNT: Record<string, string> = {
  source: 'sourceId',
  run: 'runId',
  build: 'buildId',
  preview: 'previewId',
  setup: 'setupId',
  apply: 'applyId',
  checkpoint: 'checkpointId',
};

async function learn(
  { calls: { call }, key }: World,
  place: Place,
  { base, isPlatform }: Operation,
  { threadId }: Ids,
  made: Made,
): Promise<void> {
  for (const [member, name] of Object.entries(LEARNT))
    if (made[member]?.id) place.ids[name] = made[member].id as string;
  if (base === 'threads.createThread' && isPlatform)
    place.threads[Math.floor(place.threads.length / 2)] = made.thread.id as string;
  if (base !== 'threads.deleteThread') return;
  const { thread } = await call(key, 'POST', `${PLATFORM}/apps/${place.app}/threads`, {}).catch(() => ({
    thread: undefined as Made | undefined,
  }));
  if (thread) place.threads[place.threads.indexOf(threadId!)] = thread.id as string;
}
