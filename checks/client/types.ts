/** The packed declarations with each TypeScript, as consumers compile them. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Consumer } from './bundle.ts';
import { tool } from './tools.ts';

export const VERSIONS = ['5.4', '5.5', '5.6', '5.7', '5.8', '5.9', '6.0', '7.0'] as const;
const RESOLUTIONS = ['nodenext', 'bundler'] as const;
const SOURCES = join(import.meta.dirname, 'consumer');
const LIMIT_MS = 120_000;

/** One consumer for browsers and one for Node; neither skips the check of declarations. */
const KINDS = {
  web: { lib: ['es2022', 'dom', 'dom.iterable'], types: [] },
  node: { lib: ['es2022'], types: ['node'] },
};

/** Returns what was compiled. Throws with the compiler's errors. */
export function typeChecks(version: string, { folder }: Consumer): string[] {
  const tsc = tool(`typescript-${version}`, 'bin', 'tsc');
  const nodeTypes = join(folder, 'node_modules/@types/node');
  if (!existsSync(nodeTypes)) {
    mkdirSync(dirname(nodeTypes), { recursive: true });
    cpSync(tool('@types', 'node'), nodeTypes, { recursive: true });
    cpSync(tool('undici-types'), join(folder, 'node_modules/undici-types'), { recursive: true });
  }
  const done: string[] = [];
  for (const resolution of RESOLUTIONS)
    for (const [kind, { lib, types }] of Object.entries(KINDS)) {
      const place = join(folder, `types-${version}-${resolution}-${kind}`);
      mkdirSync(place);
      copyFileSync(join(SOURCES, `${kind}.ts`), join(place, 'consumer.ts'));
      const compilerOptions = {
        strict: true,
        noEmit: true,
        skipLibCheck: false,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        target: 'es2022',
        module: resolution === 'bundler' ? 'esnext' : 'nodenext',
        moduleResolution: resolution,
        lib,
        types,
      };
      writeFileSync(
        join(place, 'tsconfig.json'),
        JSON.stringify({ compilerOptions, files: ['consumer.ts'] }),
      );
      writeFileSync(join(place, 'package.json'), '{ "type": "module" }\n');
      const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', place], {
        encoding: 'utf8',
        timeout: LIMIT_MS,
      });
      if (status !== 0) throw new Error(`${kind}, ${resolution}:\n${stdout.slice(0, 3_000)}`);
      done.push(`${kind} ${resolution}`);
    }
  return done;
}
