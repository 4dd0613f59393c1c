import { chmodSync, closeSync, mkdirSync, readdirSync, readFileSync, rmSync, unlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { Gateways } from './gateways.ts';
import { makeServer } from './http/server.ts';
import type { Runner } from './http/routes.ts';
import { storeFolder } from './sandbox/guest-store.ts';
import { chooseDriver, DEFAULT_CHOICE, type DriverChoice } from './sandbox/drivers.ts';
import { prepareHost, releaseHost } from './sandbox/host.ts';
import { warmUp } from './sandbox/warm-up.ts';
import { Tasks } from './tasks/tasks.ts';
import { Workspaces } from './workspaces.ts';
import { Trees } from './workspaces/trees.ts';

/**
 * The runner process: `node main.ts --socket PATH --dir STATE --id ID [--idle-seconds 30] [--sandboxes JSON]`, a DriverChoice. It outlives the worker that started it, so
 * that runs go on over restarts; without any worker for the idle time it ends its sandboxes, removes its files and exits.
 */
const { values } = parseArgs({ options: { socket: { type: 'string' }, dir: { type: 'string' }, id: { type: 'string' }, 'idle-seconds': { type: 'string', default: '30' }, sandboxes: { type: 'string', default: '{}' } } });
const choice: DriverChoice = { ...DEFAULT_CHOICE, ...JSON.parse(values.sandboxes) as Partial<DriverChoice> };
const { socket, dir, id } = values;
const O_CLOEXEC = 0o2000000;
const REPROBE_MS = 30_000;
const idleMs = Number(values['idle-seconds']) * 1000;
if (!socket || !dir || !id || !(idleMs > 0)) fail('usage: main.ts --socket PATH --dir FOLDER --id ID [--idle-seconds N]');

closeInherited();
mkdirSync(dir, { recursive: true, mode: 0o700 });
mkdirSync(dirname(socket), { recursive: true, mode: 0o700 });
if (await answers(socket)) fail(`a runner listens on ${socket} already`);

const host = await prepareHost(storeFolder(dir));
const trees = new Trees(host);
const workspaces = new Workspaces(trees);
const gateways = new Gateways();
const runner: Runner = { host, workspaces, gateways, tasks: new Tasks(host, workspaces, gateways), status: { id, pid: process.pid, ...await chooseDriver(host, choice) } };

let isLeaving = false;
const { server, use } = makeServer(runner);
server.once('error', abandon);
listen();

/** A socket file that nobody answers on is left over from a killed runner. */
function listen(): void {
  try { unlinkSync(socket!); } catch { /* none there */ }
  server.listen(socket, () => {
    chmodSync(socket!, 0o600);
    process.stdout.write('{"ready":true}\n');
    if (runner.status.ok) void Promise.all([warmUp(host), trees.probe()]);
  });
}

setInterval(() => { if (use.underWay === 0 && Date.now() - use.lastAt > idleMs) void leave(); }, Math.min(1000, idleMs / 4));
// What is missing may be put right while the runner runs.
setInterval(() => {
  if (runner.status.ok) return;
  void chooseDriver(host, choice).then((found) => Object.assign(runner.status, found));
}, REPROBE_MS);
process.on('SIGTERM', () => void leave());
process.on('SIGINT', () => void leave());
// The starter's pipes may be gone: a line that cannot be written is no reason to end.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

async function abandon(error: Error): Promise<never> {
  await releaseHost(host);
  fail(error.message);
}

/** Ends every sandbox, removes the files, exits. What does not end in time dies with this process (bwrap's --die-with-parent). */
async function leave(): Promise<void> {
  if (isLeaving) return;
  isLeaving = true;
  server.close();
  server.closeAllConnections();
  setTimeout(() => process.exit(1), 8_000).unref();
  await Promise.allSettled(runner.tasks.all().map((task) => task.cancel()));
  await releaseHost(host);
  rmSync(socket!, { force: true });
  process.exit(0);
}

/** Descriptors without close-on-exec came from the starter (Node sets it on its own): every sandbox would inherit them. */
function closeInherited(): void {
  for (const fd of readdirSync('/proc/self/fd').map(Number).filter((number) => number > 2)) {
    try {
      const flags = /^flags:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1'))?.[1];
      if (flags !== undefined && (Number.parseInt(flags, 8) & O_CLOEXEC) === 0) closeSync(fd);
    } catch { /* the one that read the folder */ }
  }
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(path, () => { probe.destroy(); resolve(true); });
    probe.once('error', () => resolve(false));
  });
}

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
