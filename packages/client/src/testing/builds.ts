/** Builds end as the test says; otherwise they are ready, with the source's files as their output. */
import type { Build } from '../generated/types.ts';
import { newestFirst, page, waitUntil } from './call.ts';
import type { Call, Reply } from './call.ts';
import { Fault, notFound } from './fault.ts';
import { checked, numberOf } from './input.ts';
import { sha256 } from './sha256.ts';
import { sorted, textEntry } from './files.ts';
import { sourceOf } from './sources.ts';
import { tarGzip } from './tar.ts';
import { threadOf } from './threads.ts';
import { isOpen, requireFree } from './world.ts';
import type { AppState, BuildScript, BuildState, Files, Place, ThreadState, World } from './world.ts';

const TIMEOUT_SECONDS = 600;

const MOST_WITHOUT_THREAD = 100;

interface Order {
  sourceId?: string;
  command: string;
  outputDirectory: string;
  timeoutSeconds?: number;
  setup?: boolean;
}
/** Where a build is made; its thread is null for one of the app. */
type Site = Omit<Place, 'thread'> & { thread: ThreadState | null };

const orderOf = ({ body }: Call): Order =>
  checked<Order>(body, {
    sourceId: 'text128',
    command: 'text10000!',
    outputDirectory: 'text1024!',
    timeoutSeconds: 'count600',
    setup: 'flag',
  });

export function createBuild(call: Call): Reply {
  const place = threadOf(call);
  const input = orderOf(call);
  const found = sourceOf(place.app, input.sourceId ?? place.thread.view.latestSourceId!);
  requireFree(place, { maySeal: true });
  return begin(place, input, found);
}

export function createAppBuild(call: Call): Reply {
  const { world } = call;
  const app = world.app(call.ids[0]!);
  const input = orderOf(call);
  const sourceId = input.sourceId ?? app.app.headSourceId;
  if (sourceId === null)
    throw new Fault('head_not_initialized', 'The app has no head yet. Initialize it with a source.');
  const found = sourceOf(app, sourceId);
  const open = app.builds.filter(({ build }) => build.threadId === null && isOpen(build));
  if (open.length >= MOST_WITHOUT_THREAD)
    throw new Fault('conflict', 'Too many builds of the app are under way. Wait for the end of one.');
  return begin({ world, app, thread: null }, input, found);
}

function begin(site: Site, input: Order, { source, files }: ReturnType<typeof sourceOf>): Reply {
  const { world, app, thread } = site;
  const build: Build = {
    id: world.id('bld'),
    projectId: app.app.id,
    threadId: thread && thread.view.id,
    sourceId: source.id,
    command: input.command,
    outputDirectory: input.outputDirectory,
    timeoutSeconds: input.timeoutSeconds ?? TIMEOUT_SECONDS,
    setup: input.setup ?? false,
    status: 'queued',
    exitCode: null,
    error: null,
    artifactSha256: null,
    artifactByteSize: null,
    fileCount: null,
    createdAt: world.now(),
    startedAt: null,
    finishedAt: null,
  };
  const state: BuildState = { build, log: '', output: new Map(), artifact: null };
  app.builds.push(state);
  publish(world, app, build);
  if (thread) world.changed(app, thread);
  const script = world.settings.builds.shift() ?? {};
  const output = script.files ? filesOf(script.files) : files;
  void world.work.begin(() => work({ ...site, state }, script, output));
  return { build };
}

const filesOf = (files: Record<string, string>): Files =>
  sorted(Object.entries(files).map(([path, text]) => [path, textEntry(text)]));

function publish(
  world: World,
  app: AppState,
  { id, status, sourceId, artifactSha256, threadId }: Build,
): void {
  const artifact = status === 'ready' ? { artifactSha256 } : {};
  const data = { id, status, sourceId, ...artifact };
  world.publish(app, `platform.build.${status}`, data, threadId === null ? {} : { threadId });
}

