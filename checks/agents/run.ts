/**
 * `npm run test:agents`: installs the agents of docs/guides/agents.md from the npm registry into
 * HEADRACE_AGENTS_DIR (default: a folder in the system's temporary folder; about 1.3 GB, kept between runs)
 * and tests them through the service. Not part of `npm test`, which needs no network.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { AGENTS_DIR, agentsOfGuide } from './guide.ts';

const root = join(import.meta.dirname, '../..');
const bin = join(root, 'node_modules/.bin');
const INSTALL_MS = 10 * 60_000,
  PING_MS = 30_000,
  TESTS_MS = 30 * 60_000;

const say = (line: string) => process.stderr.write(`${line}\n`);
// This Node comes first in PATH: the machine's own may be too old for the agents.
const env = { ...process.env, PATH: `${bin}${delimiter}${process.env['PATH'] ?? ''}` };
const npm = (args: string[], timeout: number) =>
  spawnSync('npm', args, {
    env,
    cwd: AGENTS_DIR,
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
    timeout,
  });

mkdirSync(AGENTS_DIR, { recursive: true, mode: 0o755 });
let isReachable: boolean | undefined;
for (const { name, entry } of agentsOfGuide()) {
  const mark = join(entry.folder, '.installed');
  if (existsSync(mark) && readFileSync(mark, 'utf8') === entry.install) continue;
  isReachable ??= npm(['ping'], PING_MS).status === 0;
  if (!isReachable) {
    say(`SKIPPED ${name}: it is not installed in ${entry.folder}, and the npm registry is not reachable`);
    continue;
  }
  say(`Installing ${name}: ${entry.install}`);
  mkdirSync(entry.folder, { recursive: true, mode: 0o755 });
  const { status, stderr } = npm(
    [...entry.install.split(' ').slice(1), '--no-audit', '--no-fund'],
    INSTALL_MS,
  );
  if (status === 0) writeFileSync(mark, entry.install);
  else say(`SKIPPED ${name}: npm install failed\n${stderr.slice(-1000)}`);
}
const { status } = spawnSync(
  process.execPath,
  [join(bin, 'vitest'), 'run', '--config', 'checks/agents/vitest.config.ts', ...process.argv.slice(2)],
  { cwd: root, env, stdio: 'inherit', timeout: TESTS_MS },
);
process.exitCode = status ?? 1;
