/** The service in several processes, with its runners on nodes: all on this machine, over real mTLS. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { pidOf, startDatabase, startServiceOn } from '../../harness/database.ts';
import { freePort } from '../../harness/free-port.ts';
import { endProcess, lastOf, spawnService } from '../../harness/service.ts';
import type { Service } from '../../harness/service.ts';
import { TestAuthority } from '../../../packages/runner/src/tls/certificates.fixture.ts';
import type { Address, TlsFiles } from '../../../packages/runner/src/tls/index.ts';
import type { Setup } from './benchmark.ts';
import type { NullRunnerOptions, Played } from './null-runner.ts';

export interface Machines {
  api: Service;
  workers: { pid: number; address: Address }[];
  database: { url: string; pid: number };
  authority: TestAuthority;
}

const SECRET = 'a secret of the benchmark, 32 characters';

export const tlsEnv = ({ cert, key, ca }: TlsFiles): Record<string, string> => ({
  HEADRACE_TLS_CERT_FILE: cert,
  HEADRACE_TLS_KEY_FILE: key,
  HEADRACE_TLS_CA_FILE: ca,
});

/** One process with the role api, and some with the role worker. No runner is started. */
export async function startMachines(setup: Setup, workers: number): Promise<Machines> {
  const database = await startDatabase(setup.scratch);
  setup.atEnd(() => database.stop());
  const authority = new TestAuthority(setup.scratch);
  const api = await startServiceOn(
    setup,
    database,
    { HEADRACE_ROLES: 'api', ...tlsEnv(authority.of('api')) },
    [],
    { hasSession: true },
  );
  const started: Machines['workers'] = [];
  for (let n = 0; n < workers; n++) {
    const address = { host: '127.0.0.1', port: await freePort() };
    const child = spawnService({
      dataDir: api.dataDir,
      key: api.key,
      hasSession: true,
      env: {
        DATABASE_URL: database.url,
        HEADRACE_SECRET_KEY: SECRET,
        HEADRACE_ROLES: 'worker',
        HEADRACE_WORKER_LISTEN: `${address.host}:${address.port}`,
        ...tlsEnv(authority.of('worker')),
      },
    });
    const said = lastOf(child);
    child.once('exit', (code) => {
      if (code !== 0) setup.say(`worker ${n} has ended: ${said()}`);
    });
    setup.atEnd(() => endProcess(child));
    started.push({ pid: child.pid!, address });
  }
  return { api, workers: started, database: { url: database.url, pid: pidOf(database) }, authority };
}

export interface NullRunners {
  pid: number;
  /** Of each runner. */
  played(): Promise<Played[]>;
  /** Ends their reports for now, and lets them begin again. */
  tell(what: 'pause' | 'go on'): void;
}

export async function startNullRunners(
  setup: Setup,
  options: Omit<NullRunnerOptions, 'name'> & { count: number },
): Promise<NullRunners> {
  const child = fork(join(import.meta.dirname, '../null-runners.ts'), [JSON.stringify(options)], {
    execArgv: ['--disable-warning=ExperimentalWarning'],
    detached: true,
  });
  setup.atEnd(() => endProcess(child));
  await once(child, 'message');
  return {
    pid: child.pid!,
    async played() {
      child.send('played');
      return (await once(child, 'message'))[0] as Played[];
    },
    tell: (what) => void child.send(what),
  };
}
