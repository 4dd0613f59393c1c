import { EGRESS_PORT } from '../protocol.ts';
import type { Journal } from './journal.ts';
import type { TaskSockets } from '../sandbox/sockets.ts';
import type { TaskSpec } from './task.ts';
import { EGRESS_ENV } from '../egress/environment.ts';
import type { EgressProxy } from '../egress/proxy.ts';

/** Refusals that one task's journal tells. */
const TOLD = 100;
/** A name in the DNS is no longer; what a sandbox writes in its place may be. */
const HOST_CHARACTERS = 253;

/** The spec of a task with the proxy on its loopback; what its own spec says goes before. */
export async function withEgress(
  spec: TaskSpec,
  proxy: EgressProxy,
  { sockets, journal, hosts }: { sockets: TaskSockets; journal: Journal; hosts: string[] },
): Promise<TaskSpec> {
  let refusals = 0;
  const name = await proxy.open(sockets, hosts, ({ host, port, reason }) => {
    refusals++;
    if (refusals <= TOLD)
      journal.append({ type: 'refused', host: host.slice(0, HOST_CHARACTERS), port, reason });
    if (refusals === TOLD + 1) journal.append({ type: 'refused', host: '', port: 0, reason: 'more' });
  });
  return { ...spec, env: { ...EGRESS_ENV, ...spec.env }, ports: { ...spec.ports, [EGRESS_PORT]: name } };
}
