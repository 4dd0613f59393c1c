/** etcd and Kubernetes' control plane, on an address that only this network namespace has. */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HELM } from '../chart/tools.ts';
import { ADDRESS, SERVICE_RANGE } from './addresses.ts';
import { connect } from './api.ts';
import type { Api } from './api.ts';
import { call, start, until } from './processes.ts';
import type { Running } from './processes.ts';
import { programOf } from './servers.ts';

const BASE = `https://${ADDRESS}:6443`;
const HELM_MS = 11 * 60_000;

export interface Cluster {
  api: Api;
  /** For what speaks to the API with all rights. */
  kubeconfig: string;
  /** Throws if Helm fails. What it printed. */
  helm(...args: string[]): Promise<string>;
}

/** The namespaces of network, mounts and processes are this process's own. */
export async function startCluster(scratch: string): Promise<Cluster> {
  await call('ip', ['link', 'set', 'lo', 'up']);
  await call('ip', ['link', 'add', 'node', 'type', 'bridge']);
  await call('ip', ['address', 'add', `${ADDRESS}/24`, 'dev', 'node']);
  await call('ip', ['link', 'set', 'node', 'up']);
  await call('ip', ['route', 'add', 'default', 'via', ADDRESS]);
  // Between Pods, and from them to the node.
  writeFileSync('/proc/sys/net/ipv4/ip_forward', '1');

  const token = randomBytes(16).toString('hex');
  const { publicKey, privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const file = (name: string, text: string) => {
    writeFileSync(join(scratch, name), text, { mode: 0o600 });
    return join(scratch, name);
  };
  const certificates = join(scratch, 'certificates');
  mkdirSync(certificates);
  start(scratch, 'etcd', [`--data-dir=${join(scratch, 'etcd')}`, '--unsafe-no-fsync', '--log-level=warn']);
  const server = start(scratch, programOf('kube-apiserver'), [
    '--etcd-servers=http://127.0.0.1:2379',
    `--advertise-address=${ADDRESS}`,
    `--bind-address=${ADDRESS}`,
    `--cert-dir=${certificates}`,
    `--service-cluster-ip-range=${SERVICE_RANGE}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${file('accounts.pub', publicKey)}`,
    `--service-account-signing-key-file=${file('accounts.key', privateKey)}`,
    `--token-auth-file=${file('tokens.csv', `${token},admin,1,system:masters\n`)}`,
    '--authorization-mode=RBAC',
    // Their names are nobody's.
    '--kubelet-preferred-address-types=InternalIP',
    '--allow-privileged',
  ]);
  const authority = join(certificates, 'apiserver.crt');
  const api = await until('the API answers', async () => {
    requireUp(server);
    const one = connect(BASE, token, authority);
    return (await one.send('GET', '/readyz')).status === 200 && one;
  });
  const kubeconfig = file(
    'kubeconfig',
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'it', cluster: { server: BASE, 'certificate-authority': authority } }],
      users: [{ name: 'it', user: { token } }],
      contexts: [{ name: 'it', context: { cluster: 'it', user: 'it' } }],
      'current-context': 'it',
    }),
  );
  start(scratch, programOf('kube-controller-manager'), [
    `--kubeconfig=${kubeconfig}`,
    `--service-account-private-key-file=${join(scratch, 'accounts.key')}`,
    // It signs requests of kubelets, of which there are none.
    '--controllers=*,-csrsigning,-csrapproving',
    '--leader-elect=false',
  ]);
  start(scratch, programOf('kube-scheduler'), [`--kubeconfig=${kubeconfig}`, '--leader-elect=false']);
  await until('the controllers work', async () =>
    api.stored({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } }, 'default'),
  );
  return {
    api,
    kubeconfig,
    helm: (...args) => call(HELM, args, { limitMs: HELM_MS, env: { HOME: scratch, KUBECONFIG: kubeconfig } }),
  };
}

function requireUp(server: Running): void {
  if (!server.isUp()) throw new Error(`${server.name} ended: ${server.said()}`);
}
