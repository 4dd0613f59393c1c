/** A dropped folder as the files of a source: what ignore files and the rules for sources allow. */
import {
  BundleFaults,
  DEPENDENCY_FOLDERS,
  IGNORE_FILES,
  IgnoreRules,
  isReserved,
  MAX_BYTES,
  MAX_FILE_BYTES,
  MAX_FILES,
  RULES,
} from '@headrace/client/files';
import { HeadraceError } from '@headrace/client';
import type { Field } from '@headrace/client';
import type { Entry } from './entries.ts';

export interface Picked {
  path: string;
  file: File;
}

export interface LeftOut {
  /** A folder's ends with a slash. */
  path: string;
  reason: 'ignored' | 'dependencies' | 'reserved';
  /** It was taken in all the same. */
  isTaken: boolean;
}

export interface Scan {
  /** Sorted by path. */
  files: Picked[];
  leftOut: LeftOut[];
  byteSize: number;
  /** What the service would refuse, by its pointers into `files`. */
  fields: readonly Field[];
}

export interface ScanOptions {
  /** Paths that are taken in although they would be left out. */
  taken?: ReadonlySet<string>;
  signal?: AbortSignal;
  onFile?: (files: number) => void;
}

/** More files than this are not even counted. */
const MOST_NAMED = 2 * MAX_FILES;

export async function scanEntries(top: readonly Entry[], options: ScanOptions = {}): Promise<Scan> {
  const { taken = new Set<string>(), signal, onFile } = options;
  const files: Picked[] = [];
  const leftOut: LeftOut[] = [];
  const open = [{ prefix: '', entries: top, above: IgnoreRules.none }];
  for (let next = open.pop(); next && files.length < MOST_NAMED; next = open.pop()) {
    const { prefix, entries, above } = next;
    const rules = above.within(prefix, await ignoreFilesOf(entries));
    for (const entry of entries) {
      signal?.throwIfAborted();
      const isFolder = entry.kind === 'folder';
      const path = prefix + entry.name + (isFolder ? '/' : '');
      const reason = reasonToLeave(entry, rules.verdict(prefix + entry.name, isFolder));
      const isTaken = reason !== 'reserved' && taken.has(path);
      if (reason) leftOut.push({ path, reason, isTaken });
      if (reason && !isTaken) continue;
      // What is taken in follows the rules of its own folders only.
      if (isFolder)
        open.push({
          prefix: path,
          entries: await entry.entries(),
          above: isTaken ? IgnoreRules.none : rules,
        });
      else {
        files.push({ path, file: await entry.file() });
        onFile?.(files.length);
      }
    }
  }
  files.sort(byPath);
  leftOut.sort(byPath);
  const byteSize = files.reduce((sum, { file }) => sum + file.size, 0);
  return { files, leftOut, byteSize, fields: fieldsOf(files, byteSize) };
}

const byPath = (a: { path: string }, b: { path: string }) => (a.path < b.path ? -1 : 1);

async function ignoreFilesOf(entries: readonly Entry[]): Promise<Uint8Array[]> {
  const found: Uint8Array[] = [];
  for (const name of IGNORE_FILES)
    for (const entry of entries)
      if (entry.kind === 'file' && entry.name === name)
        found.push(new Uint8Array(await (await entry.file()).arrayBuffer()));
  return found;
}

function reasonToLeave(
  { name, kind }: Entry,
  verdict: 'ignored' | 'included' | null,
): LeftOut['reason'] | null {
  if (isReserved(name)) return 'reserved';
  if (verdict === 'ignored') return 'ignored';
  const isDependencies = kind === 'folder' && DEPENDENCY_FOLDERS.has(name);
  return isDependencies && verdict !== 'included' ? 'dependencies' : null;
}

/** As the service would say it, before anything is sent. */
function fieldsOf(files: readonly Picked[], byteSize: number): readonly Field[] {
  const faults = new BundleFaults();
  if (files.length > MAX_FILES) faults.all(RULES.count);
  if (byteSize > MAX_BYTES) faults.all(RULES.total);
  faults.paths(files);
  for (const [index, { path, file }] of files.entries())
    if (file.size > MAX_FILE_BYTES) faults.at(index, path, 'content', RULES.fileSize);
  try {
    faults.throwIfAny();
    return [];
  } catch (error) {
    return error instanceof HeadraceError ? error.fields : [];
  }
}
