/**
 * Writes openapi.json, or with --check fails when the checked-in file differs from what the service would
 * serve.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { routes } from './app.ts';
import { VERSION } from './boot.ts';
import { openapiDocument } from './http/openapi.ts';

const file = new URL('../../../openapi.json', import.meta.url);
const text = `${JSON.stringify(openapiDocument(routes, VERSION), null, 2)}\n`;
if (process.argv.includes('--check')) {
  if ((await readFile(file, 'utf8').catch(() => '')) !== text) {
    console.error('openapi.json is not what the code says. Run: npm run openapi');
    process.exit(1);
  }
} else {
  await writeFile(file, text);
}
