/**
 * `node machine.ts SOCKET TOKEN-FILE FOLDER`: the other machine of the demo. Its loopback leads to the service through the socket,
 * and `headrace host` does the rest.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

const CLI = join(import.meta.dirname, '../../packages/cli/src/main.ts');
const [socket = '', tokenFile = '', folder = ''] = process.argv.slice(2);

const server = createServer((near) => {
  const far = connect(socket);
  near.on('error', () => far.destroy()).pipe(far);
  far.on('error', () => near.destroy()).pipe(near);
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const child = spawn(
  process.execPath,
  [
    CLI,
    'host',
    '--yes',
    `--url=${url}`,
    `--token-file=${tokenFile}`,
    '--share=organization',
    `--bind=workshop=${folder}`,
    '--agent=agent_a=scripted',
  ],
  { stdio: 'inherit' },
);
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => child.kill('SIGTERM'));
const [code] = (await once(child, 'exit')) as [number | null];
process.exit(code ?? 1);
