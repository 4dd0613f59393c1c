import { chmodSync, mkdirSync, rmSync, unlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { Gateways } from './tasks/gateways.ts';
import { makeServer } from './http/server.ts';
import type { Runner } from './http/routes.ts';
import { PROTOCOL_VERSION } from './protocol.ts';
import { storeFolder } from './sandbox/guest-store.ts';
import {
  forgetEngine,
  noteEngine,
  removeLeftBehind,
  removeLeftByOthers,
} from './sandbox/container/left-behind.ts';
import { chooseDriver, DEFAULT_CHOICE, type DriverChoice } from './sandbox/drivers.ts';
import { prepareHost, releaseHost } from './sandbox/host.ts';
import type { Probe } from './sandbox/probe.ts';
import { warmUp } from './sandbox/warm-up.ts';
import { Tasks } from './tasks/tasks.ts';
import { Workspaces } from './workspaces/workspaces.ts';
import { Trees } from './workspaces/trees.ts';

/**
 * The runner process: `node main.ts --socket PATH --dir STATE --id ID [--idle-seconds 30] [--sandboxes
 * JSON]`, where JSON is a DriverChoice. It outlives the worker that started it, so that runs continue over
 * restarts. After the idle time without any worker it ends its sandboxes, removes its files and exits.
 */
const { values } = parseArgs({
  options: {
    socket: { type: 'string' },
    dir: { type: 'string' },
    id: { type: 'string' },
    'idle-seconds': { type: 'string', default: '30' },
    sandboxes: { type: 'string', default: '{}' },
  },
});
const choice: DriverChoice = {
  ...DEFAULT_CHOICE,
  ...(JSON.parse(values.sandboxes) as Partial<DriverChoice>),
};
const { socket, dir, id } = values;
const REPROBE_MS = 30_000,
  LEAVE_MS = 8_000,
  LEAVE_ENGINE_MS = 30_000,
  START_GARBAGE_MS = 5_000;
const idleMs = Number(values['idle-seconds']) * 1000;
if (!socket || !dir || !id || !(idleMs > 0))
  fail('usage: main.ts --socket PATH --dir FOLDER --id ID [--idle-seconds N]');

mkdirSync(dir, { recursive: true, mode: 0o700 });
mkdirSync(dirname(socket), { recursive: true, mode: 0o700 });
if (await answers(socket)) fail(`a runner listens on ${socket} already`);
await removeLeftBehind(dir)
  .then(() => removeLeftByOthers(dir))
  .catch((error: Error) => fail(error.message));

const host = await prepareHost(storeFolder(dir));
const trees = new Trees(host);
const workspaces = new Workspaces(host, trees);
const gateways = new Gateways();
const runner: Runner = {
  host,
  workspaces,
  gateways,
  tasks: new Tasks(host, workspaces, gateways),
  status: { id, pid: process.pid, protocol: PROTOCOL_VERSION, asked: choice, ...(await chosen()) },
};

let isLeaving = false,
  isChoosing = false;
const { server, use } = makeServer(runner);
server.once('error', abandon);
await listen();

/** Replaces the socket file that a killed runner left behind. */
async function listen(): Promise<void> {
  // Another runner may have started while this one was slow.
  if (await answers(socket!)) await abandon(new Error(`a runner listens on ${socket} already`));
  try {
    unlinkSync(socket!);
  } catch {
    /* none there */
  }
  server.listen(socket, () => {
    chmodSync(socket!, 0o600);
    process.stdout.write('{"ready":true}\n');
    if (runner.status.ok) void Promise.all([warmUp(host), trees.probe()]);
  });
}

setInterval(
  () => {
    if (use.underWay === 0 && Date.now() - use.lastAt > idleMs) void leave();
  },
  Math.min(1000, idleMs / 4),
);
// What is missing may be installed while the runner runs.
setInterval(() => {
  if (runner.status.ok || isChoosing) return;
  isChoosing = true;
  void chosen()
    .then((found) => Object.assign(runner.status, found))
    .finally(() => {
      isChoosing = false;
    });
}, REPROBE_MS);
// The start leaves 20 MiB behind, which a runner without work would keep.
setTimeout(() => globalThis.gc?.(), START_GARBAGE_MS).unref();
process.on('SIGTERM', () => void leave());
process.on('SIGINT', () => void leave());
// The starter's pipes may be gone: a failed write must not end the runner.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

async function chosen(): Promise<Probe> {
  const found = await chooseDriver(host, choice);
  const engine = host.driver?.engine;
  if (engine != null) noteEngine(dir!, engine);
  return found;
}

async function abandon(error: Error): Promise<never> {
  await releaseHost(host);
  fail(error.message);
}

/**
 * Ends every sandbox, removes the files, exits. What does not end in time dies with this process (bwrap's
 * --die-with-parent), or is a container, which the next runner removes before it answers.
 */
async function leave(): Promise<void> {
  if (isLeaving) return;
  isLeaving = true;
  server.close();
  server.closeAllConnections();
  setTimeout(() => process.exit(1), host.driver?.engine == null ? LEAVE_MS : LEAVE_ENGINE_MS).unref();
  await Promise.allSettled(runner.tasks.all().map((task) => task.cancel()));
  try {
    await releaseHost(host);
    forgetEngine(dir!);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
  }
  rmSync(socket!, { force: true });
  process.exit(0);
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(path, () => {
      probe.destroy();
      resolve(true);
    });
    probe.once('error', () => resolve(false));
  });
}

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
