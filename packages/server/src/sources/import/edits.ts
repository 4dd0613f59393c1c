/**
 * An edit without an agent, or an import by changes: changes that apply in order to a source's files and result in
 * the next source, or in every fault by its place.
 */
import { hash } from 'node:crypto';
import type { Field } from '../../http/errors.ts';
import { parseBody } from './bundle.ts';
import { BundleFaults, invalidBundle, type Refusal } from './bundle-rules.ts';
import { decodeContent, type Content } from './content.ts';
import { bytesRule, filesRule } from '../../trees/limits.ts';
import type { SourceLimits } from '../../trees/limits.ts';
import { manifestOf, totalBytes } from '../../trees/manifest.ts';
import type { Entry, Tree } from '../../trees/tree.ts';
import { checkPath, findCollisions } from '../../trees/paths.ts';
import {
  MAX_SHAPE_FAULTS,
  aBoolean,
  aMessage,
  anEncoding,
  anId,
  anyString,
  checkMembers,
  isObject,
  type Members,
} from './shape.ts';

export interface Change {
  path: string;
  /** The new content; null deletes, undefined keeps the content. */
  content: Content | null | undefined;
  executable: boolean | undefined;
  renameFrom: string | undefined;
}

export interface Edit {
  ok: true;
  /** The source that the changes apply to. */
  baseSourceId: string;
  message: string | null;
  changes: Change[];
  /** SHA-256 that is equal for equal bodies, whatever the order of object keys. */
  fingerprint: Buffer;
}

interface ChangeMember {
  path: string;
  content?: string | null;
  encoding?: 'utf8' | 'base64';
  executable?: boolean;
  renameFrom?: string;
}

/** How a body names the source that it changes. */
export type BaseMember = 'expectedSourceId' | 'baseSourceId';
export type EditBody<Base extends BaseMember> = Record<Base, string> & {
  changes: ChangeMember[];
  message?: string;
};

const MAX_CHANGES = 10_000;
const isChangeList = (v: unknown) =>
  Array.isArray(v) && v.length >= 1 && v.length <= MAX_CHANGES
    ? null
    : `must be an array of 1 to ${MAX_CHANGES} changes`;
const textOrNull = (v: unknown) =>
  v === null || typeof v === 'string' ? null : 'must be a string, or null to delete the file';
const BODY: Members = {
  changes: { check: isChangeList, required: true },
  message: { check: aMessage },
};
const CHANGE: Members = {
  path: { check: anyString, required: true },
  content: { check: textOrNull },
  encoding: { check: anEncoding },
  executable: { check: aBoolean },
  renameFrom: { check: anyString },
};

/** The part of an edit that needs no source: JSON, shape, each path and each content alone. */
export function parseEdit(bytes: Uint8Array, limits: SourceLimits): Edit | Refusal {
  const parsed = parseBody<EditBody<'expectedSourceId'>>(bytes, (value) =>
    editFaults(value, 'expectedSourceId'),
  );
  return 'ok' in parsed ? parsed : readEdit(parsed.body, parsed.body.expectedSourceId, limits);
}

export function readEdit(
  body: Pick<EditBody<never>, 'changes' | 'message'>,
  baseSourceId: string,
  limits: SourceLimits,
): Edit | Refusal {
  const faults = new BundleFaults('/changes');
  const changes = body.changes.map((change, index) => readChange(change, { index, limits }, faults));
  findRepeated(changes, faults);
  if (!faults.isEmpty) return invalidBundle(faults.list());
  return {
    ok: true,
    baseSourceId,
    message: body.message ?? null,
    changes,
    fingerprint: fingerprint(body, baseSourceId, changes),
  };
}

export function editFaults(value: unknown, base: BaseMember): Field[] {
  const faults: Field[] = [];
  checkMembers(value, '', { [base]: { check: anId, required: true }, ...BODY }, faults);
  const changes = (value as Partial<EditBody<never>> | null)?.changes;
  if (isChangeList(changes) !== null) return faults;
  for (let i = 0; i < changes!.length && faults.length < MAX_SHAPE_FAULTS; i++)
    checkChange(changes![i], `/changes/${i}`, faults);
  return faults;
}

