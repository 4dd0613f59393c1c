import { EGRESS_ENV } from '../egress/environment.ts';
import type { Reach } from '../egress/policy.ts';
import type { EgressProxy } from '../egress/proxy.ts';
import { EGRESS_PORT } from '../protocol.ts';
import type { Mask } from '../masking/mask.ts';
import type { TaskSockets } from '../sandbox/sockets.ts';
import type { Journal } from './journal.ts';

/** Hosts of which one task's journal records a refusal. */
const RECORDED = 100;
/** The longest DNS name; a sandbox may send a longer text in its place. */
const HOST_CHARACTERS = 253;

/** Opens the proxy to a task's sandbox; returns the environment and the port by which commands find it. */
export async function openEgress(
  proxy: EgressProxy,
  { sockets, journal, mask, reach }: { sockets: TaskSockets; journal: Journal; mask: Mask; reach: Reach },
): Promise<{ env: Record<string, string>; ports: Record<number, string> }> {
  const told = new Set<string>();
  const name = await proxy.open(sockets, reach, ({ host, port, reason }) => {
    const shown = mask.text(host).slice(0, HOST_CHARACTERS);
    const key = shown.toLowerCase().replace(/\.$/, '');
    if (told.has(key) || told.size > RECORDED) return;
    told.add(key);
    if (told.size <= RECORDED) journal.append({ type: 'refused', host: shown, port, reason });
    else journal.append({ type: 'refused', host: '', port: 0, reason: 'more' });
  });
  return { env: EGRESS_ENV, ports: { [EGRESS_PORT]: name } };
}
