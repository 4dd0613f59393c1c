/** Applies and their previews. Files are merged as a whole: a file that both sides changed is a conflict. */
import type { Apply, ApplyPreview } from '../generated/types.ts';
import { newestFirst, page, waitUntil } from './call.ts';
import type { Call, Reply } from './call.ts';
import { Fault, invalid, notFound } from './fault.ts';
import { checked } from './input.ts';
import type { Shape } from './input.ts';
import { changesOf } from './diff.ts';
import { contentOf, isSame, textOf, treeHash } from './files.ts';
import { addSource, moveHead, sourceOf } from './sources.ts';
import { threadOf } from './threads.ts';
import { ACTOR, ORG, isOpen, requireFree } from './world.ts';
import type { AppState, Entry, Files, Place, World } from './world.ts';

type Conflict = ApplyPreview['conflicts'][number];
interface Decision {
  expectedSourceId: string;
  conflictResolution?: 'agent' | 'manual';
  expectedHeadSourceId?: string;
  resolutions?: { path: string; take: 'head' | 'draft' }[];
  clientOperationId?: string;
}
interface Sides {
  base: Files;
  head: Files;
  draft: Files;
}

const NO_AGENT = 'not_configured: No agent is configured that repairs conflicts.';

function decisionOf(body: unknown, more: Shape = {}): Decision {
  const decision = checked<Decision>(
    body,
    {
      expectedSourceId: 'text128!',
      conflictResolution: 'text',
      expectedHeadSourceId: 'text128',
      resolutions: 'list1000',
      ...more,
    },
    { resolutions: { path: 'text1024!', take: 'text!' } },
  );
  if (decision.resolutions && decision.expectedHeadSourceId === undefined)
    throw invalid({ path: '/expectedHeadSourceId', message: 'is required with resolutions' });
  return decision;
}

/** The state of the three sides. Throws if the thread's draft may not be applied now. */
function admit(place: Place, decision: Decision): Sides {
  const { app, thread } = place;
  const { view } = thread;
  sourceOf(app, decision.expectedSourceId);
  requireFree(place);
  if (decision.expectedSourceId !== view.latestSourceId)
    throw new Fault('stale_source', "This is not the thread's latest source. Read the thread again.");
  const { headSourceId } = app.app;
  if (headSourceId === null)
    throw new Fault('head_not_initialized', 'The app has no head yet. Initialize it with a source.');
  if (decision.expectedHeadSourceId !== undefined && decision.expectedHeadSourceId !== headSourceId)
    throw new Fault('stale_head', 'The head has moved. Look at the new head and decide again.');
  return sidesOf(place, headSourceId);
}

const sidesOf = ({ app, thread: { view } }: Place, headSourceId: string): Sides => ({
  base: sourceOf(app, view.sourceId!).files,
  head: sourceOf(app, headSourceId).files,
  draft: sourceOf(app, view.latestSourceId!).files,
});

interface Merge {
  files: Files;
  conflicts: Conflict[];
}

/** Path by path: the side that changed wins; if both changed, a resolution decides, or it is a conflict. */
export function merge({ base, head, draft }: Sides, resolutions: Decision['resolutions'] = []): Merge {
  const files = new Map<string, Entry>();
  const conflicts: Conflict[] = [];
  const used = new Set<number>();
  for (const path of [...new Set([...base.keys(), ...head.keys(), ...draft.keys()])].sort()) {
    const [was, ours, theirs] = [base.get(path), head.get(path), draft.get(path)];
    let result = isSame(was, ours) ? theirs : ours;
    if (!isSame(was, ours) && !isSame(was, theirs) && !isSame(ours, theirs)) {
      const chosen = resolutionFor(path, resolutions);
      resolutions.forEach((one, i) => isFor(one.path, path) && used.add(i));
      if (chosen) result = chosen.take === 'head' ? ours : theirs;
      else {
        const kind = !was ? 'add_add' : ours && theirs ? 'content' : 'delete_modify';
        const hashes = {
          base: was?.sha256 ?? null,
          head: ours?.sha256 ?? null,
          draft: theirs?.sha256 ?? null,
        };
        conflicts.push({ path, kind, ...hashes });
        result = theirs;
      }
    }
    if (result) files.set(path, result);
  }
  const unused = resolutions.flatMap((_, i) =>
    used.has(i) ? [] : [{ path: `/resolutions/${i}/path`, message: 'is no path in conflict' }],
  );
  if (unused.length) throw invalid(...unused);
  return { files, conflicts };
}

const isFor = (pattern: string, path: string): boolean =>
  pattern.endsWith('/') ? path.startsWith(pattern) : pattern === path;
const resolutionFor = (path: string, resolutions: NonNullable<Decision['resolutions']>) =>
  resolutions.filter((one) => isFor(one.path, path)).sort((a, b) => b.path.length - a.path.length)[0];

export function createApply(call: Call): Reply {
  const place = threadOf(call);
  const { world, app, thread } = place;
  const decision = decisionOf(call.body, { clientOperationId: 'text128' });
  const { clientOperationId } = decision;
  if (clientOperationId === undefined) throw invalid({ path: '/clientOperationId', message: 'is required' });
  if (clientOperationId !== call.headers.get('idempotency-key'))
    throw invalid({ path: '/clientOperationId', message: 'must equal the Idempotency-Key' });
  const sides = admit(place, decision);
  if (decision.resolutions?.length) merge(sides, decision.resolutions);
  const apply: Apply = {
    id: world.id('apl'),
    sequence: app.applies.length + 1,
    conflictResolution: decision.conflictResolution ?? 'agent',
    repairs: [],
    orgId: ORG,
    projectId: app.app.id,
    threadId: thread.view.id,
    baseSourceId: thread.view.sourceId,
    draftSourceId: decision.expectedSourceId,
    headSourceId: null,
    resultSourceId: null,
    expectedHeadSourceId: decision.expectedHeadSourceId ?? null,
    resolutions: decision.resolutions ?? [],
    status: 'queued',
    conflicts: [],
    error: null,
    createdByUserId: ACTOR,
    createdAt: world.now(),
    finishedAt: null,
  };
  app.applies.push(apply);
  publish(world, app, apply);
  world.changed(app, thread);
  const before = app.tail;
  app.tail = world.work.begin(async () => {
    await before;
    await world.work.step();
    if (isOpen(apply)) settle(place, apply);
  });
  return { apply };
}

