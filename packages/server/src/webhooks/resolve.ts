/**
 * The addresses of a receiver's name. The system's look-up is not used: it shares four threads with all file access
 * of the process, and a name server that does not answer blocks one for many seconds.
 */
import { Resolver } from 'node:dns/promises';
import type { LookupAddress } from 'node:dns';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';

const HOSTS_FILE = '/etc/hosts';
/** How long the hosts file and the list of name servers are cached. */
const FRESH_MS = 10_000;
/** The timeout per server and try. */
const SERVER_MS = 2_500;

/** Throws if a name has no address, or no server answers. */
export type Resolve = (hostname: string) => Promise<LookupAddress[]>;

/** Looks up names in the hosts file, then by the name servers that `makeResolver` asks. */
export function nameResolver(
  makeResolver = () => new Resolver({ timeout: SERVER_MS, tries: 2 }),
  hostsFile = HOSTS_FILE,
): Resolve {
  let fresh: { until: number; resolver: Resolver; hosts: Promise<Map<string, LookupAddress[]>> } | null =
    null;
  return async (hostname) => {
    const name = hostname.toLowerCase().replace(/\.+$/, '');
    if (fresh === null || performance.now() > fresh.until)
      fresh = { until: performance.now() + FRESH_MS, resolver: makeResolver(), hosts: readHosts(hostsFile) };
    const { resolver, hosts } = fresh;
    const known = (await hosts).get(name) ?? (isLocal(name) ? LOCAL : undefined);
    return known ?? (await ask(resolver, name));
  };
}

const LOCAL: LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];
const isLocal = (name: string) => name === 'localhost' || name.endsWith('.localhost');

/** IPv4 and IPv6 addresses; one kind is enough. */
async function ask(resolver: Resolver, name: string): Promise<LookupAddress[]> {
  const [four, six] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  if (four.status === 'rejected' && six.status === 'rejected') throw four.reason;
  return [four, six].flatMap((found, i) =>
    found.status === 'fulfilled' ? found.value.map((address) => ({ address, family: i === 0 ? 4 : 6 })) : [],
  );
}

async function readHosts(file: string): Promise<Map<string, LookupAddress[]>> {
  const found = new Map<string, LookupAddress[]>();
  const text = await readFile(file, 'utf8').catch(() => '');
  for (const line of text.split('\n')) {
    const [address, ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    const family = isIP(address ?? '');
    if (family === 0) continue;
    for (const name of names.map((each) => each.toLowerCase()))
      found.set(name, [...(found.get(name) ?? []), { address: address!, family }]);
  }
  return found;
}
