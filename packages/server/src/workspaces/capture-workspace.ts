import { createHash } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import { extract } from 'tar-stream';
import type { Context } from '../context.ts';
import { clean } from '../db/clean-text.ts';
import type { ThreadRow } from '../db/schema.ts';
import { checkTree, comparePaths, loadTree, sameTree, stageBlobs } from '../sources/index.ts';
import type { Staged, Tree } from '../sources/index.ts';

const WARNINGS = 1000;

/** The contents are not those that were captured: nothing in the sandbox should have been able to do that. */
export class WorkspaceChanged extends Error {
  constructor() { super('the workspace changed while it was captured'); }
}

export interface Capture {
  tree: Tree;
  warnings: { path: string; reason: string }[];
  /** The bundle rule or limit that the files break, in words; null when they may be a source. */
  fault: string | null;
  /** Whether the files equal `base`. */
  isUnchanged: boolean;
}

/**
 * Reads what a workspace holds, by the runner's rules for captures, beside `from`: a source, or files that are none. Nothing of it may be live.
 * Out of the sandbox: every hash is checked again when contents are read.
 */
export async function captureWorkspace(ctx: Context, thread: ThreadRow, from: string | Tree | null): Promise<Capture> {
  const base: Tree = from === null ? new Map() : typeof from === 'string' ? await loadTree(ctx, from) : from;
  const { files, warnings } = await ctx.runner.capture(thread.id, [...base.keys()]);
  const sorted = files.toSorted((a, b) => comparePaths(a.path, b.path));
  const tree: Tree = new Map(sorted.map(({ path, sha256, byteSize, executable }) => [path, { sha256, byteSize, executable }]));
  const [fault] = checkTree(sorted, typeof from === 'string' ? base : undefined);
  return { tree, warnings: warnings.slice(0, WARNINGS).map(({ path, reason }) => ({ path: clean(path).slice(0, 4096), reason: clean(reason).slice(0, 500) })), isUnchanged: sameTree(tree, base), fault: fault ? clean(`${fault.path === null ? '' : `${fault.path.slice(0, 1200)}: `}${fault.message}`) : null };
}

/** Fetches the contents that `base` has not, checks their hashes, and stages them for `insertSource`. */
export async function stageCapture(ctx: Context, thread: ThreadRow, capture: Capture, baseSourceId: string | null): Promise<Staged> {
  const base: Tree = baseSourceId === null ? new Map() : await loadTree(ctx, baseSourceId);
  const known = new Set([...base.values()].map((entry) => entry.sha256));
  const wanted = new Map<string, { path: string; byteSize: number }>();
  for (const [path, { sha256, byteSize }] of capture.tree) if (!known.has(sha256) && !wanted.has(sha256)) wanted.set(sha256, { path, byteSize });
  const blobs = await readCaptured(ctx, thread.id, wanted);
  return stageBlobs(ctx, { org_id: thread.org_id, id: thread.project_id }, blobs);
}

/** Contents of the last capture by SHA-256, each from a path that has it. Throws WorkspaceChanged when they are not what was captured. */
export async function readCaptured(ctx: Context, threadId: string, wanted: ReadonlyMap<string, { path: string; byteSize: number }>): Promise<Map<string, Buffer>> {
  if (wanted.size === 0) return new Map();
  const shaOf = new Map([...wanted].map(([sha256, { path }]) => [path, sha256]));
  const blobs = new Map<string, Buffer>();
  const tar = extract();
  // A broken source ends the extraction too: `pipe` alone would leave it waiting.
  pipeline(await ctx.runner.blobs(threadId, [...shaOf.keys()]), tar).catch((error: Error) => tar.destroy(error));
  for await (const entry of tar) {
    const sha256 = shaOf.get(entry.header.name);
    // Told apart before it is read: a stream longer than the capture said is not taken into memory.
    if (sha256 === undefined || entry.header.size !== wanted.get(sha256)!.byteSize) throw new WorkspaceChanged();
    const parts: Buffer[] = [];
    for await (const part of entry) parts.push(part as Buffer);
    const content = Buffer.concat(parts);
    if (createHash('sha256').update(content).digest('hex') !== sha256) throw new WorkspaceChanged();
    blobs.set(sha256, content);
  }
  if (blobs.size !== wanted.size) throw new WorkspaceChanged();
  return blobs;
}
