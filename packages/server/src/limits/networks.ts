import { isIPv6 } from 'node:net';

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;
const GROUPS = 8;
const NETWORK_GROUPS = 4;

/**
 * What limits by address count: an IPv4 address, or the /64 network of an IPv6 address, since one customer of
 * a provider has all addresses of such a network.
 */
export function networkOf(address: string): string {
  const plain = address.split('%')[0]!;
  const mapped = MAPPED.exec(plain)?.[1];
  if (mapped !== undefined || !isIPv6(plain)) return mapped ?? plain;
  // The URL's host is the canonical form: no leading zeros, no dotted end.
  const canonical = new URL(`http://[${plain}]`).hostname.slice(1, -1);
  const [head = [], tail = []] = canonical.split('::').map((part) => (part ? part.split(':') : []));
  const zeros = Array<string>(GROUPS - head.length - tail.length).fill('0');
  return `${[...head, ...zeros, ...tail].slice(0, NETWORK_GROUPS).join(':')}::/64`;
}
