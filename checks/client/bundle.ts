import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

/** A folder with the packed client installed and the scenario in it. */
export interface Consumer {
  folder: string;
}

/** Bundles `entry` and its imports into one file, as bundlers do for browsers and Workers. */
export async function bundled({ folder }: Consumer, entry: string): Promise<string> {
  const scratch = mkdtempSync(join(folder, 'bundle-'));
  try {
    const main = join(scratch, 'main.mjs');
    writeFileSync(main, entry);
    const { outputFiles } = await build({
      entryPoints: [main],
      bundle: true,
      write: false,
      format: 'esm',
      platform: 'browser',
      target: 'es2022',
      logLevel: 'silent',
    });
    return outputFiles[0]!.text;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/**
 * Bytes that a page would load for a module and all its imports, minified and compressed. Throws if it imports
 * something that browsers lack.
 */
export async function gzippedBundle(module: string, folder: string): Promise<number> {
  const { outputFiles } = await build({
    stdin: { contents: `export * from ${JSON.stringify(module)};`, resolveDir: folder },
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    logLevel: 'silent',
  });
  return gzipSync(outputFiles[0]!.contents, { level: 9 }).length;
}
