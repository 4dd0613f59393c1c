/**
 * Writes `src/generated` from `openapi.json`, and the reference from both, or with --check fails if one is stale.
 * The types have every named schema once.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { OpenApi } from './document.ts';
import { inputsOf, interfacesOf, methodsOf, tableOf } from './methods.ts';
import type { Method } from './methods.ts';
import { referenceOf } from './reference.ts';
import { errorCodes, namedTypes } from './types.ts';

const ROOT = join(import.meta.dirname, '../../..');
const TARGET = join(import.meta.dirname, '../src/generated');
const HEADER = '// Made from openapi.json by `npm run openapi`. Do not edit.\n';

const document = JSON.parse(readFileSync(join(ROOT, 'openapi.json'), 'utf8')) as OpenApi;
const methods = methodsOf(document);
const files: Record<string, string> = {
  'types.ts': `${HEADER}${namedTypes(document)}\n${inputsOf(methods)}\n/** The service may add further ones. */
export type ErrorCode = ${errorCodes(document)
    .map((code) => `'${code}'`)
    .join(' | ')};\n`,
  'methods.ts': `${HEADER}import type { Bound, Call, ListCall, WorkCall } from '../call.ts';
import type { Bytes } from '../http.ts';
import type { CallOptions, PageOptions, WriteOptions } from '../options.ts';
import type { ${namesIn(document, methods).join(', ')} } from './types.ts';\n\n${interfacesOf(methods)}`,
  'table.ts': `${HEADER}export const TABLE: string = \`\n${tableOf(methods)}\n\`;\n`,
};

/** Types that the methods use. */
function namesIn(from: OpenApi, of: readonly Method[]): string[] {
  const declared = [
    ...`${namedTypes(from)}${inputsOf(of)}`.matchAll(/^export (?:type|interface) (\w+)/gm),
  ].map(([, name]) => name!);
  const used = new Set(interfacesOf(of).match(/\w+/g));
  return declared.filter((name) => used.has(name)).toSorted();
}

const targets = Object.entries(format(files)).map(([name, text]) => [join(TARGET, name), text] as const);
const isCheck = process.argv.includes('--check');
for (const [file, text] of [
  ...targets,
  [join(ROOT, 'docs/reference/client.md'), referenceOf(methods)] as const,
]) {
  if (!isCheck) writeFileSync(file, text);
  else if (readFileSync(file, 'utf8') !== text) {
    console.error(
      `${relative(ROOT, file)} is not what openapi.json and the sources say. Run: npm run openapi`,
    );
    process.exitCode = 1;
  }
}

/** Writes them as the repository's formatter does, so that both agree. */
function format(texts: Record<string, string>): Record<string, string> {
  const folder = mkdtempSync(join(TARGET, '.making-'));
  try {
    for (const [name, text] of Object.entries(texts)) writeFileSync(join(folder, name), text);
    execFileSync(join(ROOT, 'node_modules/.bin/oxfmt'), [folder], { stdio: ['ignore', 'ignore', 'inherit'] });
    return Object.fromEntries(
      Object.keys(texts).map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}
