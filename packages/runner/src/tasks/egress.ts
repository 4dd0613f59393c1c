import { EGRESS_ENV } from '../egress/environment.ts';
import type { EgressProxy } from '../egress/proxy.ts';
import { EGRESS_PORT } from '../protocol.ts';
import type { TaskSockets } from '../sandbox/sockets.ts';
import type { Journal } from './journal.ts';

/** Refusals that one task's journal records. */
const RECORDED = 100;
/** The longest DNS name; a sandbox may send a longer text in its place. */
const HOST_CHARACTERS = 253;

/** Opens the proxy to a task's sandbox; returns the environment and the port by which commands find it. */
export async function openEgress(
  proxy: EgressProxy,
  { sockets, journal, hosts }: { sockets: TaskSockets; journal: Journal; hosts: string[] },
): Promise<{ env: Record<string, string>; ports: Record<number, string> }> {
  let refusals = 0;
  const name = await proxy.open(sockets, hosts, ({ host, port, reason }) => {
    refusals++;
    if (refusals <= RECORDED)
      journal.append({ type: 'refused', host: host.slice(0, HOST_CHARACTERS), port, reason });
    if (refusals === RECORDED + 1) journal.append({ type: 'refused', host: '', port: 0, reason: 'more' });
  });
  return { env: EGRESS_ENV, ports: { [EGRESS_PORT]: name } };
}
