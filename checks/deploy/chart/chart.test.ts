import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { SETTINGS } from '../../../packages/server/src/config.ts';
import { CHART, named } from './manifests.ts';
import { helmOn, podsOf, render, VALUE_FILES } from './render.fixture.ts';
import { faultsOf, unknownFieldsOf } from './schemas.fixture.ts';

describe.each(VALUE_FILES)('with the values of %s', (values) => {
  test('helm lint has nothing to say', () => {
    const { code, stdout, stderr } = helmOn('lint', values);
    expect([code, stdout + stderr]).toEqual([0, expect.not.stringMatching(/\[(WARNING|ERROR)\]/)]);
  });

  test('every object is one that Kubernetes knows, without unknown fields', async () => {
    const manifests = render(values);
    expect(await faultsOf(manifests)).toEqual([]);
    expect(unknownFieldsOf(manifests)).toBe('');
  });

  test('no Pod gets a token of the cluster, and all but runners are without rights', () => {
    for (const { metadata, spec } of podsOf(render(values))) {
      const pod = spec.template.spec;
      expect(pod.automountServiceAccountToken, metadata.name).toBe(false);
      expect(pod.containers[0].securityContext.readOnlyRootFilesystem, metadata.name).toBe(true);
      if (spec.template.metadata.labels['app.kubernetes.io/component'] === 'runner') continue;
      expect(pod.securityContext, metadata.name).toMatchObject({ runAsNonRoot: true, runAsUser: 10_001 });
      expect(pod.containers[0].securityContext, metadata.name).toMatchObject({
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'] },
      });
      expect(pod.containers[0].securityContext.privileged, metadata.name).toBeUndefined();
    }
  });

  test('secrets are in no variable, and each mount has its volume', () => {
    for (const { metadata, spec } of podsOf(render(values))) {
      const { containers, volumes } = spec.template.spec;
      const [{ env, volumeMounts }] = containers;
      const names: string[] = env.map(({ name }: { name: string }) => name);
      expect(new Set(names).size, metadata.name).toBe(names.length);
      for (const name of names)
        expect(/SECRET|PASSWORD|DATABASE_.*URL|BOOTSTRAP/.test(name) && !name.endsWith('_FILE'), name).toBe(
          false,
        );
      const mounted = new Set(volumeMounts.map(({ name }: { name: string }) => name));
      expect(mounted, metadata.name).toEqual(new Set(volumes.map(({ name }: { name: string }) => name)));
      for (const { name, value } of env)
        if (name.endsWith('_FILE'))
          expect(
            volumeMounts.some(({ mountPath }: { mountPath: string }) => value.startsWith(`${mountPath}/`)),
            `${metadata.name} ${name}`,
          ).toBe(true);
    }
  });
});

test('the check of objects finds wrong values and unknown fields', async () => {
  const manifests = render('smallest');
  named(manifests, 'Deployment', 'prod-headrace-worker').spec.replicas = 'two';
  expect(await faultsOf(manifests)).toEqual([expect.stringContaining('Deployment prod-headrace-worker')]);
  const others = render('smallest');
  named(others, 'Deployment', 'prod-headrace-api').spec.template.spec.terminationGraceSeconds = 1;
  expect(unknownFieldsOf(others)).toContain('terminationGraceSeconds');
});

