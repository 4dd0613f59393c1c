import { Readable } from 'node:stream';
import { ByteReader } from './byte-reader.ts';
import { RunnerError } from '../errors.ts';
import { tarPadding } from '../tar.ts';

const BLOCK = 512;
const NAME = '.headrace-patch.json';
/** The size of a patch's lists: room for 10,000 paths of 1,024 characters. */
const LIST_BYTES = 64 * 1024 ** 2;

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
 * A patch (protocol: POST /workspaces/:id/patch) in the form that FRESH_PATCH reads. Throws `invalid_tar`
 * 400.
 */
export async function freshPatch(tar: Readable): Promise<Readable> {
  const reader = new ByteReader(tar);
  const header = await reader.read(BLOCK);
  const size = Number.parseInt(header.toString('latin1', 124, 136), 8);
  if (header.toString('latin1', 0, NAME.length + 1) !== `${NAME}\0` || !(size <= LIST_BYTES)) throw invalid();
  const { delete: gone = [] } = parsed((await reader.read(size)).toString());
  await reader.read(tarPadding(size).length);
  const folders = [
    ...new Set(gone.flatMap((path) => (path.includes('/') ? [path.slice(0, path.lastIndexOf('/'))] : []))),
  ];
  return Readable.from(
    (async function* () {
      yield listed(gone);
      yield listed(folders);
      yield* reader.rest();
    })(),
    { objectMode: false },
  );
}

function parsed(text: string): { delete?: string[] } {
  try {
    return JSON.parse(text) as { delete?: string[] };
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
