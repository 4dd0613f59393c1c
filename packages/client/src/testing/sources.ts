/** Apps, sources and the head. */
import type { App, Head, Source } from '../generated/types.ts';
import { newestFirst, page } from './call.ts';
import type { Call, Reply } from './call.ts';
import { changesOf } from './diff.ts';
import { Fault, invalid, notFound } from './fault.ts';
import { contentOf, entryOf, sorted, treeHash } from './files.ts';
import { checkPaths, checked, isObject } from './input.ts';
import { tarGzip } from './tar.ts';
import { ORG } from './world.ts';
import type { AppState, Entry, Files, World } from './world.ts';

const encoder = new TextEncoder();

export function addSource(
  world: World,
  app: AppState,
  files: Iterable<[string, Entry]>,
  about: Pick<Source, 'origin' | 'parentSourceIds'> & Partial<Source>,
): Source {
  const tree = sorted(files);
  const source: Source = {
    id: world.id('src'),
    projectId: app.app.id,
    threadId: null,
    runId: null,
    sha256: treeHash(tree),
    byteSize: [...tree.values()].reduce((sum, { bytes }) => sum + bytes.length, 0),
    fileCount: tree.size,
    message: null,
    commit: null,
    createdAt: world.now(),
    ...about,
  };
  app.sources.set(source.id, { source, files: tree });
  const { id, byteSize, fileCount } = source;
  const at = { threadId: source.threadId ?? undefined, runId: source.runId ?? undefined };
  world.publish(app, 'platform.source.imported', { id, sha256: source.sha256, byteSize, fileCount }, at);
  return source;
}

export function sourceOf(app: AppState, id: string): { source: Source; files: Files } {
  const found = app.sources.get(id);
  if (!found) throw notFound('source');
  return found;
}

const APP = { name: 'text200!', externalId: 'text128?', metadata: 'texts' };
const eventData = ({ id, externalId, createdAt, updatedAt }: App) => ({
  id,
  externalId,
  createdAt,
  updatedAt,
});

function requireFreeExternalId(world: World, externalId: unknown, except?: App): void {
  if (typeof externalId !== 'string') return;
  for (const { app } of world.apps.values())
    if (app !== except && app.externalId === externalId && app.deletedAt === null)
      throw new Fault('external_id_taken', 'Another app has this externalId.');
}

export function createApp({ world, body }: Call): Reply {
  const input = checked<{ name: string; externalId?: string; metadata?: Record<string, string> }>(body, {
    ...APP,
    externalId: 'text128',
  });
  requireFreeExternalId(world, input.externalId);
  const id = world.id('prj');
  const time = world.now();
  const app: App = {
    id,
    projectId: id,
    orgId: ORG,
    name: input.name,
    externalId: input.externalId ?? null,
    metadata: input.metadata ?? {},
    headSourceId: null,
    headRevision: null,
    version: 1,
    createdAt: time,
    updatedAt: time,
    deletedAt: null,
  };
  const state: AppState = {
    app,
    sources: new Map(),
    heads: [],
    threads: new Map(),
    applies: [],
    builds: [],
    tail: Promise.resolve(),
  };
  world.apps.set(id, state);
  world.publish(state, 'platform.app.created', eventData(app));
  return { app };
}

export function listApps(call: Call): Reply {
  const externalId = call.query.get('externalId');
  const name = call.query.get('query')?.toLowerCase() ?? '';
  const apps = [...call.world.apps.values()]
    .map(({ app }) => app)
    .filter((app) => app.deletedAt === null && (externalId === null || app.externalId === externalId))
    .filter((app) => app.name.toLowerCase().includes(name));
  return page('apps', newestFirst(apps), call);
}

export const getApp = ({ world, ids }: Call): Reply => ({ app: world.app(ids[0]!).app });

