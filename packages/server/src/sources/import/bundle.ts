/**
 * A JSON bundle: `{files, parentSourceId?, message?}` → files with their bytes and hashes, or every fault by
 * its place.
 */
import { hash } from 'node:crypto';
import { BUNDLE_LIMITS, bytesRule, fileBytesRule, filesRule } from '../../trees/limits.ts';
import type { SourceLimits } from '../../trees/limits.ts';
import { parseStrictJson, type JsonFault } from '../../http/strict-json.ts';
import type { Field } from '../../http/errors.ts';
import { BundleFaults, MAX_NAMED, invalidBundle, invalidRequest, type Refusal } from './bundle-rules.ts';
import { decodeContent, type Content } from './content.ts';
import {
  MAX_SHAPE_FAULTS,
  aBoolean,
  aMessage,
  anArray,
  anEncoding,
  anId,
  anyString,
  checkMembers,
  type Members,
} from './shape.ts';

export interface BundleFile extends Content {
  path: string;
  executable: boolean;
}

/** What an import left out, and why. */
export interface Warning {
  path: string;
  reason: string;
}

export interface Bundle {
  ok: true;
  files: BundleFile[];
  warnings: Warning[];
  parentSourceId: string | null;
  message: string | null;
  /** SHA-256 that is equal for equal bodies, whatever the order of object keys. */
  fingerprint: Buffer;
}

export interface FileMember {
  path: string;
  content: string;
  encoding?: 'utf8' | 'base64';
  executable?: boolean;
}

export interface BundleBody {
  files: FileMember[];
  parentSourceId?: string;
  message?: string;
}

const BODY: Members = {
  files: { check: anArray, required: true },
  parentSourceId: { check: anId },
  message: { check: aMessage },
};
const FILE: Members = {
  path: { check: anyString, required: true },
  content: { check: anyString, required: true },
  encoding: { check: anEncoding },
  executable: { check: aBoolean },
};
const IN_CONTENT = /^\/(?:files|changes)\/\d+\/content$/;
const IN_LISTED = /^\/(?:files|changes)\/\d+\/(?:path|content|renameFrom)$/;

/**
 * Parses a body whose faults are either of JSON and shape (`invalid_request`, all together) or of the
 * bundle rules, which come after. NUL is allowed in contents. NUL and lone surrogates in paths and contents are left
 * to the bundle rules.
 */
export function parseBody<T>(bytes: Uint8Array, shape: (value: unknown) => Field[]): { body: T } | Refusal {
  let parsed: { value: unknown; faults: JsonFault[] };
  try {
    parsed = parseStrictJson(bytes, { allowNul: (path) => IN_CONTENT.test(path) });
  } catch (error) {
    if (error instanceof SyntaxError)
      return invalidRequest([{ path: '', message: error.message }], error.message);
    throw error;
  }
  const faults = parsed.faults
    .filter((f) => f.kind === 'duplicate_member' || !IN_LISTED.test(f.path))
    .map(({ path, message }) => ({ path, message }));
  faults.push(...shape(parsed.value));
  return faults.length > 0 ? invalidRequest(faults.slice(0, MAX_SHAPE_FAULTS)) : { body: parsed.value as T };
}

export function bundleFaults(value: unknown): Field[] {
  const faults: Field[] = [];
  checkMembers(value, '', BODY, faults);
  return [...faults, ...fileFaults(value)];
}

/** The faults of the members of a body's `files`. */
export function fileFaults(value: unknown): Field[] {
  const faults: Field[] = [];
  const files = (value as BundleBody | null)?.files;
  if (Array.isArray(files))
    for (let i = 0; i < files.length && faults.length < MAX_SHAPE_FAULTS; i++)
      checkMembers(files[i], `/files/${i}`, FILE, faults);
  return faults;
}

/** Files of a JSON body with their bytes, or every rule for bundles that they break. */
export function decodeFiles(
  given: readonly FileMember[],
  limits: SourceLimits = BUNDLE_LIMITS,
): { ok: true; files: BundleFile[] } | Refusal {
  const faults = new BundleFaults('/files');
  if (given.length > limits.files) faults.all(filesRule(limits));
  const named = given.slice(0, MAX_NAMED).map((file, index) => ({ ...file, index }));
  faults.paths(named);
  const files: BundleFile[] = [];
  let total = 0;
  for (const file of named) {
    const content = decodeContent(file.content, file.encoding, limits);
    if (typeof content === 'string') {
      faults.at(file, 'content', content);
      // A file that is too large is a fault of that file; its bytes count in the total as well.
      if (content === fileBytesRule(limits))
        total += file.content.length * (file.encoding === 'base64' ? 0.75 : 1);
      continue;
    }
    total += content.bytes.length;
    if (total <= limits.bytes)
      files.push({ path: file.path, ...content, executable: file.executable === true });
  }
  if (total > limits.bytes) faults.all(bytesRule(limits));
  return faults.isEmpty ? { ok: true, files } : invalidBundle(faults.list());
}

export function checkFiles(body: BundleBody): Bundle | Refusal {
  const decoded = decodeFiles(body.files);
  if (!decoded.ok) return decoded;
  const { files } = decoded;
  return {
    ok: true,
    files,
    warnings: [],
    parentSourceId: body.parentSourceId ?? null,
    message: body.message ?? null,
    fingerprint: fingerprint(body, files),
  };
}

/**
 * Represents the parsed body. Decoding is one to one for each encoding, so a content's hash represents the
 * content.
 */
export function fingerprint(body: BundleBody, files: readonly BundleFile[]): Buffer {
  const canonical = body.files.map((f, i) => [
    f.path,
    files[i]!.sha256,
    f.encoding ?? null,
    f.executable ?? null,
  ]);
  return hash(
    'sha256',
    JSON.stringify([canonical, body.parentSourceId ?? null, body.message ?? null]),
    'buffer',
  );
}
