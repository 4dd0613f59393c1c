import { chmodSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const AGENT_SOURCES = fileURLToPath(new URL('../../../agent/src/', import.meta.url));

/** Where the guest's programs lie inside a sandbox. */
export const GUEST = '/opt/headrace/agent';

/**
 * Writes the programs that run inside sandboxes (packages/agent) as plain JavaScript, once per runner: stripping types in every
 * sandbox would load the stripper each time (about 30 ms of a 100 ms turn).
 */
export function installGuest(folder: string): void {
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  for (const name of readdirSync(AGENT_SOURCES)) {
    if (!name.endsWith('.ts') || name.endsWith('.test.ts')) continue;
    const code = stripTypeScriptTypes(readFileSync(join(AGENT_SOURCES, name), 'utf8')).replaceAll(/(from '\.\/[\w-]+)\.ts'/g, "$1.js'");
    const file = join(folder, name.replace(/\.ts$/, '.js'));
    writeFileSync(file, code);
    chmodSync(file, 0o644);
  }
}
