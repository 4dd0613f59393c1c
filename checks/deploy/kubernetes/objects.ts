/** The chart's life in a cluster, as its API stores it: installed, upgraded, upgraded in vain, rolled back, removed. */
import { deepEqual } from 'node:assert/strict';
import { join } from 'node:path';
import { CHART, manifestsOf, named } from '../chart/manifests.ts';
import type { Stored } from './api.ts';
import type { Cluster } from './cluster.ts';
import type { Node } from './node.ts';
import { pretendNodes } from './pretend-nodes.ts';
import type { PretendNodes } from './pretend-nodes.ts';
import { until } from './processes.ts';

const NAMESPACE = 'apps';
const RELEASE = 'prod';
const VALUES = join(import.meta.dirname, '../chart/values/all.yaml');
/** Without what 1.20 does not have, and kinds that are others': its server fails where Helm applies these. */
const OLD = [
  'api.autoscaling.enabled=false',
  'podDisruptionBudgets.enabled=false',
  'tls.secrets.api=api-tls',
  'tls.secrets.worker=worker-tls',
  'tls.secrets.runner=runner-tls',
  'metrics.serviceMonitor=false',
  'metrics.rules=false',
].map((value) => `--set=${value}`);
const COMMON = ['--namespace', NAMESPACE, '--values', VALUES, ...OLD, '--wait', '--timeout', '3m'];
const ROLE = 'app.kubernetes.io/component';
const RUNNERS = 'headrace.dev/runner';
const NODES: Node[] = [
  { name: 'common', labels: { disk: 'fast' } },
  { name: 'runners', labels: { [RUNNERS]: 'true' }, taints: [{ key: RUNNERS, effect: 'NoSchedule' }] },
];
const RELEASED = { api: 2, worker: 2, runner: 6 };

export interface Life {
  install(): Promise<string>;
  upgrade(): Promise<string>;
  failedMigration(): Promise<string>;
  rollback(): Promise<string>;
  uninstall(): Promise<string>;
  end(): Promise<void>;
}

