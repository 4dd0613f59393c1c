/**
 * Runtimes: systems that sandboxes may have instead of this machine's. The configuration file names them, and
 * those that `headrace runtimes import` unpacked are in the data folder.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import Type from 'typebox';
import type { Static } from 'typebox';

export const RUNTIME_NAME = '^[a-z0-9][a-z0-9._-]{0,62}$';
const Texts = Type.Record(
  Type.String({ pattern: '^[^=\\u0000]+$' }),
  Type.String({ pattern: '^[^\\u0000]*$' }),
  {
    additionalProperties: false,
  },
);
const Path = Type.Optional(Type.String({ minLength: 1 }));

export const Runtimes = Type.Array(
  Type.Object(
    {
      name: Type.String({ pattern: RUNTIME_NAME }),
      description: Type.Optional(Type.String({ maxLength: 1000 })),
      root: Path,
      image: Path,
      env: Type.Optional(Texts),
    },
    { additionalProperties: false },
  ),
);

export interface RuntimeEntry {
  name: string;
  description: string | null;
  /** A folder with a root file system, absolute: for bubblewrap. */
  root: string | null;
  /** An image of the container engine. */
  image: string | null;
  env: Record<string, string>;
}

/** Where imported runtimes are: `<name>/root` and `<name>/${IMPORTED_FILE}`. */
export const importedRuntimes = (dataDir: string): string => join(dataDir, 'runtimes');
/** What the import notes, as JSON: `description` and `env`. */
export const IMPORTED_FILE = 'runtime.json';

/** The file's runtimes; faults are said with their place, and paths are relative to `folder`. */
export function readRuntimes(
  listed: Static<typeof Runtimes>,
  folder: string,
  say: (place: string, message: string) => void,
): RuntimeEntry[] {
  const names = listed.map(({ name }) => name);
  for (const [i, { name, root, image }] of listed.entries()) {
    if (names.indexOf(name) < i) say(`/runtimes/${i}/name`, 'is the name of another runtime');
    if (root === undefined && image === undefined) say(`/runtimes/${i}`, 'needs a root or an image');
  }
  return listed.map(({ name, description, root, image, env }) => ({
    name,
    description: description ?? null,
    root: root === undefined ? null : resolve(folder, root),
    image: image ?? null,
    env: env ?? {},
  }));
}

/** The runtimes of the configuration file and the imported ones; of two with one name, the file's counts. */
export function withImported(listed: RuntimeEntry[], dataDir: string): RuntimeEntry[] {
  const folder = importedRuntimes(dataDir);
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const imported = names.flatMap((name) => {
    const isListed = listed.some((one) => one.name === name);
    return isListed || !new RegExp(RUNTIME_NAME).test(name) ? [] : readImported(folder, name);
  });
  return [...listed, ...imported].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** None where the import did not end. */
function readImported(folder: string, name: string): RuntimeEntry[] {
  try {
    const { description, env } = JSON.parse(readFileSync(join(folder, name, IMPORTED_FILE), 'utf8')) as Pick<
      RuntimeEntry,
      'description' | 'env'
    >;
    return [{ name, description, env, root: join(folder, name, 'root'), image: null }];
  } catch {
    return [];
  }
}
