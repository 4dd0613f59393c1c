/** The cluster's names, as CoreDNS answers them, by dnsmasq: Services by their address, and the Pods of those without one. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ADDRESS, DOMAIN } from './addresses.ts';
import type { Api, Stored } from './api.ts';
import { repeat, start } from './processes.ts';
import type { Repeated } from './processes.ts';

const LOOK_MS = 250;

interface Subset {
  addresses?: { ip: string }[];
}

/** Pods ask the node's address. */
export function serveNames(api: Api, scratch: string): Repeated {
  const hosts = join(scratch, 'hosts');
  writeFileSync(hosts, '');
  const dnsmasq = start(scratch, 'dnsmasq', [
    '--keep-in-foreground',
    '--user=root',
    '--pid-file',
    '--conf-file=/dev/null',
    '--no-resolv',
    '--no-hosts',
    `--listen-address=${ADDRESS}`,
    '--bind-interfaces',
    `--local=/${DOMAIN}/`,
    `--addn-hosts=${hosts}`,
    '--log-facility=-',
  ]);
  let known = '';
  return repeat('names', LOOK_MS, async () => {
    const text = hostsOf(await api.list('/api/v1/services'), await api.list('/api/v1/endpoints'));
    if (text === known) return;
    known = text;
    writeFileSync(hosts, text);
    dnsmasq.signal('SIGHUP');
  });
}

/** A Pod without a name of its own has that of its address. */
function hostsOf(services: Stored[], endpoints: Stored[]): string {
  const lines = services.flatMap(({ metadata, spec }) => {
    const zone = `${metadata.name}.${metadata.namespace}.svc.${DOMAIN}`;
    if (spec.clusterIP !== 'None') return [`${spec.clusterIP} ${zone}`];
    const of = endpoints.find(
      (one) => one.metadata.name === metadata.name && one.metadata.namespace === metadata.namespace,
    );
    const subsets = (of?.['subsets'] ?? []) as Subset[];
    return subsets
      .flatMap(({ addresses = [] }) => addresses)
      .flatMap(({ ip }) => [`${ip} ${ip.replaceAll('.', '-')}.${zone}`, `${ip} ${zone}`]);
  });
  return lines
    .toSorted()
    .map((line) => `${line}\n`)
    .join('');
}