test.each([
  ['a value that means nothing', 'apis={}', /apis/],
  ['no place for objects', 's3={"bucket":""}', /bucket|existingClaim/],
  ['no database', 'database=null', /database/],
  ['a database without a Secret', 'database={"secret":""}', /database\/secret/],
  ['a negative count', 'worker={"replicas":-1}', /worker\/replicas/],
  ['a share as text', 'api={"autoscaling":{"cpuPercent":"70"}}', /cpuPercent/],
  ['a name of a pool that no object may have', 'runnerPools={"Big_Pool":{}}', /Big_Pool/],
  ['no pool', 'runnerPools={"default":null}', /runnerPools/],
  ['a pool with a wrong setting', 'runnerPools={"default":{"drain":5}}', /runnerPools\/default/],
  ['no issuer and no certificates', 'tls={"issuer":{"name":""}}', /tls/],
  ['a name of lists that no ConfigMap has', 'tls={"revocations":"ca crl"}', /tls\/revocations/],
  ['a secret as a variable', 'env={"HEADRACE_SECRET_KEY":"x"}', /HEADRACE_SECRET_KEY/],
  ['an ingress without a host', 'ingress={"enabled":true}', /ingress/],
  ['a password of a Secret that is not named', 'firstStart={"hasPassword":true}', /firstStart/],
])('%s: refused', (_, set, reason) => {
  const { code, stderr } = helmOn('template', 'smallest', set);
  expect([code, stderr]).toEqual([1, expect.stringMatching(reason)]);
});

describe('the release', () => {
  test('migrates before it installs and upgrades, with what is there before it', () => {
    const job = named(render('smallest'), 'Job', 'prod-headrace-migrate');
    expect(job.metadata.annotations!['helm.sh/hook']).toBe('pre-install,pre-upgrade');
    const { containers, volumes, serviceAccountName, restartPolicy } = job.spec.template.spec;
    expect(containers[0].args).toEqual(['headrace', 'migrate']);
    expect([serviceAccountName, restartPolicy]).toEqual([undefined, 'Never']);
    // Objects of the release itself do not exist yet: the ConfigMap and the certificates among them.
    expect(volumes.map((volume: { secret?: { secretName: string } }) => volume.secret?.secretName)).toEqual([
      'headrace-database',
      'headrace-secret-key',
      undefined,
    ]);
  });

  test('has Pods for each Service, budget and policy, and each certificate is one that Pods mount', () => {
    const manifests = render('all');
    const pods = podsOf(manifests).map(({ spec }) => spec.template);
    const fits = (labels: Record<string, string>) =>
      pods.filter((pod) => Object.entries(labels).every(([k, v]) => pod.metadata.labels[k] === v));
    for (const { kind, metadata, spec } of manifests) {
      const labels =
        kind === 'Service'
          ? spec.selector
          : kind === 'NetworkPolicy'
            ? spec.podSelector.matchLabels
            : kind === 'PodDisruptionBudget' || kind === 'Deployment'
              ? spec.selector.matchLabels
              : undefined;
      if (labels) expect(fits(labels).length, `${kind} ${metadata.name}`).toBeGreaterThan(0);
      if (kind === 'Service')
        for (const { targetPort } of spec.ports)
          expect(
            fits(labels).some((pod) =>
              pod.spec.containers[0].ports?.some(({ name }: { name: string }) => name === targetPort),
            ),
            `${metadata.name} ${targetPort}`,
          ).toBe(true);
    }
    const mounted = pods.flatMap((pod) =>
      pod.spec.volumes.map(({ secret }: { secret?: { secretName: string } }) => secret?.secretName),
    );
    for (const { spec } of manifests.filter(({ kind }) => kind === 'Certificate'))
      expect(mounted).toContain(spec.secretName);
  });

  test('names each role in its certificate, and the names by which others call it', () => {
    const manifests = render('smallest');
    const certificate = (role: string) => named(manifests, 'Certificate', `prod-headrace-${role}`).spec;
    for (const role of ['api', 'worker', 'runner']) {
      expect(certificate(role).uris).toEqual([`headrace://role/${role}`]);
      expect(certificate(role).usages).toEqual(expect.arrayContaining(['server auth', 'client auth']));
    }
    const runner = named(manifests, 'Deployment', 'prod-headrace-runner-default').spec.template.spec;
    const env = Object.fromEntries(
      runner.containers[0].env.map(({ name, value }: { name: string; value: string }) => [name, value]),
    );
    expect([`${certificate('worker').dnsNames[0]}:4402`]).toEqual([env.HEADRACE_WORKER_ADDRESS]);
    const [wildcard] = certificate('runner').dnsNames;
    expect(runner.containers[0].args[0]).toContain(`${wildcard.slice(1)}:4403"`);
    const [, apiWildcard] = certificate('api').dnsNames;
    const api = named(manifests, 'Deployment', 'prod-headrace-api').spec.template.spec;
    expect(api.containers[0].args[0]).toContain(`${apiWildcard.slice(1)}:4404"`);
    const hosts = named(manifests, 'Service', 'prod-headrace-api-hosts');
    expect(apiWildcard).toBe(`*.${hosts.metadata.name}.apps.svc.cluster.local`);
    expect(hosts.spec).toMatchObject({ clusterIP: 'None', publishNotReadyAddresses: true });
    const service = named(manifests, 'Service', 'prod-headrace-runner');
    expect(wildcard).toBe(`*.${service.metadata.name}.apps.svc.cluster.local`);
    expect(service.spec).toMatchObject({ clusterIP: 'None', publishNotReadyAddresses: true });
  });

  test('has all roles read the lists of revoked certificates, where there are any', () => {
    const variable = { name: 'HEADRACE_TLS_CRL_FILE', value: '/etc/headrace/revocations/ca.crl' };
    const volume = { name: 'revocations', configMap: { name: 'headrace-revocations' } };
    // A single file would stay as it is at the Pod's start.
    const mount = { name: 'revocations', mountPath: '/etc/headrace/revocations', readOnly: true };
    const podsOfRoles = (values: string) =>
      podsOf(render(values)).flatMap(({ kind, spec }) => (kind === 'Deployment' ? [spec.template.spec] : []));
    const pods = podsOfRoles('all');
    expect(pods.length).toBe(4);
    for (const { containers, volumes } of pods) {
      expect(containers[0].env).toContainEqual(variable);
      expect(containers[0].volumeMounts).toContainEqual(mount);
      expect(volumes).toContainEqual(volume);
    }
    expect(JSON.stringify(podsOfRoles('smallest'))).not.toMatch(/revocations|CRL/);
  });

  test('makes neither budgets nor autoscaling where the cluster has none, nor certificates that are given', () => {
    const manifests = render('old-cluster');
    const kinds = new Set(manifests.map(({ kind }) => kind));
    for (const kind of ['PodDisruptionBudget', 'HorizontalPodAutoscaler', 'Certificate', 'NetworkPolicy'])
      expect(kinds).not.toContain(kind);
    expect(named(manifests, 'Deployment', 'prod-headrace-api').spec.replicas).toBe(3);
    // Else each upgrade would undo what the autoscaler did.
    expect(named(render('smallest'), 'Deployment', 'prod-headrace-api').spec.replicas).toBeUndefined();
  });
});

