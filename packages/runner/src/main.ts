import { chmodSync, mkdirSync, rmSync, unlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { makeServer } from './http/server.ts';
import type { Runner } from './http/routes.ts';
import { prepareHost, releaseHost } from './sandbox/host.ts';
import { probe } from './sandbox/probe.ts';
import { Tasks } from './tasks/tasks.ts';
import { Trees, Workspaces } from './workspaces.ts';

/**
 * The runner process: `node main.ts --socket PATH --dir STATE --id ID [--idle-seconds 30]`. It outlives the worker that started it, so
 * that runs go on over restarts; without any worker for the idle time it ends its sandboxes, removes its files and exits.
 */
const { values } = parseArgs({ options: { socket: { type: 'string' }, dir: { type: 'string' }, id: { type: 'string' }, 'idle-seconds': { type: 'string', default: '30' } } });
const { socket, dir, id } = values;
const idleMs = Number(values['idle-seconds']) * 1000;
if (!socket || !dir || !id || !(idleMs > 0)) fail('usage: main.ts --socket PATH --dir FOLDER --id ID [--idle-seconds N]');

mkdirSync(dir, { recursive: true, mode: 0o700 });
mkdirSync(dirname(socket), { recursive: true, mode: 0o700 });
if (await answers(socket)) fail(`a runner listens on ${socket} already`);

const host = prepareHost();
const trees = new Trees(host);
const workspaces = new Workspaces(trees);
const runner: Runner = { host, workspaces, tasks: new Tasks(host, workspaces), status: { id, pid: process.pid, ...await probe(host) } };

let lastUse = Date.now(), openConnections = 0, isLeaving = false;
const server = makeServer(runner, () => { lastUse = Date.now(); });
server.on('connection', () => { openConnections++; });
// A request that is under way is a worker; an idle kept-alive connection is not.
server.on('error', (error) => { releaseHost(host); fail(error.message); });
listen();

/** A socket file that nobody answers on is left over from a killed runner. */
function listen(): void {
  try { unlinkSync(socket!); } catch { /* none there */ }
  server.listen(socket, () => {
    chmodSync(socket!, 0o600);
    process.stdout.write('{"ready":true}\n');
  });
}

setInterval(() => { if (Date.now() - lastUse > idleMs) void leave(); }, Math.min(1000, idleMs / 4));
process.on('SIGTERM', () => void leave());
process.on('SIGINT', () => void leave());
// The starter's pipes may be gone: a line that cannot be written is no reason to end.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

/** Ends every sandbox, removes the files, exits. What does not end in time dies with this process (bwrap's --die-with-parent). */
async function leave(): Promise<void> {
  if (isLeaving) return;
  isLeaving = true;
  server.close();
  server.closeAllConnections();
  setTimeout(() => process.exit(1), 8_000).unref();
  await Promise.allSettled(runner.tasks.all().map((task) => task.cancel()));
  releaseHost(host);
  rmSync(socket!, { force: true });
  process.exit(0);
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