function checkChange(change: unknown, path: string, faults: Field[]): void {
  checkMembers(change, path, CHANGE, faults);
  if (!isObject(change)) return;
  if (!('content' in change) && !('renameFrom' in change) && !('executable' in change))
    faults.push({ path: `${path}/content`, message: 'is required without renameFrom or executable' });
  if (change.content === null && 'renameFrom' in change)
    faults.push({ path: `${path}/renameFrom`, message: 'cannot go with content null, which deletes' });
}

function readChange(
  { path, content, encoding, executable, renameFrom }: ChangeMember,
  { index, limits }: { index: number; limits: SourceLimits },
  faults: BundleFaults,
): Change {
  const rule = checkPath(path);
  if (rule !== null) faults.at({ index, path }, 'path', rule);
  if (renameFrom !== undefined) {
    const ruleFrom = checkPath(renameFrom);
    if (ruleFrom !== null) faults.at({ index, path: renameFrom }, 'renameFrom', ruleFrom);
  }
  const decoded = typeof content === 'string' ? decodeContent(content, encoding, limits) : content;
  if (typeof decoded === 'string') faults.at({ index, path }, 'content', decoded);
  return { path, content: typeof decoded === 'string' ? undefined : decoded, executable, renameFrom };
}

function findRepeated(changes: readonly Change[], faults: BundleFaults): void {
  const seen = new Set<string>();
  for (const [index, { path }] of changes.entries()) {
    if (seen.has(path)) faults.at({ index, path }, 'path', 'is named by an earlier change');
    seen.add(path);
  }
}

function fingerprint(
  body: Pick<EditBody<never>, 'changes' | 'message'>,
  baseSourceId: string,
  changes: readonly Change[],
): Buffer {
  const canonical = body.changes.map((c, i) => [
    c.path,
    changes[i]!.content?.sha256 ?? (c.content === null ? null : 0),
    c.encoding ?? null,
    c.executable ?? null,
    c.renameFrom ?? null,
  ]);
  return hash('sha256', JSON.stringify([canonical, baseSourceId, body.message ?? null]), 'buffer');
}

/** The files after the changes, or the faults that only the source shows. Nothing is changed by a refusal. */
export function applyChanges(
  base: Tree,
  changes: readonly Change[],
  limits: SourceLimits,
): { ok: true; manifest: Tree } | Refusal {
  const files = new Map<string, Entry>(base);
  const faults = new BundleFaults('/changes');
  for (const [index, change] of changes.entries()) applyChange(files, change, index, faults);
  const manifest = manifestOf([...files].map(([path, entry]) => ({ path, ...entry })));
  if (manifest.size > limits.files) faults.all(filesRule(limits));
  if (totalBytes(manifest) > limits.bytes) faults.all(bytesRule(limits));
  findClashes(base, manifest, changes, faults);
  return faults.isEmpty ? { ok: true, manifest } : invalidBundle(faults.list());
}

function applyChange(
  files: Map<string, Entry>,
  { path, content, executable, renameFrom }: Change,
  index: number,
  faults: BundleFaults,
): void {
  const at = renameFrom ?? path;
  const before = files.get(at);
  if (renameFrom !== undefined && files.has(path))
    return faults.at({ index, path }, 'path', 'is there already: a file cannot be renamed onto another');
  if (before === undefined && (renameFrom !== undefined || !content))
    return faults.at(
      { index, path: at },
      renameFrom === undefined ? 'path' : 'renameFrom',
      'is not the path of a file',
    );
  if (content === null || renameFrom !== undefined) files.delete(at);
  if (content === null) return;
  const { sha256, byteSize } = content ? { sha256: content.sha256, byteSize: content.bytes.length } : before!;
  files.set(path, { sha256, byteSize, executable: executable ?? before?.executable ?? false });
}

/**
 * Collisions in the result: files from a change count as later than the others. If no path is new, there can be
 * none, and nothing is compared.
 */
function findClashes(base: Tree, result: Tree, changes: readonly Change[], faults: BundleFaults): void {
  if (changes.every(({ path }) => base.has(path))) return;
  const places = new Map(changes.map(({ path }, index) => [path, index]));
  const kept = [...base.keys()].filter((path) => result.has(path) && !places.has(path));
  const brought = changes.flatMap(({ path }, index) => (result.has(path) ? [{ path, index }] : []));
  for (const { index, message } of findCollisions([...kept, ...brought.map((b) => b.path)])) {
    const change = brought[index - kept.length];
    if (change) faults.at(change, 'path', message);
  }
}
