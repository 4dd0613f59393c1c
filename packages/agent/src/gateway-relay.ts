import { connect, createServer } from 'node:net';
import { joinSockets } from './join-sockets.ts';

/**
 * Runs beside an agent: `gateway-relay.cjs <unix socket of the runner> <port>`. Listens on the loopback of this network namespace and joins each
 * connection to the runner's socket, behind which is the model gateway. Prints `listening`; ends with its stdin.
 */
const [path = '', port = ''] = process.argv.slice(2);

createServer({ allowHalfOpen: true }, (inside) => {
  const outside = connect({ path, allowHalfOpen: true });
  joinSockets(inside, outside);
}).listen(Number(port), '127.0.0.1', () => process.stdout.write('listening\n'));
process.stdin.resume().on('end', () => process.exit());
