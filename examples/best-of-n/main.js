#!/usr/bin/env node
/**
 *     HEADRACE_KEY=hrk_… node main.js [--app ID] [--model ID]… [--budget USD] [--build COMMAND] [--output FOLDER] PROMPT.md…
 *
 * Each prompt with each model is a candidate. Without --app, it creates a new app from `app/`.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createClient, HeadraceError } from '@headrace/client';
import { push } from '@headrace/client/node';
import { bestOf } from './best-of-n.js';

const USD = 1_000_000;
const { HEADRACE_URL = 'http://127.0.0.1:4400', HEADRACE_KEY } = process.env;
const USAGE = 'HEADRACE_KEY=hrk_… node main.js [--app ID] [--model ID]… [--budget USD] [--build COMMAND] [--output FOLDER] PROMPT.md…';

function inputOf(args) {
  const options = { app: { type: 'string' }, model: { type: 'string', multiple: true }, budget: { type: 'string', default: '5' }, build: { type: 'string', default: 'node build.js' }, output: { type: 'string', default: 'dist' } };
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
  if (!HEADRACE_KEY) throw new Error('Set HEADRACE_KEY to a service key.');
  if (!positionals.length) throw new Error('Name at least one file with a prompt.');
  if (!(Number(values.budget) > 0)) throw new Error('--budget is an amount of US dollars, for example 2.50.');
  return { ...values, prompts: positionals };
}

const show = ({ name, state, lines, costMicros, reason }) =>
  console.log([name.padEnd(12), state.padEnd(12), lines === undefined ? '' : `${lines} lines`, `$${(costMicros / USD).toFixed(4)}`, reason ?? ''].join('  ').trimEnd());

async function main(input) {
  const headrace = createClient({ baseUrl: HEADRACE_URL, key: HEADRACE_KEY });
  const prompts = await Promise.all(input.prompts.map((path) => readFile(path, 'utf8')));
  const appId = input.app ?? (await headrace.apps.create({ name: 'Best of N' })).id;
  if (!input.app) await push(headrace, appId, join(import.meta.dirname, 'app'));
  const candidates = prompts.flatMap((prompt) => (input.model ?? [undefined]).map((modelId) => ({ prompt, modelId })));
  const build = { command: input.build, outputDirectory: input.output };
  const results = await bestOf(headrace, { appId, candidates, build, budgetMicros: Number(input.budget) * USD });
  results.forEach(show);
  return results.some(({ state }) => state === 'applied') ? 0 : 1;
}

let input;
try {
  input = inputOf(process.argv.slice(2));
} catch (error) {
  console.error(`${error.message}\n${USAGE}`);
  process.exit(2);
}
try {
  process.exitCode = await main(input);
} catch (error) {
  // The service's messages are meant for people; anything else is a defect of this program.
  console.error(error instanceof HeadraceError ? `${error.code}: ${error.message}` : error);
  process.exitCode = error instanceof HeadraceError && error.status === 0 ? 3 : 1;
}
