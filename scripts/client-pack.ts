/**
 * `npm run client:pack [-- <folder>]`: builds `@headrace/client` and packs it into a tarball in the folder (default: the
 * current one), as it would be published. Prints the tarball's path.
 *
 * In the workspace the package's exports are its sources; in the tarball they are what tsc makes of them.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { copyDocuments, packed } from './pack.ts';

const run = promisify(execFile);
const LIMIT_MS = 120_000;

const root = join(import.meta.dirname, '..');
const PACKAGE = join(root, 'packages/client');

interface Manifest {
  private?: boolean;
  exports: Record<string, unknown>;
}

/** Builds the package in `folder`, from which `npm publish` can publish it. */
export async function stageClient(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const config = join(PACKAGE, 'tsconfig.build.json');
  const tsc = join(root, 'node_modules/.bin/tsc');
  await run(process.execPath, [tsc, '-p', config, '--outDir', join(folder, 'dist')], {
    timeout: LIMIT_MS,
  }).catch((error: Error & { stdout?: string }) => {
    throw new Error(`The client does not compile:\n${error.stdout || error.message}`);
  });
  copyDocuments(PACKAGE, folder);
  const manifest = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8')) as Manifest;
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(published(manifest), null, 2)}\n`);
}

export const packClient = (folder: string): Promise<string> => packed(folder, stageClient);

/** The manifest as it is published: the exports are the compiled files. */
function published(workspace: Manifest): Manifest {
  const { private: _, ...manifest } = workspace;
  const entries = Object.entries(manifest.exports).map(([name, source]) => {
    const compiled = /^\.\/src\/(.*)\.ts$/.exec(String(source))?.[1];
    if (compiled === undefined)
      throw new Error(`${name} is exported from ${String(source)}, which is no source.`);
    return [name, { types: `./dist/${compiled}.d.ts`, default: `./dist/${compiled}.js` }];
  });
  return { ...manifest, exports: Object.fromEntries(entries) as Manifest['exports'] };
}

if (import.meta.main) {
  const folder = resolve(process.argv[2] ?? '.');
  mkdirSync(folder, { recursive: true });
  process.stdout.write(`${await packClient(folder)}\n`);
}
