import { connect, type Socket } from 'node:net';
import { joinSockets } from './join-sockets.ts';

/**
 * Runs alongside a preview's command: `relay.cjs <unix socket of the runner> <port>`. Its first connection to
 * the socket begins with the line `relay`; the runner sends one word per line on it, a visitor. For each the
 * relay dials the port on the loopback of this network namespace, then the runner's socket, writes the line
 * `<word>+` (joined) or `<word>-` (nothing listens), and pipes. The runner never dials in: a path in here
 * could lead anywhere on the host. The relay writes `listening` once something accepts on the port.
 */
const [socketPath = '', port = ''] = process.argv.slice(2);
const RETRY_MS = 50;

function dial(host: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: Number(port), host, allowHalfOpen: true }, () => resolve(socket));
    socket.once('error', reject);
  });
}

const dialAny = (): Promise<Socket> => dial('127.0.0.1').catch(() => dial('::1'));

async function join(visitor: string): Promise<void> {
  const inside = await dialAny().catch(() => undefined);
  const outside = connect({ path: socketPath, allowHalfOpen: true });
  outside.write(`${visitor}${inside ? '+' : '-'}\n`);
  if (!inside)
    return void outside
      .on('error', () => {
        /* the visitor has gone */
      })
      .end();
  joinSockets(inside, outside);
}

let line = '';
const control = connect({ path: socketPath });
control.write('relay\n');
control
  .setEncoding('latin1')
  .on('data', (part: string) => {
    const lines = (line + part).split('\n');
    line = lines.pop() ?? '';
    for (const visitor of lines) void join(visitor);
  })
  .on('error', () => process.exit())
  .on('close', () => process.exit());

function watch(): void {
  dialAny()
    .then((socket) => {
      socket.destroy();
      control.write('listening\n');
      return undefined;
    })
    .catch(() => setTimeout(watch, RETRY_MS));
}
watch();
