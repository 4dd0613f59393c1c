/**
 * Which addresses the service connects to on behalf of others: those of the open internet. A name is judged
 * by the addresses that it resolves to at the moment of connecting, in the look-up that the connection uses:
 * earlier and later answers do not matter.
 */
import { lookup } from 'node:dns';
import type { LookupAddress, LookupAllOptions } from 'node:dns';
import { BlockList, isIP } from 'node:net';
import type { LookupFunction } from 'node:net';

/**
 * Loopback, private, link-local, shared, reserved, multicast, documentation; and the clouds' metadata
 * services, of which Azure's has a public address.
 */
const PRIVATE_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
];
/**
 * Everything but 2000::/3, which also excludes IPv4 in its many IPv6 forms; within 2000::/3 tunnels, reserved
 * ranges and documentation.
 */
const PRIVATE_V6 = ['::/3', '4000::/2', '8000::/1', '2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

// One list per family: a list of both would find 8.8.8.8 in ::/3, as ::ffff:8.8.8.8.
const listOf = (networks: string[], family: 'ipv4' | 'ipv6') =>
  networks.reduce((list, network) => {
    const [address, bits] = network.split('/');
    list.addSubnet(address!, Number(bits), family);
    return list;
  }, new BlockList());
const v4 = listOf(PRIVATE_V4, 'ipv4');
const v6 = listOf(PRIVATE_V6, 'ipv6');

/** Whether an address (`10.0.0.1`, `fe80::1%eth0`) lies outside the open internet. */
export function isPrivateAddress(address: string): boolean {
  const [plain] = address.split('%');
  return isIP(plain!) === 4 ? v4.check(plain!, 'ipv4') : v6.check(plain!, 'ipv6');
}

const bare = (hostname: string) => hostname.replace(/^\[|\]$/g, '');

/** Whether a URL's host is private by itself: a private address, or a name reserved for one. */
export function isPrivateHost(hostname: string): boolean {
  const host = bare(hostname).replace(/\.+$/, '').toLowerCase();
  if (isIP(host)) return isPrivateAddress(host);
  return /^(localhost|localdomain|metadata)$|\.(localhost|localdomain|local|internal|intranet|lan|home\.arpa)$/.test(
    host,
  );
}

export class PrivateAddressError extends Error {
  readonly code = 'PRIVATE_ADDRESS';
  constructor() {
    super('the address is not one of the open internet');
  }
}

type Resolve = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** A look-up that returns only addresses of the open internet; `resolve` is the system's. */
export const publicLookup =
  (resolve: Resolve = lookup): LookupFunction =>
  (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, '');
      const open = found.filter(({ address }) => !isPrivateAddress(address));
      if (!open.length) return callback(new PrivateAddressError(), '');
      if (options.all) return callback(null, open);
      callback(null, open[0]!.address, open[0]!.family);
    });
  };
