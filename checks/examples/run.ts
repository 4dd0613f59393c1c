/**
 * `npm run test:examples [-- <example>…]`: installs each example that is a package in its own folder, with the packed
 * client and the npm registry, as a new user would, and runs its tests without and with a real service, with the Node
 * of the machine. Not part of `npm test`, which needs no network.
 */
import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { packClient } from '../../scripts/client-pack.ts';
import { startService } from '../harness/service.ts';
import type { Service } from '../harness/service.ts';

const root = join(import.meta.dirname, '../..');
const EXAMPLES = join(root, 'examples');
const INSTALL_MS = 10 * 60_000;
const TEST_MS = 10 * 60_000;

interface Manifest {
  dependencies?: Record<string, string>;
}
const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;

/** The folders that are packages and use the client. */
const packages = readdirSync(EXAMPLES).filter(
  (name) =>
    existsSync(join(EXAMPLES, name, 'package.json')) &&
    '@headrace/client' in (manifestOf(join(EXAMPLES, name)).dependencies ?? {}),
);

/** The machine's own programs, not those of this checkout. */
const PATH = (process.env['PATH'] ?? '')
  .split(delimiter)
  .filter((folder) => !folder.includes('node_modules'))
  .join(delimiter);

function run(command: string[], cwd: string, env: Record<string, string>, timeout: number): Promise<boolean> {
  const [file, ...args] = command;
  const child = spawn(file!, args, {
    cwd,
    env: { PATH, HOME: process.env['HOME'], CI: '1', ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
    timeout,
  });
  return new Promise((resolve) => {
    child.once('error', () => resolve(false)).once('close', (code) => resolve(code === 0));
  });
}

/** Runs its tests. The client comes from the tarball, since the registry does not have it. */
async function isGreen(name: string, scratch: string, tarball: string, service: Service): Promise<boolean> {
  const folder = join(scratch, name);
  cpSync(join(EXAMPLES, name), folder, {
    recursive: true,
    filter: (path) => !/[\\/](node_modules|\.next|\.data)$/.test(path),
  });
  const manifest = manifestOf(folder);
  manifest.dependencies!['@headrace/client'] = `file:${tarball}`;
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest, null, 2));
  const install = ['npm', 'install', '--no-audit', '--no-fund', '--loglevel=error'];
  if (!(await run(install, folder, {}, INSTALL_MS))) return false;
  const env = { HEADRACE_URL: service.base, HEADRACE_KEY: service.key };
  return (
    (await run(['npm', 'test'], folder, {}, TEST_MS)) && (await run(['npm', 'test'], folder, env, TEST_MS))
  );
}

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !packages.includes(name));
if (unknown.length) {
  process.stderr.write(`There is no example ${unknown.join(', ')}; there are ${packages.join(', ')}.\n`);
  process.exit(2);
}
const scratch = mkdtempSync(join(tmpdir(), 'headrace-examples-'));
let service: Service | undefined;
const failed: string[] = [];
try {
  const tarball = await packClient(scratch);
  service = await startService(scratch);
  for (const name of wanted.length ? wanted : packages) {
    process.stdout.write(`\n== ${name}\n`);
    if (!(await isGreen(name, scratch, tarball, service))) failed.push(name);
  }
} finally {
  await service?.stop();
  rmSync(scratch, { recursive: true, force: true });
}
process.stdout.write(failed.length ? `\nFAILED: ${failed.join(', ')}\n` : '\nall examples are ok\n');
process.exitCode = failed.length ? 1 : 0;
