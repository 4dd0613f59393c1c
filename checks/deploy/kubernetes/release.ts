/** A release whose Pods run: what it needs beside the chart, and Helm's steps with it. */
import { chownSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeServiceKey } from '../../../packages/server/src/accounts/keys.ts';
import { createCaller } from '../../harness/http.ts';
import type { Caller } from '../../harness/http.ts';
import { OWNER } from '../../harness/service.ts';
import { CHART } from '../chart/manifests.ts';
import { DOMAIN } from './addresses.ts';
import type { Stored } from './api.ts';
import type { Cluster } from './cluster.ts';
import type { Database } from './database.ts';
import { call, until } from './processes.ts';

export const NAMESPACE = 'live';
const RELEASE = 'prod';
const NAME = `${RELEASE}-headrace`;
const ZONE = `${NAMESPACE}.svc.${DOMAIN}`;
const VALUES = join(import.meta.dirname, 'values.yaml');
const CLI = join(import.meta.dirname, '../../../packages/cli/src/main.ts');
/** The user of the image. */
const UID = 10_001;
const HOSTS = {
  api: [`${NAME}-api.${ZONE}`, `*.${NAME}-api-hosts.${ZONE}`],
  worker: [`${NAME}-worker.${ZONE}`],
  runner: [`*.${NAME}-runner.${ZONE}`],
};

export type Role = keyof typeof HOSTS;

export interface Release {
  /** Through the Service of the API. */
  caller: Caller;
  /** A service's. */
  key: string;
  base(): string;
  install(): Promise<void>;
  /** With other values than the last time. */
  upgrade(...sets: string[]): Promise<void>;
  uninstall(): Promise<void>;
  pods(role?: Role | 'migrate'): Promise<Stored[]>;
  /** Deletes one, with its own grace or none. */
  deletePod(pod: Stored, graceSeconds?: number): Promise<void>;
  /** `kind/name` of what is there that was not before the installation. */
  left(): Promise<string[]>;
  /** The Pods that are ready, once there are as many of each role and no others. */
  ready(counts: Record<Role, number>): Promise<Record<Role, Stored[]>>;
  close(): void;
}

export async function prepareRelease(
  { api, helm }: Cluster,
  scratch: string,
  database: Database,
): Promise<Release> {
  const key = makeServiceKey();
  await api.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
  const create = (kind: string, name: string, more: object) =>
    api.create({ apiVersion: 'v1', kind, metadata: { name }, ...more }, NAMESPACE);
  await create('Secret', 'headrace-database', { stringData: { url: database.url } });
  await create('Secret', 'headrace-key', { stringData: { key: 'a secret key of at least 32 characters' } });
  await create('Secret', 'headrace-first-start', {
    stringData: { bootstrapKey: key, password: OWNER.password },
  });
  await makeCertificates(scratch, create);
  await makeVolume(scratch, create);
  const common = ['--namespace', NAMESPACE, '--values', VALUES, '--wait', '--timeout', '10m'];
  let before: string[] = [];
  let address = '';
  let caller: Caller | undefined;

  const base = () => `http://${address}:4400`;
  const pods: Release['pods'] = (role) => api.pods(NAMESPACE, role);
  return {
    get caller() {
      return (caller ??= createCaller(base(), key));
    },
    key,
    base,
    async install() {
      await until('the namespace is complete', async () => {
        before = await api.everythingIn(NAMESPACE);
        return ['ServiceAccount/default', 'ConfigMap/kube-root-ca.crt'].every((name) =>
          before.includes(name),
        );
      });
      await helm('install', RELEASE, CHART, ...common);
      const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: `${NAME}-api` } };
      address = (await api.stored(service, NAMESPACE))!.spec.clusterIP;
    },
    async upgrade(...sets) {
      await helm('upgrade', RELEASE, CHART, ...common, ...sets.map((set) => `--set=${set}`));
    },
    async uninstall() {
      await helm('uninstall', RELEASE, '--namespace', NAMESPACE, '--wait', '--timeout', '10m');
    },
    pods,
    async deletePod({ metadata }, gracePeriodSeconds) {
      await api.call('DELETE', `/api/v1/namespaces/${NAMESPACE}/pods/${metadata.name}`, {
        apiVersion: 'v1',
        kind: 'DeleteOptions',
        gracePeriodSeconds,
      });
    },
    left: async () => (await api.everythingIn(NAMESPACE)).filter((name) => !before.includes(name)),
    ready: (counts) =>
      until(`${JSON.stringify(counts)} Pods are ready`, async () => {
        const found = {} as Record<Role, Stored[]>;
        for (const [role, count] of Object.entries(counts) as [Role, number][]) {
          found[role] = await pods(role);
          if (found[role].length !== count || !found[role].every(isReady)) return false;
        }
        return found;
      }),
    // Connections to Pods that are gone would keep this process.
    close: () => caller?.close(),
  };
}

const isReady = ({ metadata, status }: Stored) =>
  metadata.deletionTimestamp === undefined &&
  (status.conditions as { type: string; status: string }[] | undefined)?.some(
    (one) => one.type === 'Ready' && one.status === 'True',
  );

export function requireNoRestarts(pods: Stored[]): void {
  for (const { metadata, status } of pods)
    for (const { restartCount, lastState } of status.containerStatuses)
      if (restartCount > 0)
        throw new Error(`${metadata.name} was restarted after ${JSON.stringify(lastState.terminated)}`);
}

type Create = (kind: string, name: string, more: object) => Promise<unknown>;

/** As the guide has it: an authority of the operator's own. */
async function makeCertificates(scratch: string, create: Create): Promise<void> {
  const folder = join(scratch, 'authority');
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  for (const [role, hosts] of Object.entries(HOSTS)) {
    const names = hosts.flatMap((host) => ['--host', host]);
    await call(process.execPath, [CLI, 'certs', '--dir', folder, '--role', role, '--name', role, ...names]);
    await create('Secret', `${role}-tls`, {
      stringData: {
        'tls.crt': read(`${role}.crt`),
        'tls.key': read(`${role}.key`),
        'ca.crt': read('ca.crt'),
      },
    });
  }
  await create('ConfigMap', 'headrace-revocations', { data: { 'ca.crl': read('ca.crl') } });
}

/** A folder that all Pods of api and worker share: they are on the same machine. */
async function makeVolume(scratch: string, create: Create): Promise<void> {
  const path = join(scratch, 'shared');
  mkdirSync(path, { mode: 0o770 });
  chownSync(path, UID, UID);
  const volume = { accessModes: ['ReadWriteMany'], storageClassName: '' };
  await create('PersistentVolume', 'live', {
    spec: { ...volume, capacity: { storage: '1Gi' }, hostPath: { path } },
  });
  await create('PersistentVolumeClaim', 'headrace-data', {
    spec: { ...volume, volumeName: 'live', resources: { requests: { storage: '1Gi' } } },
  });
}