test('every variable is one that the service reads', () => {
  const known = new Set<string>([...Object.keys(SETTINGS), 'AWS_SHARED_CREDENTIALS_FILE', 'POD_IP']);
  for (const { metadata, spec } of podsOf(render('all')))
    for (const { name } of spec.template.spec.containers[0].env)
      expect(known, `${metadata.name} ${name}`).toContain(name);
});

test('the rules are those of the repository, with their own placeholders', () => {
  const rule = named(render('all'), 'PrometheusRule', 'prod-headrace');
  expect(rule.spec).toEqual(parse(readFileSync(join(CHART, '../../prometheus/alerts.yaml'), 'utf8')));
});

describe('runners', () => {
  test('drain for an hour before they end, and a new one is there first', () => {
    const { spec } = named(render('smallest'), 'Deployment', 'prod-headrace-runner-default');
    expect(spec.strategy.rollingUpdate).toEqual({ maxSurge: '25%', maxUnavailable: 0 });
    expect(spec.template.spec.terminationGracePeriodSeconds).toBe(3700);
    expect(spec.template.metadata.annotations).toEqual({
      'cluster-autoscaler.kubernetes.io/safe-to-evict': 'false',
    });
    expect(spec.template.spec.containers[0].securityContext.privileged).toBe(true);
    expect(spec.template.spec.volumes.at(-1)).toEqual({
      name: 'workspaces',
      emptyDir: { sizeLimit: '100Gi' },
    });
    expect(spec.template.spec.tolerations).toEqual([
      { key: 'headrace.dev/runner', operator: 'Exists', effect: 'NoSchedule' },
    ]);
  });

  test('of each pool have its own settings, and the common ones otherwise', () => {
    const manifests = render('all');
    const pod = (pool: string) =>
      named(manifests, 'Deployment', `prod-headrace-runner-${pool}`).spec.template.spec;
    expect(pod('kata')).toMatchObject({
      runtimeClassName: 'kata',
      terminationGracePeriodSeconds: 125,
      nodeSelector: { 'headrace.dev/runner': 'true' },
    });
    expect(pod('kata').containers[0].resources).toEqual({
      requests: { cpu: '2', memory: '8Gi' },
      limits: { memory: '16Gi' },
    });
    expect(pod('default').runtimeClassName).toBeUndefined();
    expect(pod('default').containers[0].env).toContainEqual({
      name: 'HEADRACE_RUNNER_CAPACITY',
      value: '32',
    });
  });

  test('of a pool that is null are not there', () => {
    const { stdout } = helmOn('template', 'all', 'runnerPools={"kata":null}');
    expect(stdout).toContain('name: prod-headrace-runner-default');
    expect(stdout).not.toContain('name: prod-headrace-runner-kata');
  });

  test('have no secret but their certificate', () => {
    for (const { metadata, spec } of render('all').filter(({ kind }) => kind === 'Deployment')) {
      const secrets = spec.template.spec.volumes.filter(({ secret }: { secret?: unknown }) => secret);
      if (metadata.name.includes('runner'))
        expect(secrets).toEqual([
          { name: 'tls', secret: { secretName: 'prod-headrace-runner-tls', defaultMode: 0o400 } },
        ]);
    }
  });
});

