import { Readable } from 'node:stream';
import { ByteReader } from './byte-reader.ts';
import { RunnerError } from '../errors.ts';
import { tarOf, tarPadding } from '../tar.ts';
import type { TarFile } from '../tar.ts';

const BLOCK = 512;
const NAME = '.headrace-patch.json';
/** The size of a patch's lists: room for 50,000 paths of 1,024 characters. */
const LIST_BYTES = 256 * 1024 ** 2;

/**
 * Patches a tree that no agent has touched, so that no link lies in the way and plain commands suffice: a
 * Node that checks each path (patch-tree) takes ten times as long to start. Its stdin: a line with the size
 * of the list of files to delete, then the NUL-terminated names; the same for the folders that held them;
 * then a tar.
 */
export const FRESH_PATCH = `umask 022
read -r size && head -c "$size" | xargs -0 -r rm -rf -- || exit 1
read -r size || exit 1
head -c "$size" | xargs -0 -r rmdir -p --ignore-fail-on-non-empty -- 2>/dev/null
exec tar -xf - --no-same-owner --delay-directory-restore`;

/**
 * A patch (protocol: POST /workspaces/:id/patch) in the form that FRESH_PATCH reads, and the links that the
 * tree has afterwards where it says so. Throws `invalid_tar` 400.
 */
export async function freshPatch(tar: Readable): Promise<{ stream: Readable; links: Links | undefined }> {
  const { header, reader } = await readHeader(tar);
  const { delete: gone = [] } = header;
  const folders = [
    ...new Set(gone.flatMap((path) => (path.includes('/') ? [path.slice(0, path.lastIndexOf('/'))] : []))),
  ];
  const stream = Readable.from(
    (async function* () {
      yield listed(gone);
      yield listed(folders);
      yield* reader.rest();
    })(),
    { objectMode: false },
  );
  return { stream, links: linksOf(header) };
}

/** A patch as it came, and the links that the tree has afterwards where it says so. Throws `invalid_tar` 400. */
export async function patchAsIs(tar: Readable): Promise<{ stream: Readable; links: Links | undefined }> {
  const { header, bytes, reader } = await readHeader(tar);
  const stream = Readable.from(
    (async function* () {
      yield bytes;
      yield* reader.rest();
    })(),
    { objectMode: false },
  );
  return { stream, links: linksOf(header) };
}

/** A patch that adds files and deletes none. */
export const addingPatch = (files: TarFile[]): Readable =>
  Readable.from([tarOf([{ path: NAME, content: '{"delete":[]}' }, ...files])], { objectMode: false });

interface PatchHeader {
  delete?: string[];
  links?: Record<string, string>;
}

/** Reads the first entry; `reader` is at the next one. */
async function readHeader(
  tar: Readable,
): Promise<{ header: PatchHeader; bytes: Buffer; reader: ByteReader }> {
  const reader = new ByteReader(tar);
  const block = await reader.read(BLOCK);
  const size = Number.parseInt(block.toString('latin1', 124, 136), 8);
  if (block.toString('latin1', 0, NAME.length + 1) !== `${NAME}\0` || !(size <= LIST_BYTES)) throw invalid();
  const content = await reader.read(size);
  const bytes = Buffer.concat([block, content, await reader.read(tarPadding(size).length)]);
  return { header: parsed(content.toString()), bytes, reader };
}

type Links = ReadonlyMap<string, string>;

/** The targets as a listing shows them, with one character per byte. */
const linksOf = ({ links }: PatchHeader): Links | undefined =>
  links && new Map(Object.entries(links).map(([path, to]) => [path, Buffer.from(to).toString('latin1')]));

function parsed(text: string): PatchHeader {
  try {
    return JSON.parse(text) as PatchHeader;
  } catch {
    throw invalid();
  }
}

function listed(paths: string[]): Buffer {
  const names = Buffer.from(paths.map((path) => `./${path}\0`).join(''));
  return Buffer.concat([Buffer.from(`${names.length}\n`), names]);
}

const invalid = (): RunnerError =>
  new RunnerError(400, 'invalid_tar', `The patch does not begin with ${NAME}.`);
