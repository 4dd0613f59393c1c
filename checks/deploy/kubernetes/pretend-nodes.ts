/**
 * Nodes without a kubelet: what the scheduler puts there counts as started, the Pods of the migration as ended. So the
 * control plane does all that it does with values that need what no node here has, and a migration fails when it is to.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Api, Stored } from './api.ts';
import type { Node } from './node.ts';

const BEAT_MS = 5_000;
const ROLE = 'app.kubernetes.io/component';

export interface PretendNodes {
  /** Called before a Pod counts as started; false makes it fail. */
  admit: (pod: Stored) => Promise<boolean>;
  stop(): Promise<void>;
}

export async function pretendNodes(api: Api, nodes: readonly Node[]): Promise<PretendNodes> {
  for (const { name, labels, taints } of nodes)
    await api.create({ apiVersion: 'v1', kind: 'Node', metadata: { name, labels }, spec: { taints } });
  const ending = new AbortController();
  const it: PretendNodes = {
    admit: () => Promise.resolve(true),
    async stop() {
      ending.abort();
      await loop;
    },
  };
  let address = 0;
  let beatenAt = -BEAT_MS;
  const loop = (async () => {
    for (; !ending.signal.aborted; await sleep(100)) {
      // An answer that does not come is asked for again; the checks notice what does not happen.
      try {
        if (performance.now() - beatenAt > BEAT_MS) {
          for (const { name } of nodes) await beat(api, name);
          beatenAt = performance.now();
        }
        for (const pod of await api.list('/api/v1/pods')) await keep(pod);
      } catch (error) {
        console.error(`pretended nodes: ${(error as Error).message}`);
      }
    }
  })();

  async function keep(pod: Stored): Promise<void> {
    const path = `/api/v1/namespaces/${pod.metadata.namespace!}/pods/${pod.metadata.name}`;
    if (pod.metadata.deletionTimestamp !== undefined) {
      await api.send('DELETE', path, { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0 });
      return;
    }
    if (!pod.spec.nodeName || pod.status.phase !== 'Pending') return;
    const isWell = await it.admit(pod);
    const ends = pod.metadata.labels?.[ROLE] === 'migrate';
    address++;
    const now = new Date().toISOString();
    const isReady = isWell && !ends ? 'True' : 'False';
    await api.call('PATCH', `${path}/status`, {
      status: {
        phase: !isWell ? 'Failed' : ends ? 'Succeeded' : 'Running',
        startTime: now,
        podIP: `10.97.${address >> 8}.${address & 255}`,
        conditions: ['Initialized', 'ContainersReady', 'Ready'].map((type) => ({
          type,
          status: isReady,
          lastTransitionTime: now,
        })),
      },
    });
  }
  return it;
}

async function beat(api: Api, name: string): Promise<void> {
  const now = new Date().toISOString();
  const room = { cpu: '64', memory: '256Gi', pods: '110', 'ephemeral-storage': '1Ti' };
  await api.call('PATCH', `/api/v1/nodes/${name}/status`, {
    status: {
      capacity: room,
      allocatable: room,
      conditions: [
        {
          type: 'Ready',
          status: 'True',
          reason: 'KubeletReady',
          message: 'pretended',
          lastHeartbeatTime: now,
          lastTransitionTime: now,
        },
      ],
    },
  });
}
