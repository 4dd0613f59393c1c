/** The roles in containers of their own, as in a cluster: secrets and certificates from files, mutual TLS between them. */
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeServiceKey } from '../../../packages/server/src/accounts/keys.ts';
import { startEmbeddedPostgres } from '../../../packages/server/src/db/embedded/index.ts';
import { RUNNER, SERVICE } from './build.ts';
import { create, remove, runOnce } from './podman.ts';
import type { Container } from './podman.ts';
import { freePort, READ_ONLY, requireEqual, runInSandbox, statusOf, until, withCaller } from './service.ts';

/** The user of the image. */
const UID = 10_001;
const log = { info: () => {}, warn: console.warn, error: console.error };

export async function roleEach(): Promise<string> {
  const scratch = mkdtempSync(join(tmpdir(), 'headrace-image-'));
  chmodSync(scratch, 0o755);
  const place = join(scratch, 'postgres');
  mkdirSync(place, { mode: 0o700 });
  // Containers share this machine's loopback.
  const postgres = await startEmbeddedPostgres({
    dataDir: place,
    log,
    settings: { listen_addresses: '127.0.0.1' },
  });
  const running: Container[] = [];
  try {
    return await onMachines(scratch, postgres.connection, running);
  } catch (error) {
    for (const one of running) console.log(one.logs());
    throw error;
  } finally {
    for (const { id } of running) remove(id);
    await postgres.stop();
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function onMachines(
  scratch: string,
  { user, database }: { user: string; database: string },
  running: Container[],
): Promise<string> {
  const [api, worker, runner] = [await freePort(), await freePort(), await freePort()];
  const key = makeServiceKey();
  const secrets = folderOf(scratch, 'secrets', {
    url: `postgresql://${user}@127.0.0.1:5432/${database}`,
    key: 'a secret key of at least 32 characters',
    bootstrapKey: key,
  });
  const shared = folderOf(scratch, 'shared', {});
  const tls = makeCertificates(scratch);
  const service = [
    ...READ_ONLY,
    '--cap-drop=all',
    '--security-opt=no-new-privileges',
    `--volume=${secrets}:/run/secrets:ro`,
    `--volume=${tls}:/run/tls:ro`,
    `--volume=${shared}:/var/lib/headrace`,
    '--env=DATABASE_URL_FILE=/run/secrets/url',
    '--env=HEADRACE_SECRET_KEY_FILE=/run/secrets/key',
    '--env=HEADRACE_BOOTSTRAP_KEY_FILE=/run/secrets/bootstrapKey',
  ];
  const migrated = runOnce(service, SERVICE, 'headrace', 'migrate');

  const run = (role: string, image: string, options: string[], env: Record<string, string>) => {
    const all: Record<string, string> = {
      HEADRACE_ROLES: role,
      HEADRACE_TLS_CERT_FILE: `/run/tls/${role}.crt`,
      HEADRACE_TLS_KEY_FILE: `/run/tls/${role}.key`,
      HEADRACE_TLS_CA_FILE: '/run/tls/ca.crt',
      HEADRACE_HOST: '127.0.0.1',
      HEADRACE_SANDBOX_LIMITS: 'best-effort',
      ...env,
    };
    const container = create(
      [...options, ...Object.entries(all).map(([name, value]) => `--env=${name}=${value}`)],
      image,
    );
    running.push(container);
    container.start();
    return container;
  };
  const first = run('api', SERVICE, service, {
    HEADRACE_PORT: String(api),
    HEADRACE_API_LISTEN: `127.0.0.1:${await freePort()}`,
  });
  run('worker', SERVICE, service, { HEADRACE_WORKER_LISTEN: `127.0.0.1:${worker}` });
  const rights = ['--privileged', '--tmpfs=/var/lib/headrace:rw,size=1g,mode=0700'];
  const node = run('runner', RUNNER, [...READ_ONLY, ...rights, `--volume=${tls}:/run/tls:ro`], {
    HEADRACE_RUNNER_LISTEN: `127.0.0.1:${runner}`,
    HEADRACE_RUNNER_ADDRESS: `localhost:${runner}`,
    HEADRACE_WORKER_ADDRESS: `localhost:${worker}`,
    HEADRACE_DRAIN_SECONDS: '5',
  });
  const base = `http://127.0.0.1:${api}`;
  // All are made by now, which takes longer than their start.
  const from = performance.now();
  await until(from, first, async () => (await statusOf(`${base}/health/ready`)) === 200);
  await until(from, node, () => Promise.resolve(node.logs().includes('runner listening')));
  await withCaller(base, key, runInSandbox);
  for (const one of running.toReversed()) requireEqual('the exit code', one.stop(), 0);
  return `${migrated.split('\n').at(-1)} A command ran at a runner over mutual TLS.`;
}

/** A folder with files, for the image's user alone. */
function folderOf(scratch: string, name: string, files: Record<string, string>): string {
  const folder = join(scratch, name);
  mkdirSync(folder, { mode: 0o700 });
  for (const [file, text] of Object.entries(files)) {
    writeFileSync(join(folder, file), text, { mode: 0o400 });
    chownSync(join(folder, file), UID, UID);
  }
  chownSync(folder, UID, UID);
  return folder;
}

function makeCertificates(scratch: string): string {
  const folder = folderOf(scratch, 'tls', {});
  for (const role of ['api', 'worker', 'runner'])
    runOnce(
      [`--volume=${folder}:/tls`],
      SERVICE,
      'headrace',
      'certs',
      '--dir=/tls',
      `--name=${role}`,
      `--role=${role}`,
      '--host=localhost',
    );
  return folder;
}
