/**
 * `npm run cli:pack [-- <folder>]`: builds `@headrace/cli` and packs it into a tarball in the folder (default: the current
 * one), as it would be published. Prints the tarball's path.
 *
 * The package has the remote commands. What it uses for a terminal is bundled, with the licences, so that an installation
 * is two packages: this one, and `@headrace/client`. The operator's commands need the server's packages: of them, it has
 * only what the table says.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import type { Metafile, Plugin } from 'esbuild';
import { copyDocuments, packed } from './pack.ts';

const root = join(import.meta.dirname, '..');
const PACKAGE = join(root, 'packages/cli');
const RUNNER = join(root, 'packages/runner');
const AGENT = join(root, 'packages/agent/src');
const REQUIRE =
  "import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url);";
interface Manifest {
  private?: boolean;
  dependencies: Record<string, string>;
}

/** Builds the package in `folder`, from which `npm publish` can publish it. */
async function stageCli(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const { metafile } = await build({
    // The built-in agent is a program of its own, which a host starts.
    entryPoints: { headrace: join(PACKAGE, 'src/main.ts'), scripted: join(AGENT, 'scripted.ts') },
    absWorkingDir: root,
    outdir: join(folder, 'dist'),
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    chunkNames: 'chunks/[name]-[hash]',
    minifySyntax: true,
    minifyWhitespace: true,
    // `ws` is CommonJS, which asks for Node's own modules by require.
    banner: { js: REQUIRE },
    external: ['@headrace/client'],
    plugins: [withoutHost],
    metafile: true,
    logLevel: 'warning',
  });
  copyDocuments(PACKAGE, folder);
  writeFileSync(join(folder, 'THIRD-PARTY.txt'), licencesOf(metafile));
  const manifest = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8')) as Manifest;
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(published(manifest), null, 2)}\n`);
}

export const packCli = (folder: string): Promise<string> => packed(folder, stageCli);

/**
 * The operator's code stays out: its commands then say that they work on the host of the service. Of the runner it has what
 * `headrace host` is made of.
 */
const withoutHost: Plugin = {
  name: 'without-host',
  setup(builder) {
    builder.onResolve({ filter: /^\.\// }, ({ path, importer, kind }) =>
      kind === 'dynamic-import' &&
      importer === join(PACKAGE, 'src/operator/commands.ts') &&
      path !== './examine-service.ts'
        ? { path, external: true }
        : undefined,
    );
    builder.onResolve({ filter: /^@headrace\/(server|runner|agent)/ }, ({ path, importer }) =>
      path === '@headrace/runner/host' || (path.startsWith('@headrace/agent/') && importer.startsWith(RUNNER))
        ? undefined
        : { errors: [{ text: `${importer} imports ${path}, which the published package does not have.` }] },
    );
  },
};

/** Of the packages in the bundle. */
function licencesOf({ inputs }: Metafile): string {
  const folders = new Set(
    Object.keys(inputs).flatMap((path) => /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []),
  );
  return [...folders]
    .sort()
    .map((folder) => {
      const { name, version } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as {
        name: string;
        version: string;
      };
      const licence = readdirSync(join(root, folder)).find((file) => /^licen[cs]e/i.test(file));
      if (licence === undefined) throw new Error(`${name} has no licence, so it cannot be bundled.`);
      return `${name} ${version}\n\n${readFileSync(join(root, folder, licence), 'utf8').trim()}\n`;
    })
    .join(`\n${'-'.repeat(80)}\n\n`);
}

function published(workspace: Manifest): object {
  const { private: _, ...manifest } = workspace;
  const client = '@headrace/client';
  return {
    ...manifest,
    bin: { headrace: 'dist/headrace.js' },
    dependencies: { [client]: manifest.dependencies[client] },
  };
}

if (import.meta.main) {
  const folder = resolve(process.argv[2] ?? '.');
  mkdirSync(folder, { recursive: true });
  process.stdout.write(`${await packCli(folder)}\n`);
}
