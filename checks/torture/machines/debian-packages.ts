/** Servers of Debian's packages, unpacked into a folder of their own, so that nothing of the machine changes. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const DOWNLOAD_LIMIT_MS = 600_000;
const UNPACK_LIMIT_MS = 120_000;

export const LIBRARIES = 'usr/lib/x86_64-linux-gnu';

/** By cache: parts that run beside each other want the same packages at once. */
const unpacking = new Map<string, Promise<string>>();

/**
 * The folder in `cache` where the packages, and what they need and is missing here, are unpacked, once for all runs.
 * Rejects where they cannot be had.
 */
export function unpackedPackages(cache: string, packages: readonly string[]): Promise<string> {
  const root = join(cache, 'root');
  if (existsSync(root)) return Promise.resolve(root);
  const under = unpacking.get(cache) ?? unpack(cache, packages);
  unpacking.set(cache, under);
  return under;
}

async function unpack(cache: string, packages: readonly string[]): Promise<string> {
  const root = join(cache, 'root');
  const debs = join(cache, 'debs');
  const part = join(cache, `root.${process.pid}`);
  mkdirSync(join(debs, 'partial'), { recursive: true });
  const options = [
    '-qq',
    '-y',
    '--no-install-recommends',
    '--download-only',
    '-o',
    'DPkg::Lock::Timeout=300',
  ];
  await promisify(execFile)(
    'apt-get',
    ['install', ...options, '-o', `Dir::Cache::archives=${debs}`, ...packages],
    { timeout: DOWNLOAD_LIMIT_MS },
  );
  for (const deb of readdirSync(debs).filter((name) => name.endsWith('.deb')))
    await promisify(execFile)('dpkg', ['-x', join(debs, deb), part], { timeout: UNPACK_LIMIT_MS });
  renameSync(part, root);
  rmSync(debs, { recursive: true });
  return root;
}

/** For LD_LIBRARY_PATH. */
export const libraryPath = (root: string, ...more: string[]): string =>
  [LIBRARIES, 'lib/x86_64-linux-gnu', ...more].map((name) => join(root, name)).join(':');
