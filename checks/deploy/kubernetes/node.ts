/** Nodes with a kubelet, containerd and kube-proxy, all on this machine: each runs Pods of its own, in control groups of its own. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ADDRESS, DOMAIN, POD_RANGE } from './addresses.ts';
import type { Cluster } from './cluster.ts';
import { startRuntime } from './container-runtime.ts';
import type { ContainerRuntime } from './container-runtime.ts';
import { start, until } from './processes.ts';
import { programOf } from './servers.ts';

const GROUPS = '/sys/fs/cgroup';
const READY_MS = 180_000;

export interface Node {
  name: string;
  labels: Record<string, string>;
  taints?: { key: string; effect: string }[];
}

export interface RealNode {
  name: string;
  runtime: ContainerRuntime;
  /** Kills all processes of a Pod at once, as the loss of its node does. How many there were. */
  kill(uid: string): number;
}

/** `number` is below 100 and no other node's. */
export async function startNode(
  { api, kubeconfig }: Cluster,
  scratch: string,
  { name, labels, taints = [], number }: Node & { number: number },
): Promise<RealNode> {
  const folder = join(scratch, name);
  mkdirSync(folder);
  const file = (base: string, text: string) => {
    writeFileSync(join(folder, base), text);
    return join(folder, base);
  };
  const runtime = await startRuntime(folder, { bridge: `pods${number}`, subnet: `10.97.${number}.0/24` });
  const group = join(groupOf(scratch), name);
  for (const controller of controllers()) mkdirSync(join(GROUPS, controller, group), { recursive: true });
  const settings = file(
    'kubelet.json',
    JSON.stringify({
      apiVersion: 'kubelet.config.k8s.io/v1beta1',
      kind: 'KubeletConfiguration',
      authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
      authorization: { mode: 'AlwaysAllow' },
      address: ADDRESS,
      port: 10_300 + number,
      healthzPort: 10_400 + number,
      cgroupDriver: 'cgroupfs',
      cgroupRoot: group,
      clusterDNS: [ADDRESS],
      clusterDomain: DOMAIN,
      // Not what this machine asks.
      resolvConf: file('resolv.conf', ''),
      failSwapOn: false,
      // The disk is this machine's own affair.
      evictionHard: { 'memory.available': '100Mi' },
      imageGCHighThresholdPercent: 100,
      // Less may be refused to this process.
      oomScoreAdj: 0,
      volumePluginDir: join(folder, 'plugins'),
    }),
  );
  const kubelet = start(
    folder,
    programOf('kubelet'),
    [
      `--config=${settings}`,
      `--kubeconfig=${kubeconfig}`,
      `--root-dir=${join(folder, 'kubelet')}`,
      `--cert-dir=${join(folder, 'certificates')}`,
      `--hostname-override=${name}`,
      `--node-ip=${ADDRESS}`,
      '--container-runtime=remote',
      `--container-runtime-endpoint=${runtime.endpoint}`,
      `--node-labels=${Object.entries(labels)
        .map(([key, value]) => `${key}=${value}`)
        .join(',')}`,
      `--register-with-taints=${taints.map(({ key, effect }) => `${key}=:${effect}`).join(',')}`,
    ],
    runtime.enter,
  );
  await until(
    `the node ${name} is ready`,
    async () => {
      if (!kubelet.isUp()) throw new Error(`kubelet ended: ${kubelet.said()}`);
      const node = await api.stored({ apiVersion: 'v1', kind: 'Node', metadata: { name } }, '');
      const conditions = (node?.status?.conditions ?? []) as { type: string; status: string }[];
      return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
    },
    READY_MS,
  );
  return {
    name,
    runtime,
    kill(uid) {
      const pods = groupsBelow(join(GROUPS, 'pids', group)).filter((one) => one.includes(`pod${uid}`));
      const pids = pods.flatMap(pidsOf);
      for (const pid of pids) process.kill(pid, 'SIGKILL');
      return pids.length;
    },
  };
}

/** The way of a Service to its Pods, from all nodes: they share this network. */
export function startProxy({ kubeconfig }: Cluster, scratch: string, node: string): void {
  const settings = join(scratch, 'kube-proxy.json');
  writeFileSync(
    settings,
    JSON.stringify({
      apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
      kind: 'KubeProxyConfiguration',
      clientConnection: { kubeconfig },
      mode: 'iptables',
      clusterCIDR: POD_RANGE,
      bindAddress: ADDRESS,
      hostnameOverride: node,
      // The machine's own limits.
      conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
      oomScoreAdj: 0,
    }),
  );
  start(scratch, programOf('kube-proxy'), [`--config=${settings}`]);
}

/** What the nodes of a test have made in the machine's control groups, once all of their processes have ended. */
export function removeGroups(scratch: string): void {
  for (const controller of controllers())
    for (const folder of groupsBelow(join(GROUPS, controller, groupOf(scratch))).toReversed())
      rmdirSync(folder);
}

const groupOf = (scratch: string) => `/${scratch.split('/').at(-1)!}`;

const controllers = () =>
  readdirSync(GROUPS).filter((name) => existsSync(join(GROUPS, name, 'cgroup.procs')));

/** Each group after the one that it is in. */
function groupsBelow(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const inner = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return [folder, ...inner.flatMap(({ name }) => groupsBelow(join(folder, name)))];
}

const pidsOf = (group: string) =>
  readFileSync(join(group, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean).map(Number);
