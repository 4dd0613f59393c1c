import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BuildOptions, OutputFile } from 'esbuild';

const SOURCES = dirname(createRequire(import.meta.url).resolve('@headrace/agent/scripted.ts'));
const LOCK = fileURLToPath(new URL('../../../../package-lock.json', import.meta.url));

/**
 * A key for everything that the guest's programs are made from: their sources, the versions of their imports,
 * this Node.
 */
export function sourcesKey(): string {
  const hash = createHash('sha256').update(`${process.version} ${process.arch}\n`);
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .sort();
  for (const file of [...files.map((name) => join(SOURCES, name)), LOCK, fileURLToPath(import.meta.url)])
    if (existsSync(file)) hash.update(`${file}\n`).update(readFileSync(file));
  return hash.digest('hex').slice(0, 32);
}

let underWay = 0;

/** Whether packages/agent has the source of this program, a path without its extension. */
export const hasSource = (program: string): boolean => existsSync(join(SOURCES, `${program}.ts`));

/**
 * Each program and all its imports as one CommonJS file, the form that starts fastest: name → text. The
 * small ones take 45 ms, the one with the AI SDK 350 ms.
 */
export async function bundle(programs: Record<string, string>): Promise<Map<string, string>> {
  const outputFiles = await runEsbuild({
    entryPoints: Object.fromEntries(
      Object.entries(programs).map(([name, source]) => [name, join(SOURCES, `${source}.ts`)]),
    ),
    format: 'cjs',
    absWorkingDir: SOURCES,
    outdir: '/',
  });
  return new Map(outputFiles.map(({ path, text }) => [path.slice(1, -'.js'.length), text]));
}

/**
 * Programs for this Node, each with all its imports in one file. esbuild runs as its own process and is
 * loaded only here: if the programs are in the store, it never starts.
 */
export async function runEsbuild(options: BuildOptions): Promise<OutputFile[]> {
  const { build, stop } = await import('esbuild');
  underWay++;
  try {
    const { outputFiles } = await build({
      bundle: true,
      platform: 'node',
      target: `node${process.versions.node}`,
      charset: 'utf8',
      legalComments: 'none',
      logLevel: 'silent',
      ...options,
      write: false,
    });
    return outputFiles;
  } finally {
    if (--underWay === 0) await stop();
  } // stopped, it would never answer another
}
