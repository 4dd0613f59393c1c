import { createHash } from 'node:crypto';
import type { CaptureResult, OverRequest } from '@headrace/runner/protocol';
import type { Context } from '../context.ts';
import { clean } from '../db/clean-text.ts';
import type { ProjectRow, ThreadRow } from '../db/schema.ts';
import { checkTree, limitsOf, loadTree, sameTree, stageBlobs } from '../sources/index.ts';
import { comparePaths } from '../trees/paths.ts';
import { readTar } from '../trees/tar-reader.ts';
import type { Staged } from '../sources/index.ts';
import type { Entry, Tree } from '../trees/tree.ts';

const WARNINGS = 1000;
/** Of a message that names paths. */
const MESSAGE_CHARACTERS = 3500;

/** The contents are not those that were captured, although nothing in the sandbox should be able to change them. */
export class WorkspaceChanged extends Error {
  constructor() {
    super('the workspace changed while it was captured');
  }
}

/** The files in a workspace that count as its source. */
export interface Present {
  tree: Tree;
  /** Further files, which no tree can name: their paths with one character per byte. */
  strays: string[];
}

export interface Capture extends Present {
  warnings: { path: string; reason: string }[];
  /** Names the paths or the limit that keep the files from being a source; null where nothing does. */
  fault: string | null;
  /**
   * The new version that the files make, without those whose paths a source cannot hold. Null where that is
   * none: it equals `base`, or exceeds a limit.
   */
  held: Tree | null;
  /** Whether the files equal `base`. */
  isUnchanged: boolean;
  /** The source that the workspace is an overlay of: the project has its contents. */
  below: Tree | null;
}

/**
 * Captures the files of a workspace, by the runner's rules for captures, and compares them with `from`: a
 * source, or files that are none. No task may live in it. The hashes come out of the sandbox, and are
 * checked when contents are read.
 */
export async function captureWorkspace(
  ctx: Context,
  thread: ThreadRow,
  from: string | Tree | null,
): Promise<Capture> {
  const basis = await basisOf(ctx, thread, from);
  return judged(ctx, basis, await ctx.runner.capture(thread.id, basis.request));
}

/** What a workspace is compared with, and what the runner is asked. */
export interface Basis extends Grounds {
  base: Tree;
  isSource: boolean;
  request: string[] | OverRequest;
}

/** Reads all that a capture needs beside the workspace. */
export async function basisOf(ctx: Context, thread: ThreadRow, from: string | Tree | null): Promise<Basis> {
  const base: Tree = from === null ? new Map() : typeof from === 'string' ? await loadTree(ctx, from) : from;
  const { project, below } = await groundsOf(ctx, thread);
  return {
    base,
    isSource: typeof from === 'string',
    project,
    below,
    request: below ? { over: below.id, ...difference(below.tree, base) } : [...base.keys()],
  };
}

/** Holds what the runner found against the rules of sources. */
export function judged(
  ctx: Context,
  { base, isSource, project, below }: Basis,
  result: CaptureResult,
): Capture {
  const strays = result.strays ?? [];
  const tree = treeOf(result, below?.tree);
  const { paths, limit } = checkTree(tree, limitsOf(ctx, project), isSource ? base : undefined);
  const refused = [...strays.map(({ path, fault }) => ({ path, message: fault })), ...paths];
  const held = limit === null ? without(tree, paths) : null;
  return {
    tree,
    strays: [...new Set(strays.map(({ bytes }) => bytes))],
    below: below?.tree ?? null,
    warnings: warningsOf(refused, result, base),
    held: held && !sameTree(held, base) ? held : null,
    isUnchanged: strays.length === 0 && sameTree(tree, base),
    fault: limit === null ? named(refused) : clean(limit),
  };
}

type Refused = { path: string; message: string }[];

function without(tree: Tree, faults: Refused): Tree {
  if (faults.length === 0) return tree;
  const rest = new Map(tree);
  for (const { path } of faults) rest.delete(path);
  return rest;
}

/** What a source cannot hold, and secrets, come first: they must not be among what is cut off. */
function warningsOf(
  refused: Refused,
  { files, secrets = [], warnings }: CaptureResult,
  base: Tree,
): Capture['warnings'] {
  const held = new Set(secrets);
  const leaked = files.filter(({ path, sha256 }) => held.has(path) && base.get(path)?.sha256 !== sha256);
  return [
    ...refused.map(({ path, message }) => ({ path, reason: `a source cannot hold it: it ${message}` })),
    ...leaked.map(({ path }) => ({ path, reason: 'secret' })),
    ...warnings,
  ]
    .slice(0, WARNINGS)
    .map(({ path, reason }) => ({ path: clean(path).slice(0, 4096), reason: clean(reason).slice(0, 500) }));
}

/** As many of the faults as a message has room for; null for none. */
function named(faults: Refused): string | null {
  let text = '';
  for (const [index, { path, message }] of faults.entries()) {
    const next = `${index === 0 ? '' : '; '}${printable(path).slice(0, 1200)}: ${message}`;
    if (text.length + next.length > MESSAGE_CHARACTERS) return `${text}; and ${faults.length - index} more`;
    text += next;
  }
  return text || null;
}