describe('network policies', () => {
  const policies = (values: string) => {
    const manifests = render(values);
    return (role: string) => named(manifests, 'NetworkPolicy', `prod-headrace-${role}`).spec;
  };
  interface Peer {
    podSelector?: { matchLabels: Record<string, string> };
    ipBlock?: { cidr: string };
  }
  /** `port from|to roles`, sorted. */
  const rules = (list: { ports?: { port: number }[]; from?: Peer[]; to?: Peer[] }[]) =>
    list.map(({ ports = [], from, to }) => {
      const peers = (from ?? to ?? []).map(
        ({ podSelector, ipBlock }) =>
          podSelector?.matchLabels['app.kubernetes.io/component'] ??
          podSelector?.matchLabels['k8s-app'] ??
          ipBlock?.cidr ??
          'elsewhere',
      );
      return `${ports.map(({ port }) => port).join('+') || 'any'} ${peers.join('+') || 'all'}`;
    });

  test('open the ports of the roles to those who call them, and nothing else', () => {
    const policy = policies('smallest');
    expect(rules(policy('api').ingress)).toEqual(['4400 all', '4404 api+worker']);
    expect(rules(policy('worker').ingress)).toEqual(['4402 runner']);
    expect(rules(policy('runner').ingress)).toEqual(['4403 api+worker']);
    expect(policy('migrate')).toMatchObject({ policyTypes: ['Ingress'] });
    expect(policy('migrate').ingress).toBeUndefined();
    expect(rules(policy('runner').egress)).toEqual(['4402 worker', '53+53 kube-dns', 'any 0.0.0.0/0+::/0']);
  });

  test('keep runners from private and metadata addresses', () => {
    const blocks = policies('smallest')('runner').egress[2].to;
    expect(blocks[0].ipBlock.except).toEqual(
      expect.arrayContaining(['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '169.254.0.0/16']),
    );
    expect(blocks[1].ipBlock.except).toEqual(expect.arrayContaining(['fc00::/7', 'fe80::/10']));
  });

  test('let those read metrics who are named', () => {
    const policy = policies('all');
    for (const role of ['api', 'worker', 'runner'])
      expect(rules(policy(role).ingress).at(-1)).toBe('9464 elsewhere');
  });
});
