/** Bounds the connections that one address has to the listener. */
import type { Server } from 'node:http';
import { BlockList, isIPv6 } from 'node:net';
import type { Socket } from 'node:net';
import { networkOf } from '../limits/networks.ts';

const SAY_EVERY_MS = 60_000;
const REFUSAL =
  'HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n';

interface Bound {
  limit: number;
  /** Addresses behind which many callers are. */
  isExempt: (address: string) => boolean;
  /** Called once a minute at most. */
  onRefusal: (address: string) => void;
}

/** A connection beyond the limit is answered 429 and closed, whatever is asked on it. */
export function boundConnections(server: Server, { limit, isExempt, onRefusal }: Bound): void {
  const open = new Map<string, number>();
  let saidAt = -Infinity;
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress;
    if (address === undefined || isExempt(address)) return;
    const network = networkOf(address);
    const count = open.get(network) ?? 0;
    if (count >= limit) {
      socket.write(REFUSAL);
      socket.destroySoon();
      if (performance.now() - saidAt < SAY_EVERY_MS) return;
      saidAt = performance.now();
      return onRefusal(address);
    }
    open.set(network, count + 1);
    socket.once('close', () => {
      const left = open.get(network)! - 1;
      if (left) open.set(network, left);
      else open.delete(network);
    });
  });
}

/** Whether an address is this machine, or one of the networks (CIDR): a reverse proxy has everybody's connections. */
export function proxyAddresses(networks: readonly string[]): (address: string) => boolean {
  const known = new BlockList();
  const typeOf = (address: string) => (isIPv6(address) ? 'ipv6' : 'ipv4');
  for (const network of ['127.0.0.0/8', '::1', ...networks]) {
    const [address, bits] = network.split('/') as [string, string?];
    if (bits === undefined) known.addAddress(address, typeOf(address));
    else known.addSubnet(address, Number(bits), typeOf(address));
  }
  return (address) => known.check(address, typeOf(address));
}
