/**
 * `npm run test:client`: packs `@headrace/client`, installs it in an empty project, and tests it there: as a package, with
 * each TypeScript, and in each runtime against the real service. Prints one line per check: passed, FAILED, or NOT TESTED
 * with the reason. Exits with 1 if one fails. Not part of `npm test`, which needs no network.
 *
 *   --only <name>   one check (may be repeated); a beginning is enough
 *   --help
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { transform } from 'esbuild';
import { Webhook } from 'standardwebhooks';
import { helpOf } from '../harness/help.ts';
import { startService } from '../harness/service.ts';
import type { Service } from '../harness/service.ts';
import { packClient } from '../../scripts/client-pack.ts';
import { startCuttingProxy } from '../torture/lib/cutting-proxy.ts';
import { autocomplete, MOST_MS } from './autocomplete.ts';
import type { Consumer } from './bundle.ts';
import { attw, publication, publint, workflow } from './package.ts';
import { RUNTIMES } from './runtimes.ts';
import type { Runtime } from './runtimes.ts';
import { installTools, NotTested } from './tools.ts';
import { typeChecks, VERSIONS } from './types.ts';

/** A check returns a one-line summary. */
type Check = [name: string, run: (given: Given) => Promise<string>];

interface Given {
  scratch: string;
  tarball: string;
  consumer: Consumer;
  service(): Promise<Service>;
}

const { values: options } = parseArgs({
  options: { only: { type: 'string', multiple: true }, help: { type: 'boolean', default: false } },
});
/** Event streams are cut after this many bytes, the first this many times. */
const CUT_BYTES = 2_000;
const CUTS = 3;

const CHECKS: Check[] = [
  ['publint', ({ tarball }) => publint(tarball)],
  ['attw', ({ tarball }) => attw(tarball)],
  ['registry', ({ scratch }) => publication(scratch)],
  ['workflow', workflow],
  ...VERSIONS.map((version): Check => [
    `TypeScript ${version}`,
    async ({ consumer }) => typeChecks(version, consumer).join(', '),
  ]),
  ['autocomplete', completion],
  ...RUNTIMES.map((runtime): Check => [runtime.name, (given) => scenarioIn(runtime, given)]),
];

if (options.help) {
  console.log(helpOf(import.meta.filename));
  console.log(`\nChecks: ${CHECKS.map(([name]) => name).join(', ')}`);
} else await main();

async function main(): Promise<void> {
  const chosen = CHECKS.filter(([name]) => options.only?.some((only) => name.startsWith(only)) ?? true);
  if (chosen.length === 0)
    throw new RangeError(`There is no such check: ${CHECKS.map(([name]) => name).join(', ')}`);
  installTools((line) => console.error(line));
  const scratch = mkdtempSync(join(tmpdir(), 'headrace-client-'));
  let service: Promise<Service> | undefined;
  try {
    const tarball = await packClient(scratch);
    const consumer = await consumerOf(scratch, tarball);
    const given = { scratch, tarball, consumer, service: () => (service ??= startService(scratch)) };
    for (const [name, run] of chosen) console.log(await lineOf(name, () => run(given)));
  } finally {
    await (await service)?.stop();
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function lineOf(name: string, run: () => Promise<string>): Promise<string> {
  const from = performance.now();
  try {
    const saw = await run();
    return `${name.padEnd(16)} passed (${((performance.now() - from) / 1000).toFixed(1)} s): ${saw}`;
  } catch (error) {
    if (error instanceof NotTested) return `${name.padEnd(16)} NOT TESTED: ${error.message}`;
    process.exitCode = 1;
    return `${name.padEnd(16)} FAILED: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** An empty project with the tarball installed without network, and the scenarios as JavaScript. */
async function consumerOf(scratch: string, tarball: string): Promise<Consumer> {
  const folder = join(scratch, 'consumer');
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n');
  const { status, stderr } = spawnSync('npm', ['install', tarball, '--offline', '--no-audit', '--no-fund'], {
    cwd: folder,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`The tarball cannot be installed: ${stderr}`);
  for (const name of ['scenario', 'node-scenario']) {
    const source = readFileSync(join(import.meta.dirname, `${name}.ts`), 'utf8');
    const { code } = await transform(source, { loader: 'ts', format: 'esm', target: 'es2022' });
    writeFileSync(join(folder, `${name}.mjs`), code);
  }
  return { folder };
}

async function completion({ consumer }: Given): Promise<string> {
  const slowest = await autocomplete(consumer);
  if (slowest > MOST_MS)
    throw new Error(`the slowest answer took ${slowest.toFixed(0)} ms, more than ${MOST_MS}`);
  return `the slowest answer took ${slowest.toFixed(0)} ms`;
}

async function scenarioIn(runtime: Runtime, { consumer, service }: Given): Promise<string> {
  const { base, key } = await service();
  let left = CUTS;
  const proxy = await startCuttingProxy(base, (request) =>
    /^GET \S*\/events\/stream/.test(request.toString('latin1')) && left-- > 0
      ? { side: 'response', after: CUT_BYTES }
      : null,
  );
  const strange = await startStranger();
  try {
    const ground = {
      baseUrl: proxy.base,
      key,
      strangeUrl: strange.url,
      isBrowser: false,
      webhook: signed(),
    };
    const done = await runtime.run(consumer, ground);
    if (proxy.cuts() === 0) throw new Error('no stream was cut');
    return `${done.join(', ')}; ${proxy.cuts()} streams cut`;
  } finally {
    strange.close();
    await proxy.close();
  }
}

/** A server that is not Headrace. */
async function startStranger(): Promise<{ url: string; close(): void }> {
  const server = createServer(({ url }, response) => {
    if (url!.startsWith('/redirect')) response.writeHead(302, { location: '/page' }).end();
    else response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in to the hotel</html>');
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** A delivery, signed by another implementation. */
function signed() {
  const secret = `whsec_${Buffer.from('a secret of the runtimes, 32 byte').toString('base64')}`;
  const body = JSON.stringify({ id: 'event', type: 'thread.updated', resourceId: 'thread' });
  const at = new Date();
  return {
    secret,
    body,
    headers: {
      'webhook-id': 'event',
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': new Webhook(secret).sign('event', at, body),
    },
  };
}