export function updateApp({ world, ids, body }: Call): Reply {
  const state = world.app(ids[0]!);
  const { expectedVersion, ...change } = checked<Partial<App> & { expectedVersion?: number }>(body ?? {}, {
    ...APP,
    name: 'text200',
    expectedVersion: 'count',
  });
  const { app } = state;
  if (expectedVersion !== undefined && expectedVersion !== app.version)
    throw new Fault('version_conflict', 'The app was changed meanwhile.', {
      current: { version: app.version },
    });
  requireFreeExternalId(world, change.externalId, app);
  const next = { ...app, ...change };
  if (JSON.stringify(next) === JSON.stringify(app)) return { app };
  Object.assign(app, change, { version: app.version + 1, updatedAt: world.now() });
  world.publish(state, 'platform.app.updated', eventData(app));
  return { app };
}

export function deleteApp({ world, ids }: Call): Reply {
  const state = world.app(ids[0]!);
  state.app.deletedAt = state.app.updatedAt = world.now();
  state.app.version++;
  world.publish(state, 'platform.app.deleted', eventData(state.app));
  return { app: state.app };
}

export interface FileInput {
  path: string;
  content?: string | null;
  encoding?: string;
  executable?: boolean;
  renameFrom?: string;
}

const FILE = { path: 'text1024!', content: 'any!', encoding: 'text', executable: 'flag' };
export const CHANGE = { ...FILE, content: 'any?', renameFrom: 'text1024' };

export function importSource({ world, ids, body, headers }: Call): Reply {
  if (!headers.get('content-type')?.startsWith('application/json'))
    throw new Fault('not_configured', 'The test service imports JSON only, no archives.');
  const app = world.app(ids[0]!);
  const isChanged = isObject(body) && 'baseSourceId' in body;
  const input = checked<{
    files?: FileInput[];
    changes?: FileInput[];
    baseSourceId?: string;
    parentSourceId?: string;
    message?: string;
  }>(
    body,
    isChanged
      ? { baseSourceId: 'text128!', changes: 'list10000!', message: 'any10000' }
      : { files: 'list10000!', parentSourceId: 'text128', message: 'any10000' },
    { files: FILE, changes: CHANGE },
  );
  const { files = [], changes = [], message = null } = input;
  checkPaths(
    files.map(({ path }) => path),
    'files',
  );
  const parent = input.baseSourceId ?? input.parentSourceId;
  const base = parent === undefined ? null : sourceOf(app, parent);
  const entries = isChanged
    ? withChanges(base!.files, changes)
    : files.map((file, i): [string, Entry] => [
        file.path,
        entryOf(bytesOf(file, `/files/${i}`), file.executable),
      ]);
  const parentSourceIds = base ? [base.source.id] : [];
  return {
    source: addSource(world, app, entries, { origin: 'import', parentSourceIds, message }),
    warnings: [],
  };
}

/** Applies the changes to the files, in order. Throws `invalid_bundle` if one does not fit. */
export function withChanges(base: Files, changes: readonly FileInput[]): Map<string, Entry> {
  checkPaths(
    changes.map(({ path }) => path),
    'changes',
  );
  const files = new Map(base);
  for (const [i, { path, renameFrom, ...change }] of changes.entries()) {
    const place = renameFrom ?? path;
    const before = files.get(place);
    if (!before && (renameFrom !== undefined || typeof change.content !== 'string')) {
      const field = {
        path: `/changes/${i}/${renameFrom === undefined ? 'path' : 'renameFrom'}`,
        message: 'is no file of the source',
      };
      throw new Fault('invalid_bundle', `The changes do not fit: ${place} ${field.message}`, {
        fields: [field],
      });
    }
    files.delete(place);
    if (change.content === null) continue;
    const executable = change.executable ?? before?.executable;
    const bytes =
      change.content === undefined ? before!.bytes : bytesOf({ path, ...change }, `/changes/${i}`);
    files.set(path, entryOf(bytes, executable));
  }
  return files;
}

