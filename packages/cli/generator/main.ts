/** Writes `docs/reference/cli.md` from the table of commands, or with --check fails if it is stale. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { COMMANDS } from '../src/commands.ts';
import { referenceOf } from './reference.ts';

const file = join(import.meta.dirname, '../../../docs/reference/cli.md');
const text = referenceOf(COMMANDS);
if (!process.argv.includes('--check')) writeFileSync(file, text);
else if (readFileSync(file, 'utf8') !== text) {
  console.error('docs/reference/cli.md is not what the commands say. Run: npm run openapi');
  process.exitCode = 1;
}