/** An agent chose the name, and messages are shown in terminals. */
const printable = (path: string): string =>
  clean(path).replaceAll(
    /\p{Cc}/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

interface Grounds {
  project: Pick<ProjectRow, 'repository_id'>;
  /** The source of the project whose kept files the workspace is an overlay of. */
  below: { id: string; tree: Tree } | null;
}

async function groundsOf(ctx: Context, thread: ThreadRow): Promise<Grounds> {
  const baseId = await ctx.runner.baseOf(thread.id);
  const { id, ...project } = await ctx.db
    .selectFrom('projects as p')
    .leftJoin('sources as s', (on) => on.onRef('s.project_id', '=', 'p.id').on('s.id', '=', baseId))
    .select(['p.repository_id', 's.id'])
    .where('p.id', '=', thread.project_id)
    .executeTakeFirstOrThrow();
  return { project, below: id === null ? null : { id, tree: await loadTree(ctx, id) } };
}

function difference(from: Tree, to: Tree): { added: string[]; removed: string[] } {
  if (from === to) return { added: [], removed: [] };
  return {
    added: [...to.keys()].filter((path) => !from.has(path)),
    removed: [...from.keys()].filter((path) => !to.has(path)),
  };
}

/**
 * All files of a capture, in order. The capture leaves out files that are as in the source below: they are
 * taken from our own record of that source.
 */
function treeOf({ files, over }: CaptureResult, below: Tree = new Map()): Tree {
  const listed = files.map(({ path, sha256, byteSize, executable }): [string, Entry] => [
    path,
    { sha256, byteSize, executable },
  ]);
  for (const { path, from } of over?.moved ?? []) {
    const entry = below.get(from);
    if (!entry) throw new WorkspaceChanged();
    listed.push([path, entry]);
  }
  listed.sort(([a], [b]) => comparePaths(a, b));
  const missing = new Set(over?.missing);
  const tree = new Map<string, Entry>();
  let next = 0;
  // Both are sorted, so they are merged: sorting 10,000 paths would take longer than the rest.
  for (const [path, entry] of over ? below : []) {
    for (; next < listed.length && comparePaths(listed[next]![0], path) < 0; next++)
      tree.set(...listed[next]!);
    if (!missing.has(path)) tree.set(path, entry);
  }
  for (; next < listed.length; next++) tree.set(...listed[next]!);
  return tree;
}

/** Fetches the contents that the base does not have, checks their hashes, and stages them for `insertSource`. */
export async function stageCapture(
  ctx: Context,
  thread: ThreadRow,
  capture: Pick<Capture, 'tree' | 'below'>,
  baseSourceId: string | null,
): Promise<Staged> {
  const base: Tree = baseSourceId === null ? new Map() : await loadTree(ctx, baseSourceId);
  const blobs = await readCaptured(ctx, thread.id, contentsBeyond(capture, base));
  return stageBlobs(ctx, { org_id: thread.org_id, id: thread.project_id }, blobs);
}

/** The contents of a capture that neither its base nor the source below the workspace has, by SHA-256. */
export function contentsBeyond(
  { tree, below }: Pick<Capture, 'tree' | 'below'>,
  base: Tree,
): Map<string, { path: string; byteSize: number }> {
  const known = new Set(
    [base, below].flatMap((one) => Array.from(one?.values() ?? [], (entry) => entry.sha256)),
  );
  const wanted = new Map<string, { path: string; byteSize: number }>();
  for (const [path, { sha256, byteSize }] of tree)
    if (!known.has(sha256) && !wanted.has(sha256)) wanted.set(sha256, { path, byteSize });
  return wanted;
}

/**
 * Reads contents of the last capture by SHA-256, each from a path that has it. Throws WorkspaceChanged when
 * they are not those that were captured.
 */
export async function readCaptured(
  ctx: Context,
  threadId: string,
  wanted: ReadonlyMap<string, { path: string; byteSize: number }>,
): Promise<Map<string, Buffer>> {
  if (wanted.size === 0) return new Map();
  const shaOf = new Map([...wanted].map(([sha256, { path }]) => [path, sha256]));
  const blobs = new Map<string, Buffer>();
  for await (const entry of readTar(await ctx.runner.blobs(threadId, [...shaOf.keys()]))) {
    const sha256 = shaOf.get(entry.path ?? '');
    // Checked before it is read: a stream longer than the capture said is not taken into memory.
    if (sha256 === undefined || entry.byteSize !== wanted.get(sha256)!.byteSize) throw new WorkspaceChanged();
    const content = await entry.read();
    if (createHash('sha256').update(content).digest('hex') !== sha256) throw new WorkspaceChanged();
    blobs.set(sha256, content);
  }
  if (blobs.size !== wanted.size) throw new WorkspaceChanged();
  return blobs;
}
