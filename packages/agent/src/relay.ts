import { connect, type Socket } from 'node:net';
import { joinSockets } from './join-sockets.ts';

/**
 * Runs beside a preview's command: `relay.js <unix socket of the runner> <port>`. On descriptor 0 comes one number per line, a visitor;
 * for each it dials the port on the loopback of this network namespace, then the runner's socket, says `<number>+` (joined) or
 * `<number>-` (nothing listens) in a line, and pipes. The runner never dials in: a path in here could lead anywhere on the host.
 * Prints `listening` once something accepts on the port.
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
  if (!inside) return void outside.on('error', () => { /* the visitor has gone */ }).end();
  joinSockets(inside, outside);
}

let line = '';
process.stdin.setEncoding('latin1').on('data', (part: string) => {
  const lines = (line + part).split('\n');
  line = lines.pop() ?? '';
  for (const visitor of lines) void join(visitor);
}).on('end', () => process.exit());

function watch(): void {
  dialAny().then((socket) => { socket.destroy(); process.stdout.write('listening\n'); return undefined; }).catch(() => setTimeout(watch, RETRY_MS));
}
watch();
