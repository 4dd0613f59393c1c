/** What a push would send. */
import type { Client } from '../client.ts';
import type { Source } from '../generated/types.ts';
import { bytesOf, changesBetween } from './changes.ts';
import type { FileChange } from './changes.ts';
import { scanFolder } from './scan.ts';
import type { Scan } from './scan.ts';
import type { HashedFile } from './source-hash.ts';

export interface Progress {
  /** `scan`: files are read and compared. `send`: their contents go to the service. */
  phase: 'scan' | 'send';
  files: number;
  /** Of contents, uncompressed. */
  bytes: number;
  /** Null while they are counted. */
  totalFiles: number | null;
  totalBytes: number | null;
}

export interface PlanOptions {
  /** The version to compare the folder with. Default: the app's head, if it has one. */
  parentSourceId?: string;
  signal?: AbortSignal;
  onProgress?: (progress: Progress) => void;
}

export interface Plan extends Scan {
  /** Null if the app has no head yet. */
  headSourceId: string | null;
  /** Null if there is none. */
  parent: Source | null;
  /** Compared with the parent, or with nothing. */
  changes: FileChange[];
  /** `nothing`: the parent has exactly these files. `files`: all files, since most have changed. */
  send: 'nothing' | 'changes' | 'files';
  /** Of contents, uncompressed. */
  bytesToSend: number;
}

/** The limit of one request. */
const MAX_CHANGES = 10_000;
/** Changes are sent as JSON, whole sources compressed: larger changes pay off only if they are a small part. */
const SMALL_BYTES = 1024 * 1024;
const SMALL_PART = 1 / 3;

/** Compares a folder with a version of the app, and sends nothing. Throws as `push` does. */
export async function plan(
  client: Client,
  appId: string,
  folder: string,
  { parentSourceId, signal, onProgress }: PlanOptions = {},
): Promise<Plan> {
  const scan = await scanFolder(folder, {
    signal,
    onFile: (files, bytes) =>
      onProgress?.({ phase: 'scan', files, bytes, totalFiles: null, totalBytes: null }),
  });
  const { headSourceId } = await client.apps.get(appId, { signal });
  const parentId = parentSourceId ?? headSourceId;
  const parent = parentId === null ? null : await client.sources.get(appId, parentId, { signal });
  if (parent?.sha256 === scan.sha256)
    return { ...scan, headSourceId, parent, changes: [], send: 'nothing', bytesToSend: 0 };
  const before = parent ? await filesOf(client, appId, parent.id, signal) : new Map<string, HashedFile>();
  const changes = changesBetween(before, scan.files);
  const bytes = bytesOf(changes);
  const isPart =
    parent !== null &&
    changes.length <= MAX_CHANGES &&
    (bytes <= SMALL_BYTES || bytes <= scan.byteSize * SMALL_PART);
  return {
    ...scan,
    headSourceId,
    parent,
    changes,
    send: isPart ? 'changes' : 'files',
    bytesToSend: isPart ? bytes : scan.byteSize,
  };
}

/** The files of a version, by path. */
export async function filesOf(
  client: Client,
  appId: string,
  sourceId: string,
  signal: AbortSignal | undefined,
): Promise<Map<string, HashedFile>> {
  const files = new Map<string, HashedFile>();
  for await (const file of client.sources.files(appId, sourceId, { limit: 200, signal }))
    files.set(file.path, file);
  return files;
}
