/**
 * The service's rules for the files of a source, with its messages and paths, so that a folder is refused before
 * it is sent exactly as the service would refuse it.
 */
import { HeadraceError } from '../errors.ts';
import type { Field } from '../errors.ts';
import { checkPath, findCollisions } from './paths.ts';

const MEBI = 1024 * 1024;
export const MAX_FILES = 10_000;
export const MAX_BYTES = 32 * MEBI;
export const MAX_FILE_BYTES = 8 * MEBI;
/** The most files whose names are checked; a source may hold fewer. */
export const MAX_NAMED = 20_000;
/** The most faults that one error names. */
const MAX_FAULTS = 100;

export const RULES = {
  count: `A source holds at most ${MAX_FILES} files.`,
  total: `A source holds at most ${MAX_BYTES / MEBI} MiB in all.`,
  fileSize: `must not be larger than ${MAX_FILE_BYTES / MEBI} MiB`,
  utf8: 'must be UTF-8',
} as const;

/** The faults of a list of files sorted by path: first those of the whole, then one for each file and member. */
export class BundleFaults {
  readonly #whole: Field[] = [];
  readonly #byPointer = new Map<string, { index: number; field: Field }>();

  all(message: string): void {
    this.#whole.push({ path: '/files', message });
  }

  at(index: number, path: string, member: 'path' | 'content', message: string): void {
    const pointer = `/files/${index}/${member}`;
    if (!this.#byPointer.has(pointer))
      this.#byPointer.set(pointer, { index, field: { path: pointer, message: `${shown(path)} ${message}` } });
  }

  /** Checks every path by itself, and the valid ones against each other. */
  paths(files: readonly { path: string }[]): void {
    const good: { path: string; index: number }[] = [];
    for (const [index, { path }] of files.entries()) {
      const fault = checkPath(path);
      if (fault === null) good.push({ path, index });
      else this.at(index, path, 'path', fault);
    }
    for (const { index, message } of findCollisions(good.map(({ path }) => path)))
      this.at(good[index]!.index, good[index]!.path, 'path', message);
  }

  /** Throws the error that the service would return, if there is any fault. */
  throwIfAny(): void {
    const byFile = [...this.#byPointer.values()].sort((a, b) => a.index - b.index);
    const fields = [...this.#whole, ...byFile.map(({ field }) => field)].slice(0, MAX_FAULTS);
    if (fields.length > 0) throw invalidBundle(fields);
  }
}

const NAMED_IN_MESSAGE = 5;

/** Has no request id, since nothing was sent. */
function invalidBundle(fields: Field[]): HeadraceError {
  const named = fields.slice(0, NAMED_IN_MESSAGE).map(({ path, message }) => `${path}: ${message}`);
  const message = `The files break a rule for sources. See the named fields. (${named.join('; ')})`;
  return new HeadraceError(400, 'invalid_bundle', message, { fields });
}

/** A path in a message, with its control characters escaped. */
export const shown = (path: string): string =>
  `"${path.slice(0, SHOWN).replace(/\p{Cc}/gu, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)}${path.length > SHOWN ? '…' : ''}"`;
const SHOWN = 1_024;