export async function lifeIn({ api, helm }: Cluster): Promise<Life> {
  const nodes = await pretendNodes(api, NODES);
  await prepare();
  const before = await api.everythingIn(NAMESPACE);
  let installed: Stored[] = [];

  const manifests = async (what: 'manifest' | 'hooks') =>
    manifestsOf(await helm('get', what, RELEASE, '--namespace', NAMESPACE));

  /** Each object of the release, once the server has all that was sent. */
  async function requireStored(): Promise<Stored[]> {
    const found: Stored[] = [];
    for (const manifest of await manifests('manifest')) {
      const stored = await api.stored(manifest, NAMESPACE);
      const lost = stored ? lostOf(sorted(manifest), sorted(stored), manifest.kind) : ['all of it'];
      if (lost.length > 0)
        throw new Error(
          `${manifest.kind} ${manifest.metadata.name} is not stored as sent: ${lost.join(', ')}`,
        );
      found.push(stored!);
    }
    return found;
  }

  const deployments = () => api.list(`/apis/apps/v1/namespaces/${NAMESPACE}/deployments`);

  async function requirePods(wanted: Record<string, number>): Promise<void> {
    for (const [role, count] of Object.entries(wanted)) {
      const pods = await until(`${count} Pods of ${role}`, async () => {
        const all = await api.pods(NAMESPACE, role);
        return all.length === count && all;
      });
      for (const pod of pods) requirePod(role, pod);
    }
    for (const [service, count] of [
      ['api', wanted['api']!],
      ['worker', wanted['worker']!],
      ['runner', wanted['runner']!],
      ['metrics', Object.values(wanted).reduce((sum, one) => sum + one)],
    ] as const)
      await until(`${count} addresses of the Service ${service}`, async () => {
        const endpoints = await api.stored(
          { apiVersion: 'v1', kind: 'Endpoints', metadata: { name: `${RELEASE}-headrace-${service}` } },
          NAMESPACE,
        );
        const subsets = endpoints?.['subsets'] as { addresses?: unknown[] }[] | undefined;
        return subsets?.flatMap(({ addresses = [] }) => addresses).length === count;
      });
  }

  async function prepare(): Promise<void> {
    await api.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
    await api.create({
      apiVersion: 'node.k8s.io/v1',
      kind: 'RuntimeClass',
      metadata: { name: 'kata' },
      handler: 'kata',
    });
    const volume = { accessModes: ['ReadWriteMany'], storageClassName: '' };
    await api.create({
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: 'shared' },
      spec: { ...volume, capacity: { storage: '1Gi' }, hostPath: { path: '/nowhere' } },
    });
    await api.create(
      {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: 'headrace-data' },
        spec: { ...volume, resources: { requests: { storage: '1Gi' } } },
      },
      NAMESPACE,
    );
    // What controllers put into each namespace.
    await until('the namespace is complete', async () => {
      const names = await api.everythingIn(NAMESPACE);
      return ['ServiceAccount/default', 'ConfigMap/kube-root-ca.crt'].every((name) => names.includes(name));
    });
  }

  return {
    async install() {
      const seen = watchMigration(nodes, deployments);
      await helm('install', RELEASE, CHART, ...COMMON);
      installed = await requireStored();
      if (seen.migrations !== 1 || seen.deployments !== 0)
        throw new Error(
          `the migration ran ${seen.migrations} times, with ${seen.deployments} Deployments there`,
        );
      for (const hook of await manifests('hooks'))
        if (await api.stored(hook, NAMESPACE)) throw new Error(`${hook.kind} of the migration was left`);
      await requirePods(RELEASED);
      const account = await api.stored(
        { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: `${RELEASE}-headrace` } },
        NAMESPACE,
      );
      deepEqual(account?.['automountServiceAccountToken'], false);
      return `${installed.length} objects stored as sent, after the migration`;
    },

    async upgrade() {
      const seen = watchMigration(nodes, deployments);
      const changes = [
        'image.service=registry.example.com/headrace:0.2.0',
        'worker.replicas=3',
        'config=null',
      ];
      await helm(
        'upgrade',
        RELEASE,
        CHART,
        ...COMMON,
        ...changes.map((change) => `--set=${change}`),
        '--set=runnerPools.kata=null',
      );
      await requireStored();
      if (seen.migrations !== 1 || seen.image !== 'registry.example.com/headrace:0.2.0')
        throw new Error(`the migration ran ${seen.migrations} times, of ${seen.image}`);
      if (seen.images.some((image) => image.includes(':0.2.0')))
        throw new Error('a Deployment was changed before the migration had ended');
      const now = await deployments();
      if (now.some(({ metadata }) => metadata.name.endsWith('-kata')))
        throw new Error('the pool kata was left');
      const names = await api.everythingIn(NAMESPACE);
      if (names.includes(`ConfigMap/${RELEASE}-headrace`)) throw new Error('the ConfigMap was left');
      await requirePods({ api: 2, worker: 3, runner: 4 });
      for (const pod of await api.pods(NAMESPACE, 'api'))
        deepEqual(pod.spec.containers[0].image, 'registry.example.com/headrace:0.2.0');
      return 'after its migration; what it no longer names is gone';
    },

    async failedMigration() {
      const specs = async () => (await deployments()).map(({ spec }) => spec as object);
      const unchanged = await specs();
      nodes.admit = (pod) => Promise.resolve(pod.metadata.labels?.[ROLE] !== 'migrate');
      const sets = [
        '--set=image.service=registry.example.com/headrace:0.3.0',
        '--set=migration.deadlineSeconds=30',
      ];
      const ended = await helm('upgrade', RELEASE, CHART, ...COMMON, ...sets).catch((error: Error) => error);
      nodes.admit = () => Promise.resolve(true);
      if (!(ended instanceof Error)) throw new Error('Helm saw no failure');
      deepEqual(await specs(), unchanged);
      const migration = {
        apiVersion: 'batch/v1',
        kind: 'Job',
        metadata: { name: `${RELEASE}-headrace-migrate` },
      };
      if (!(await api.stored(migration, NAMESPACE))) throw new Error('the failed Job is gone, and its logs');
      // The next one removes it.
      await helm('upgrade', RELEASE, CHART, ...COMMON);
      if (await api.stored(migration, NAMESPACE)) throw new Error('the failed Job was left');
      return 'no Deployment changed; the failed Job stays until the next upgrade';
    },

    async rollback() {
      await helm('rollback', RELEASE, '1', '--namespace', NAMESPACE, '--wait', '--timeout', '3m');
      const now = await requireStored();
      for (const was of installed)
        deepEqual(
          sorted(named(now, was.kind, was.metadata.name).spec),
          sorted(was.spec),
          `${was.kind} ${was.metadata.name} is another one than after the installation`,
        );
      await requirePods(RELEASED);
      return `${now.length} objects as after the installation`;
    },

    async uninstall() {
      await helm('uninstall', RELEASE, '--namespace', NAMESPACE, '--wait', '--timeout', '3m');
      let left: string[] = [];
      await until('everything is gone', async () => {
        left = (await api.everythingIn(NAMESPACE)).filter((name) => !before.includes(name));
        return left.length === 0;
      }).catch((error: Error) => {
        throw new Error(`${error.message}: ${left.join(', ')}`);
      });
      return 'nothing left';
    },

    async end() {
      await nodes.stop();
      for (const node of NODES) await api.call('DELETE', `/api/v1/nodes/${node.name}`);
    },
  };
}

