/**
 * The rules that every source obeys, wherever it comes from, and the places at which a breach is reported.
 */
import { escapeControls } from '../../db/clean-text.ts';
import type { Field } from '../../http/errors.ts';
import { BUNDLE_LIMITS, bytesRule, fileBytesRule, filesRule } from '../../trees/limits.ts';
import type { SourceLimits } from '../../trees/limits.ts';
import { checkPath, findCollisions } from '../../trees/paths.ts';

export const { files: MAX_FILES, fileBytes: MAX_FILE_BYTES, bytes: MAX_TOTAL_BYTES } = BUNDLE_LIMITS;
/** Faults that one answer names. */
export const MAX_FAULTS = 100;
/** Files that are checked for their names, also where a source may not hold as many. */
export const MAX_NAMED = 20_000;

export const RULES = {
  count: filesRule(BUNDLE_LIMITS),
  total: bytesRule(BUNDLE_LIMITS),
  fileSize: fileBytesRule(BUNDLE_LIMITS),
  utf8: 'must be text without lone surrogates; send other bytes as base64',
  base64: 'must be canonical base64 with padding',
} as const;

/** The answer to a client whose body is no valid source. `message` is for a person. */
export interface Refusal {
  ok: false;
  code: 'invalid_request' | 'invalid_bundle';
  message: string;
  fields: Field[];
}

export const invalidRequest = (
  fields: Field[],
  message = 'The body is invalid. See the named fields.',
): Refusal => ({ ok: false, code: 'invalid_request', message, fields });
export const invalidBundle = (fields: Field[]): Refusal => ({
  ok: false,
  code: 'invalid_bundle',
  message: 'The files break a rule for sources. See the named fields.',
  fields,
});

/** A file, and its place in the list that came. */
export interface Place {
  index: number;
  path: string;
}

interface IndexedFault {
  index: number;
  field: Field;
}

/** A path in a message: whole where a source may hold it. */
export const shown = (path: string) => `"${escapeControls(shortened(path))}"`;
/** A path of an archive may have a million characters. */
export const shortened = (path: string) => (path.length > SHOWN ? `${path.slice(0, SHOWN)}…` : path);
const SHOWN = 1_024;

/**
 * Gathers the faults of a numbered list of files under one pointer, whole-list faults first, then in order
 * of the files, one for each pointer. A message begins with the path: an index means nothing to a person
 * with an archive.
 */
export class BundleFaults {
  readonly #root: string;
  readonly #whole: Field[] = [];
  readonly #byFile: IndexedFault[] = [];

  constructor(root: string) {
    this.#root = root;
  }

  /** A fault of the list itself. */
  all(message: string): void {
    this.#whole.push({ path: this.#root, message });
  }

  at({ index, path }: Place, member: string, message: string): void {
    const field = { path: `${this.#root}/${index}/${member}`, message: `${shown(path)} ${message}` };
    this.#byFile.push({ index, field });
  }

  /** Checks every path alone and the good ones against each other. */
  paths(files: readonly Place[]): void {
    const good = files.filter((file) => {
      const fault = checkPath(file.path);
      if (fault !== null) this.at(file, 'path', fault);
      return fault === null;
    });
    for (const { index, message } of findCollisions(good.map((f) => f.path)))
      this.at(good[index]!, 'path', message);
  }

  get isEmpty(): boolean {
    return this.#whole.length === 0 && this.#byFile.length === 0;
  }

  list(): Field[] {
    const byPointer = new Map<string, Field>();
    for (const { field } of this.#byFile.toSorted((a, b) => a.index - b.index))
      if (!byPointer.has(field.path)) byPointer.set(field.path, field);
    return [...this.#whole, ...byPointer.values()].slice(0, MAX_FAULTS);
  }
}

/** What keeps a tree from being a source. */
interface TreeFaults {
  /** Paths that a source cannot hold; without their files the rest has no such fault. */
  paths: { path: string; message: string }[];
  /** The limit that the rest exceeds. */
  limit: string | null;
}

/**
 * The faults of a tree that a sandbox produced. `source` is one that it was made from: of two paths that
 * collide, the one in it is good. Where the tree has no path beyond the source's, as after most edits, paths
 * are not checked (25 ms with 10,000 files).
 */
export function checkTree(
  files: ReadonlyMap<string, { byteSize: number }>,
  limits: SourceLimits,
  source: ReadonlyMap<string, unknown> = new Map(),
): TreeFaults {
  if (files.size > limits.files) return { paths: [], limit: filesRule(limits) };
  const all = [...files.keys()];
  const added = all.filter((path) => !source.has(path));
  const paths = added.length === 0 ? [] : pathFaults(all, added);
  const bad = new Set(paths.map(({ path }) => path));
  let total = 0;
  for (const [path, { byteSize }] of files) {
    if (bad.has(path)) continue;
    if (byteSize > limits.fileBytes)
      return { paths, limit: `${path.slice(0, 1200)}: ${fileBytesRule(limits)}` };
    total += byteSize;
  }
  return { paths, limit: total > limits.bytes ? bytesRule(limits) : null };
}

function pathFaults(all: string[], added: string[]): TreeFaults['paths'] {
  const faults = added.flatMap((path) => {
    const message = checkPath(path);
    return message === null ? [] : { path, message };
  });
  const bad = new Set(faults.map(({ path }) => path));
  const isAdded = new Set(added);
  const good = [...all.filter((path) => !isAdded.has(path)), ...added.filter((path) => !bad.has(path))];
  return [...faults, ...findCollisions(good).map(({ index, message }) => ({ path: good[index]!, message }))];
}
