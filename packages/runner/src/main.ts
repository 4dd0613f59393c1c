import { mkdirSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { judgeLimits } from './machine/judge-limits.ts';
import { newRunnerId } from './runner-id.ts';
import type { MachineOptions } from './machine/options.ts';
import { serveMachine } from './machine/serve-machine.ts';
import { WorkerLinks } from './machine/worker-links.ts';
import { prepareRunner, type RunnerProcess } from './runner-process.ts';
import { DEFAULT_CHOICE, type DriverChoice } from './sandbox/drivers.ts';
import { claimSocket, serveSocket } from './serve-socket.ts';
import { Gateways } from './tasks/gateways.ts';
import { TlsCredentials } from './tls/index.ts';

/**
 * The runner process, of one machine or on a node:
 *
 *   node main.ts --dir STATE --socket PATH --id ID [--idle-seconds 30] [--sandboxes JSON] [--place FOLDER]
 *   node main.ts --dir STATE --machine JSON [--sandboxes JSON] [--place FOLDER]
 *
 * with a DriverChoice as `--sandboxes`, MachineOptions as `--machine`, and the folder of workspaces as `--place`. On one machine it outlives the worker
 * that started it, so that runs continue over restarts; after the idle time without any worker it ends its
 * sandboxes, removes its files and exits.
 */
const { values } = parseArgs({
  options: {
    socket: { type: 'string' },
    dir: { type: 'string' },
    id: { type: 'string' },
    'idle-seconds': { type: 'string', default: '30' },
    sandboxes: { type: 'string', default: '{}' },
    machine: { type: 'string' },
    place: { type: 'string' },
  },
});
const choice: DriverChoice = {
  ...DEFAULT_CHOICE,
  ...(JSON.parse(values.sandboxes) as Partial<DriverChoice>),
};
const { socket, dir, id, machine, place = null } = values;
const idleMs = Number(values['idle-seconds']) * 1000;
if (!dir || (!machine && (!socket || !id)) || !(idleMs > 0))
  fail('usage: main.ts --dir FOLDER (--socket PATH --id ID [--idle-seconds N] | --machine JSON)');
mkdirSync(dir, { recursive: true, mode: 0o700 });
// The starter's pipes may be gone: a failed write must not end the runner.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

let prepared: RunnerProcess | undefined;
try {
  if (machine) await onNode(JSON.parse(machine) as MachineOptions);
  else await onSocket(socket!, id!);
} catch (error) {
  await prepared?.abandon();
  fail((error as Error).message);
}

async function onSocket(path: string, name: string): Promise<void> {
  await claimSocket(path);
  prepared = await prepareRunner({ dir: dir!, id: name, choice, place, gateways: new Gateways() });
  await serveSocket(prepared, path, idleMs);
}

async function onNode(options: MachineOptions): Promise<void> {
  const tls = new TlsCredentials(options.tls);
  const workers = new WorkerLinks(options.workers, tls);
  const judge = judgeLimits(options.limits);
  prepared = await prepareRunner({ dir: dir!, id: newRunnerId(), choice, place, gateways: workers, judge });
  await serveMachine(prepared, { options, tls, workers });
}

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