function bytesOf({ content, encoding }: FileInput, at: string): Uint8Array {
  if (encoding !== 'base64') return encoder.encode(content!);
  try {
    return Uint8Array.from(atob(content!), (character) => character.charCodeAt(0));
  } catch {
    throw invalid({ path: `${at}/content`, message: 'must be base64' });
  }
}

export const listSources = (call: Call): Reply =>
  page(
    'sources',
    newestFirst([...call.world.app(call.ids[0]!).sources.values()].map(({ source }) => source)),
    call,
  );

export const getSource = ({ world, ids }: Call): Reply => ({
  source: sourceOf(world.app(ids[0]!), ids[1]!).source,
});

const fileView = (path: string, { bytes, sha256: hash, executable }: Entry) => ({
  path,
  byteSize: bytes.length,
  sha256: hash,
  executable,
});

export function listFiles(call: Call): Reply {
  const { files } = sourceOf(call.world.app(call.ids[0]!), call.ids[1]!);
  const prefix = call.query.get('prefix') ?? '';
  const shown = [...files].filter(([path]) => path.startsWith(prefix));
  return page(
    'files',
    shown.map(([path, entry]) => fileView(path, entry)),
    call,
  );
}

export function getFile({ world, ids, query }: Call): Reply {
  const { files } = sourceOf(world.app(ids[0]!), ids[1]!);
  const path = query.get('path');
  if (path === null) throw invalid({ path: '/query/path', message: 'is required' });
  const entry = files.get(path);
  if (!entry) throw notFound('file');
  return { file: { ...fileView(path, entry), ...contentOf(entry) } };
}

export async function getArchive({ world, ids }: Call): Promise<Reply> {
  const { files } = sourceOf(world.app(ids[0]!), ids[1]!);
  return new Response(await tarGzip(files), { headers: { 'content-type': 'application/gzip' } });
}

export function getDiff({ world, ids, query }: Call): Reply {
  const app = world.app(ids[0]!);
  const { source, files } = sourceOf(app, ids[1]!);
  const base = query.get('base');
  if (base === null) throw invalid({ path: '/query/base', message: 'is required' });
  const before = sourceOf(app, base);
  if (query.get('patches') !== 'false')
    throw new Fault('not_configured', 'The test service makes no patches. Ask with patches=false.');
  const changes = changesOf(before.files, files);
  return { diff: { baseSourceId: base, sourceId: source.id, files: changes } };
}

const headOf = ({ app, heads }: AppState): Head => {
  const last = heads.at(-1);
  if (!last) throw new Fault('head_not_initialized', 'The app has no head yet. Initialize it with a source.');
  return { projectId: app.id, sourceId: last.sourceId, revision: last.revision, updatedAt: last.updatedAt };
};

export function moveHead(world: World, state: AppState, sourceId: string, applyId: string | null): void {
  const { app, heads } = state;
  const updatedAt = world.now();
  const revision = heads.length + 1;
  heads.push({ projectId: app.id, sourceId, revision, updatedAt, applyId });
  Object.assign(app, { headSourceId: sourceId, headRevision: revision, updatedAt });
  world.publish(state, 'platform.head.updated', { id: app.id, sourceId, revision });
}

export function initializeHead({ world, ids, body }: Call): Reply {
  const state = world.app(ids[0]!);
  const { sourceId } = checked<{ sourceId: string }>(body, { sourceId: 'text128!' });
  sourceOf(state, sourceId);
  if (state.heads.length > 0)
    throw new Fault('head_already_initialized', 'The head was initialized before. It moves by applies only.');
  moveHead(world, state, sourceId, null);
  return { head: headOf(state) };
}

export const getHead = ({ world, ids }: Call): Reply => ({ head: headOf(world.app(ids[0]!)) });

export const listHeads = (call: Call): Reply => page('heads', call.world.app(call.ids[0]!).heads, call);