async function work(
  { world, app, thread, state }: Site & { state: BuildState },
  script: BuildScript,
  output: Files,
): Promise<void> {
  const { build } = state;
  await world.work.step();
  if (!isOpen(build)) return;
  Object.assign(build, { status: 'building', startedAt: world.now() });
  publish(world, app, build);
  state.log = script.log ?? '';
  const artifact = await tarGzip(output);
  await world.work.step();
  if (!isOpen(build)) return;
  const exitCode = script.exitCode ?? 0;
  Object.assign(build, { exitCode, finishedAt: world.now() });
  if (exitCode === 0) {
    Object.assign(state, { output, artifact });
    const artifactSha256 = sha256(artifact);
    Object.assign(build, {
      status: 'ready',
      artifactSha256,
      artifactByteSize: artifact.length,
      fileCount: output.size,
    });
  } else {
    const message = `The command ended with exit code ${exitCode}.`;
    Object.assign(build, { status: 'failed', error: { code: 'command_failed', message } });
  }
  publish(world, app, build);
  if (thread) world.changed(app, thread);
}

function buildOf({ world, ids }: Call): BuildState {
  const found = world.app(ids[0]!).builds.find(({ build }) => build.id === ids[1]);
  if (!found) throw notFound('build');
  return found;
}

export function listBuilds(call: Call): Reply {
  const { app, thread } = threadOf(call);
  const builds = app.builds.map(({ build }) => build).filter(({ threadId }) => threadId === thread.view.id);
  return page('builds', newestFirst(builds), call);
}

export function listAppBuilds(call: Call): Reply {
  const { world, ids, query } = call;
  const [threadId, sourceId, status] = ['threadId', 'sourceId', 'status'].map((name) => query.get(name));
  const builds = world
    .app(ids[0]!)
    .builds.map(({ build }) => build)
    .filter((build) => threadId == null || (build.threadId ?? 'none') === threadId)
    .filter((build) => sourceId == null || build.sourceId === sourceId)
    .filter((build) => status == null || status.split(',').includes(build.status));
  return page('builds', newestFirst(builds), call);
}

export async function getBuild(call: Call): Promise<Reply> {
  const { build } = buildOf(call);
  await waitUntil(call, () => !isOpen(build));
  return { build };
}

export function cancelBuild(call: Call): Reply {
  const { world } = call;
  const { build } = buildOf(call);
  if (!isOpen(build)) throw new Fault('build_not_active', 'The build has ended already.');
  const app = world.app(build.projectId);
  const error = { code: 'cancelled', message: 'The build was cancelled.' };
  Object.assign(build, { status: 'failed', error, finishedAt: world.now() });
  publish(world, app, build);
  if (build.threadId !== null) world.changed(app, app.threads.get(build.threadId)!);
  return { build };
}

function requireReady(state: BuildState): BuildState {
  if (state.build.status !== 'ready') throw new Fault('build_not_ready', 'The build has no artifact.');
  return state;
}

export function getManifest(call: Call): Reply {
  const { build, output } = requireReady(buildOf(call));
  const files = [...output].map(([path, { bytes, sha256: hash, executable }]) => ({
    path,
    byteSize: bytes.length,
    sha256: hash,
    mode: executable ? '0755' : '0644',
  }));
  const byteSize = files.reduce((sum, file) => sum + file.byteSize, 0);
  const { id: buildId, sourceId, artifactSha256, fileCount } = build;
  return { manifest: { buildId, sourceId, artifactSha256, fileCount, byteSize, files } };
}

export function getArtifact(call: Call): Reply {
  const { artifact } = requireReady(buildOf(call));
  return new Response(artifact as Uint8Array<ArrayBuffer>, {
    headers: { 'content-type': 'application/gzip' },
  });
}

export async function getLogs(call: Call): Promise<Reply> {
  const state = buildOf(call);
  const offset = numberOf(call.query, 'offset', [0, Number.MAX_SAFE_INTEGER, 0]);
  const bytes = () => new TextEncoder().encode(state.log);
  await waitUntil(call, () => bytes().length > offset || !isOpen(state.build));
  const text = new TextDecoder().decode(bytes().subarray(offset));
  const byteSize = bytes().length;
  return { logs: { text, byteSize, truncated: false, nextOffset: byteSize, ended: !isOpen(state.build) } };
}