const publish = (world: World, app: AppState, { id, status, resultSourceId, threadId }: Apply): void =>
  world.publish(app, `platform.apply.${status}`, { id, status, sourceId: resultSourceId }, { threadId });

function settle(place: Place, apply: Apply): void {
  const { world, app, thread } = place;
  const headSourceId = app.app.headSourceId!;
  const isStale = apply.expectedHeadSourceId !== null && apply.expectedHeadSourceId !== headSourceId;
  const result = isStale ? null : merge(sidesOf(place, headSourceId), apply.resolutions);
  const finishedAt = world.now();
  if (result?.conflicts.length === 0) {
    const resultSourceId = resultOf(place, apply, { headSourceId, files: result.files });
    Object.assign(apply, { status: 'applied', headSourceId, resultSourceId, finishedAt });
    publish(world, app, apply);
    moveHead(world, app, resultSourceId, apply.id);
    thread.view.sealedAt = finishedAt;
  } else {
    const isManual = apply.conflictResolution === 'manual' || apply.resolutions.length > 0;
    const error = isStale ? 'stale_head: The head has moved.' : isManual ? null : NO_AGENT;
    const conflicts = result?.conflicts.map(({ path }) => path) ?? [];
    const merged = isStale ? null : headSourceId;
    Object.assign(apply, { status: 'conflicted', headSourceId: merged, conflicts, error, finishedAt });
    publish(world, app, apply);
  }
  world.changed(app, thread);
}

/** A source that has these files already, or a new one. */
function resultOf(
  { world, app }: Place,
  { draftSourceId, threadId }: Apply,
  { headSourceId, files }: { headSourceId: string; files: Files },
): string {
  const hash = treeHash(files);
  for (const id of [headSourceId, draftSourceId]) if (sourceOf(app, id).source.sha256 === hash) return id;
  return addSource(world, app, files, {
    origin: 'apply',
    parentSourceIds: [headSourceId, draftSourceId],
    threadId,
  }).id;
}

export function previewApply(call: Call): Reply {
  const place = threadOf(call);
  const decision = decisionOf(call.body);
  const sides = admit(place, decision);
  const { files, conflicts } = merge(sides, decision.resolutions);
  // Without patches, as the service leaves out large ones.
  const changes = changesOf(sides.head, files).map((change) => ({ ...change, truncated: true }));
  const status = conflicts.length ? 'conflicted' : 'clean';
  return { preview: { headSourceId: place.app.app.headSourceId, status, changes, conflicts } };
}

/** If both sides changed a text, the lines between its common start and end are the conflict. */
export function previewFile(call: Call): Reply {
  const place = threadOf(call);
  const decision = decisionOf(call.body, { path: 'text1024!' }) as Decision & { path: string };
  const sides = admit(place, decision);
  const conflict = merge(sides, decision.resolutions).conflicts.find(({ path }) => path === decision.path);
  if (!conflict) throw notFound('file');
  const { path, kind } = conflict;
  const [base, head, draft] = [sides.base.get(path), sides.head.get(path), sides.draft.get(path)];
  const merged = head && draft ? mergedText(textOf(head), textOf(draft)) : null;
  return { file: { path, kind, base: sideOf(base), head: sideOf(head), draft: sideOf(draft), merged } };
}

const sideOf = (entry: Entry | undefined) =>
  entry
    ? {
        sha256: entry.sha256,
        byteSize: entry.bytes.length,
        executable: entry.executable,
        ...contentOf(entry),
      }
    : null;

function mergedText(head: string | null, draft: string | null) {
  if (head === null || draft === null) return null;
  const [ours, theirs] = [head, draft].map((text) => text.split(/(?<=\n)/)) as [string[], string[]];
  let start = 0;
  while (start < ours.length && ours[start] === theirs[start]) start++;
  let end = 0;
  while (end < Math.min(ours.length, theirs.length) - start && ours.at(-1 - end) === theirs.at(-1 - end))
    end++;
  const middle = (lines: string[]) =>
    lines.slice(start, lines.length - end).map((line) => line.replace(/\n?$/, '\n'));
  const region = ['<<<<<<< head\n', ...middle(ours), '=======\n', ...middle(theirs), '>>>>>>> draft\n'];
  const content = [...ours.slice(0, start), ...region, ...ours.slice(ours.length - end)].join('');
  return { content, regions: [{ fromLine: start + 1, toLine: start + region.length }] };
}

export function listApplies(call: Call): Reply {
  const threadId = call.query.get('threadId');
  const { applies } = call.world.app(call.ids[0]!);
  return page(
    'applies',
    newestFirst(applies.filter((one) => threadId === null || one.threadId === threadId)),
    call,
  );
}

export async function getApply(call: Call): Promise<Reply> {
  const apply = call.world.app(call.ids[0]!).applies.find(({ id }) => id === call.ids[1]);
  if (!apply) throw notFound('apply');
  await waitUntil(call, () => !isOpen(apply));
  return { apply };
}
