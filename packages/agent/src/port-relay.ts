import { closeSync, openSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { joinSockets } from './join-sockets.ts';

/**
 * Runs alongside a command: `port-relay.cjs <port> <unix socket of the runner> [<port> <socket> …]`. Listens
 * on the loopback of this network namespace and joins each connection to the socket of its port, behind which
 * is the model gateway or the egress proxy. Closes its output once all ports listen.
 */
const pairs = process.argv.slice(2);
const ports = Array.from({ length: pairs.length / 2 }, (_, i) => ({
  port: Number(pairs[2 * i]),
  path: pairs[2 * i + 1]!,
}));

let waiting = ports.length;
for (const { port, path } of ports) {
  createServer({ allowHalfOpen: true }, (inside) =>
    joinSockets(inside, connect({ path, allowHalfOpen: true })),
  ).listen(port, '127.0.0.1', () => {
    if (--waiting > 0) return;
    closeSync(1);
    // Takes the lowest free number, 1 again: as a connection's, libuv would refuse it.
    openSync('/dev/null', 'w');
  });
}
