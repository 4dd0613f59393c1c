/**
 * A skill: a folder with a `SKILL.md`, whose front matter (YAML) has its name and description. Its files come
 * as those of a source do, within bounds of their own.
 */
import { isUtf8 } from 'node:buffer';
import { parseDocument } from 'yaml';
import type { Field } from '../../http/errors.ts';
import { sourceSha256, sha256Of, manifestOf, totalBytes } from '../../trees/manifest.ts';
import type { SourceLimits } from '../../trees/limits.ts';
import { gzipChunks, tarChunks } from '../archive.ts';
import { checkMembers, anArray } from './shape.ts';
import { decodeFiles, fileFaults, fingerprint, parseBody } from './bundle.ts';
import type { BundleBody, BundleFile } from './bundle.ts';
import { invalidBundle, MAX_FAULTS } from './bundle-rules.ts';
import type { Refusal } from './bundle-rules.ts';

/** Of a path, which a sandbox has below a folder for the skill: longer ones are no paths of Linux. */
const PATH_BYTES = 3_000;
const FILE = 'SKILL.md';
/** A file has no bound but that of all files. */
const LIMITS: SourceLimits = {
  files: 200,
  bytes: 4 * 1024 * 1024,
  fileBytes: Number.MAX_SAFE_INTEGER,
  of: 'skill',
};
/** More than any skill has, and little enough for a parser that compares all keys of a map. */
const FRONT_BYTES = 16 * 1024;
const FRONT = /^---[ \t]*\r?\n(?<yaml>(?:[^\n]*\n)*?)---[ \t]*(?:\r?\n|$)/;
const DESCRIPTION_CHARACTERS = 1_024;
/** What a database cannot hold, or no line of a prompt should. */
const UNPRINTABLE = /[\0-\x08\v\f\x0e-\x1f\x7f]/; // eslint-disable-line no-control-regex

export interface ParsedSkill {
  ok: true;
  description: string;
  sha256: string;
  byteSize: number;
  fileCount: number;
  fingerprint: Uint8Array;
  /** Its files as a tar.gz, which is a function of them. */
  archive: Uint8Array;
  archiveSha256: string;
}

/** Parses the JSON body `{files}` of a skill of that name. */
export async function parseSkill(bytes: Uint8Array, name: string): Promise<ParsedSkill | Refusal> {
  const parsed = parseBody<BundleBody>(bytes, bodyFaults);
  if ('ok' in parsed) return parsed;
  const { body } = parsed;
  const decoded = decodeFiles(body.files, LIMITS);
  if (!decoded.ok) return decoded;
  const { files } = decoded;
  const long = files.flatMap(({ path }, index) =>
    Buffer.byteLength(path) > PATH_BYTES
      ? { path: `/files/${index}/path`, message: `must have at most ${PATH_BYTES} bytes in UTF-8` }
      : [],
  );
  if (long.length > 0) return invalidBundle(long.slice(0, MAX_FAULTS));
  const front = readFront(files, name);
  if ('fault' in front) return invalidBundle([{ path: '/files', message: front.fault }]);
  const tree = manifestOf(
    files.map(({ bytes: content, ...file }) => ({ ...file, byteSize: content.length })),
  );
  const archive = await archived(tree, files);
  return {
    ok: true,
    description: front.description,
    sha256: sourceSha256(tree),
    byteSize: totalBytes(tree),
    fileCount: tree.size,
    fingerprint: fingerprint(body, files),
    archive,
    archiveSha256: sha256Of(archive),
  };
}

function bodyFaults(value: unknown): Field[] {
  const faults: Field[] = [];
  checkMembers(value, '', { files: { check: anArray, required: true } }, faults);
  return [...faults, ...fileFaults(value)];
}

async function archived(tree: ReturnType<typeof manifestOf>, files: BundleFile[]): Promise<Buffer> {
  const bytesOf = new Map(files.map(({ sha256, bytes }) => [sha256, bytes]));
  const blobs = {
    async *readBlobs(sha256s: readonly string[]) {
      for (const sha256 of sha256s) yield { sha256, bytes: bytesOf.get(sha256)! };
    },
  };
  const chunks: Buffer[] = [];
  for await (const chunk of gzipChunks(tarChunks(tree, blobs))) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** The description in a skill's `SKILL.md`, or what is wrong with that file. */
function readFront(files: BundleFile[], name: string): { description: string } | { fault: string } {
  const file = files.find(({ path }) => path === FILE);
  if (!file) return { fault: `A skill has a ${FILE} at its top.` };
  if (!isUtf8(file.bytes)) return { fault: `${FILE} must be UTF-8.` };
  const yaml = FRONT.exec(file.bytes.toString('utf8', 0, FRONT_BYTES))?.groups!['yaml'];
  if (yaml === undefined)
    return {
      fault: `${FILE} must begin with front matter between two lines "---", of at most ${FRONT_BYTES} bytes.`,
    };
  const front = fieldsOf(yaml);
  if (front === null) return { fault: `The front matter of ${FILE} must be a YAML map, without aliases.` };
  if (front['name'] !== name) return { fault: `The name in ${FILE} must be ${name}.` };
  const { description } = front;
  if (
    typeof description !== 'string' ||
    description.trim() === '' ||
    [...description].length > DESCRIPTION_CHARACTERS ||
    !description.isWellFormed() ||
    UNPRINTABLE.test(description)
  )
    return {
      fault: `The description in ${FILE} must be text of 1 to ${DESCRIPTION_CHARACTERS} characters.`,
    };
  return { description };
}

/**
 * The map that YAML holds, all scalars as text; null where it is none. A stranger wrote it: no aliases, which
 * grow, and no types, which surprise.
 */
function fieldsOf(yaml: string): Record<string, unknown> | null {
  try {
    const document = parseDocument(yaml, { schema: 'failsafe', logLevel: 'silent', prettyErrors: false });
    if (document.errors.length > 0) return null;
    const value: unknown = document.toJS({ maxAliasCount: 0 });
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    // An alias, or deeper than the stack.
    return null;
  }
}
