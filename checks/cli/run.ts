/**
 * `npm run test:cli`: packs `@headrace/cli` and `@headrace/client`, installs them in an empty folder, and uses the command
 * there as a stranger does: as an unprivileged user, in folders with spaces, with the Node of the machine and with Node 26,
 * against the real service. Prints one line per check: passed, FAILED, or NOT TESTED with the reason. Exits with 1 if one
 * fails. Not part of `npm test`.
 *
 *   --help
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { parseArgs } from 'node:util';
import { helpOf } from '../harness/help.ts';
import { startService } from '../harness/service.ts';
import { installed } from './install.ts';
import type { Person } from './scenario.ts';
import { firstFiveMinutes } from './scenario.ts';

const MOST_PACKAGES = 6;
const MOST_BYTES = 2_000_000;
/** The user and group `nobody`. */
const NOBODY = 65_534;

const { values: options } = parseArgs({ options: { help: { type: 'boolean', default: false } } });
if (options.help) console.log(helpOf(import.meta.filename));
else await main();

async function main(): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'headrace cli '));
  chmodSync(scratch, 0o755);
  const service = await startService(scratch);
  try {
    await check('install', async () => {
      const { packages, bytes } = await installed(scratch);
      if (packages > MOST_PACKAGES || bytes > MOST_BYTES)
        throw new Error(`${packages} packages, ${bytes} bytes are too many`);
      return `${packages} packages, ${(bytes / 1000).toFixed(0)} kB`;
    });
    for (const node of nodes()) {
      const person = personIn(scratch, node);
      await check(`Node ${versionOf(node)}`, () => firstFiveMinutes(person, service));
    }
  } finally {
    await service.stop();
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function check(name: string, run: () => Promise<string>): Promise<void> {
  const from = performance.now();
  const line = await run().then(
    (saw) => `passed (${((performance.now() - from) / 1000).toFixed(1)} s): ${saw}`,
    (error: unknown) => {
      process.exitCode = 1;
      return `FAILED: ${error instanceof Error ? error.message : String(error)}`;
    },
  );
  console.log(`${name.padEnd(16)} ${line}`);
}

/** The machine's own Node, and the one that runs this. */
function nodes(): string[] {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const own = folders
    .filter((folder) => !folder.includes('node_modules'))
    .map((folder) => join(folder, 'node'))
    .find((file) => statSync(file, { throwIfNoEntry: false })?.isFile());
  if (own === undefined)
    console.log(`${'Node 20'.padEnd(16)} NOT TESTED: the machine has no Node of its own`);
  return [...(own === undefined ? [] : [own]), process.execPath];
}

function versionOf(node: string): string {
  return execFileSync(node, ['--version'], { encoding: 'utf8' }).trim().slice(1);
}

/** A user with an empty home and a working folder of their own; without rights, if this process may change its user. */
function personIn(scratch: string, node: string): Person {
  const home = mkdtempSync(join(scratch, 'a home '));
  const cwd = join(home, 'my folder');
  mkdirSync(cwd);
  const isRoot = process.getuid?.() === 0;
  if (isRoot) for (const folder of [home, cwd]) chownSync(folder, NOBODY, NOBODY);
  return {
    node,
    program: join(scratch, 'an install/node_modules/.bin/headrace'),
    home,
    cwd,
    user: isRoot ? { uid: NOBODY, gid: NOBODY } : {},
  };
}