interface Seen {
  migrations: number;
  image: string;
  /** How many Deployments there were, and of which images, while the migration ran. */
  deployments: number;
  images: string[];
}

function watchMigration(nodes: PretendNodes, deployments: () => Promise<Stored[]>): Seen {
  const seen: Seen = { migrations: 0, image: '', deployments: 0, images: [] };
  nodes.admit = async (pod) => {
    if (pod.metadata.labels?.[ROLE] !== 'migrate') return true;
    seen.migrations++;
    seen.image = pod.spec.containers[0].image as string;
    const all = await deployments();
    seen.deployments = all.length;
    seen.images = all.map(({ spec }) => spec.template.spec.containers[0].image as string);
    return true;
  };
  return seen;
}

function requirePod(role: string, { metadata, spec }: Stored): void {
  const [{ env, volumeMounts }] = spec.containers;
  const roles = env.find(({ name }: { name: string }) => name === 'HEADRACE_ROLES')?.value;
  if (roles !== role) throw new Error(`${metadata.name} has the role ${roles}`);
  // The server adds the token of the account to Pods that do not refuse it.
  for (const { mountPath } of volumeMounts)
    if (mountPath.includes('kubernetes.io')) throw new Error(`${metadata.name} has a token of the cluster`);
  const node = role === 'runner' ? 'runners' : 'common';
  if (spec.nodeName !== node) throw new Error(`${metadata.name} is on the node ${spec.nodeName}`);
  const pool = metadata.labels?.['headrace.dev/pool'];
  if ((spec.runtimeClassName === 'kata') !== (pool === 'kata'))
    throw new Error(`${metadata.name} has the runtime ${spec.runtimeClassName}`);
}

/** Lists of what has names, by these: the server merges them by name, in an order of its own. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (!Array.isArray(value))
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, sorted(one)]));
  const nameOf = (one: unknown) => (one as { name?: string } | null)?.name ?? '';
  return value.map(sorted).toSorted((a, b) => nameOf(a).localeCompare(nameOf(b)));
}

/** Where the server does not have what was sent. It may have more: its defaults. */
function lostOf(sent: unknown, stored: unknown, path: string): string[] {
  if (sent === null || (Array.isArray(sent) && sent.length === 0)) return [];
  if (typeof sent !== 'object') return sent === stored ? [] : [`${path} is ${JSON.stringify(stored)}`];
  if (typeof stored !== 'object' || stored === null) return [path];
  if (Array.isArray(sent) && sent.length !== (stored as unknown[]).length) return [`${path} (its length)`];
  return Object.entries(sent).flatMap(([key, value]) =>
    lostOf(value, (stored as Record<string, unknown>)[key], `${path}.${key}`),
  );
}
