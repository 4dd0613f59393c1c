import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Plugin } from 'esbuild';
import { runEsbuild, sourcesKey } from '../sandbox/bundle.ts';
import { GuestStore, storeFolder } from '../sandbox/guest-store.ts';

const require = createRequire(import.meta.url);
const SOURCES = fileURLToPath(new URL('..', import.meta.url));
const MAIN = join(SOURCES, 'main.ts');
const NAME = 'runner.mjs';

/**
 * The file that a runner starts from: all its modules in one, made once from these sources. A runner's
 * start and end take 0.24 instead of 0.52 s of CPU time, much of which links 700 small modules. Where no file
 * can be made or kept, the runner starts from its sources.
 */
export async function runnerProgram(stateDir: string): Promise<string> {
  try {
    const store = new GuestStore(storeFolder(stateDir, 'runner'), runnerKey());
    if (!store.has(NAME)) store.keep(NAME, await bundleRunner());
    return store.has(NAME) ? store.pathOf(NAME) : MAIN;
  } catch (error) {
    process.stderr.write(`The runner starts from its sources: ${(error as Error).message}\n`);
    return MAIN;
  }
}

/** A key for the runner's sources and everything that the sandboxes' programs depend on: this Node, the imports. */
function runnerKey(): string {
  const hash = createHash('sha256').update(sourcesKey());
  const names = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !/\.(test|fixture)\.ts$/.test(name))
    .toSorted();
  for (const name of names) hash.update(`${name}\n`).update(readFileSync(join(SOURCES, name)));
  return hash.digest('hex').slice(0, 32);
}

/**
 * What the runner finds by its own path, such as its threads and esbuild, stays where it is, so the file may be
 * anywhere.
 */
const inPlace: Plugin = {
  name: 'in place',
  setup(build) {
    build.onLoad({ filter: /\/packages\/.*\.ts$/ }, ({ path }) => ({
      loader: 'ts',
      contents: readFileSync(path, 'utf8').replaceAll('import.meta.url', addressOf(path)),
    }));
    build.onResolve({ filter: /^esbuild$/ }, ({ path }) => ({
      path: pathToFileURL(require.resolve(path)).href,
      external: true,
    }));
  },
};

async function bundleRunner(): Promise<string> {
  const [file] = await runEsbuild({
    entryPoints: [MAIN],
    format: 'esm',
    absWorkingDir: SOURCES,
    // Its CommonJS packages load Node's modules with `require`.
    banner: {
      js: `import * as nodeModule from 'node:module'; const require = nodeModule.createRequire(${addressOf(MAIN)});`,
    },
    plugins: [inPlace],
  });
  return file!.text;
}

/** As an expression. */
const addressOf = (path: string): string => JSON.stringify(pathToFileURL(path).href);
