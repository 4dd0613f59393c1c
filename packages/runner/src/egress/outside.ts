import { Resolver } from 'node:dns/promises';
import { connect, isIP, type Socket } from 'node:net';

const LOOKUP = { timeout: 2_000, tries: 2 };
const DIAL_MS = 10_000,
  NEXT_ADDRESS_MS = 500;

/** The internet as the proxy uses it. */
export interface Outside {
  /** All addresses of a name; empty where it has none. Rejects when no name server answers. */
  resolve(name: string): Promise<string[]>;
  /** A connection to the first of these addresses that accepts one, without a further look-up. */
  dial(addresses: string[], port: number): Promise<Socket>;
}

/**
 * Only the machine's DNS servers resolve names: its hosts file may name private hosts, and getaddrinfo has
 * two threads, which one task could block with a name server that does not answer.
 */
export function internet(resolver = new Resolver(LOOKUP)): Outside {
  return {
    async resolve(name) {
      const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
      const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
      const failure = answers.find(
        (answer) => answer.status === 'rejected' && !hasNone(answer.reason as NodeJS.ErrnoException),
      );
      if (found.length === 0 && failure) throw (failure as PromiseRejectedResult).reason;
      return found;
    },
    dial,
  };
}

const hasNone = ({ code }: NodeJS.ErrnoException): boolean => code === 'ENODATA' || code === 'ENOTFOUND';

function dial(addresses: string[], port: number): Promise<Socket> {
  const known = addresses.map((address) => ({ address, family: isIP(address) }));
  return new Promise((resolve, reject) => {
    // Node's look-up for the connection gets the addresses that were checked; it tries several in its usual
    // order (RFC 8305).
    const socket = connect({
      host: 'checked',
      port,
      allowHalfOpen: true,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_MS,
      lookup: (_name, { all }, answer) => {
        if (all) answer(null, known);
        else answer(null, known[0]!.address, known[0]!.family);
      },
    });
    const timer = setTimeout(() => socket.destroy(new Error('it did not answer in time')), DIAL_MS);
    socket
      .once('connect', () => {
        clearTimeout(timer);
        socket.off('error', reject);
        resolve(socket);
      })
      .once('error', reject)
      .once('close', () => clearTimeout(timer));
  });
}
