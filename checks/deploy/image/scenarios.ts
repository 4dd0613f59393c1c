/** What the images are started for: the service by itself, and everything in one container. */
import { makeServiceKey } from '../../../packages/server/src/accounts/keys.ts';
import { RUNNER, SERVICE } from './build.ts';
import type { Container } from './podman.ts';
import {
  READ_ONLY,
  requireEqual,
  runInSandbox,
  started,
  statusOf,
  withCaller,
  withVolume,
} from './service.ts';
import type { Started } from './service.ts';

/** CPU time: other work on this machine makes a start take longer, and its CPU time only by half. At a load of thirty it was 3.3 s. */
const LISTENING_CPU_SECONDS = 4;
const LEAST_GIT = 2.45;

/** api with its embedded database: unprivileged, without capabilities, its root file system read-only. */
export async function serviceAlone(): Promise<string> {
  const rights = ['--cap-drop=all', '--security-opt=no-new-privileges'];
  return withVolume(async (volume) => {
    const first = await started(SERVICE, [...READ_ONLY, ...rights, volume], { HEADRACE_ROLES: 'api' });
    await first.use(async ({ container }) => {
      requireEqual('the user', container.exec('id', '-u'), '10001');
      const git = /(\d+\.\d+)/.exec(container.exec('git', '--version'))![1]!;
      if (Number(git) < LEAST_GIT) throw new Error(`git is ${git}`);
      for (const path of ['/opt/headrace/x', '/etc/x', '/usr/x'])
        if (succeeds(() => container.exec('touch', path))) throw new Error(`${path} can be written`);
      if (!container.exec('headrace', '--help').includes('headrace')) throw new Error('no command line');
      requireEqual('the console', await statusOf(`${first.base}/console/`), 200);
      requireCompiled(container);
    });
    const second = await started(SERVICE, [...READ_ONLY, ...rights, volume], { HEADRACE_ROLES: 'api' });
    await second.use(() => Promise.resolve());
    const text = `listening after ${timeOf(first)} with a new database, ${timeOf(second)} with one`;
    if (second.listeningCpuSeconds > LISTENING_CPU_SECONDS)
      throw new Error(`${text}; at most ${LISTENING_CPU_SECONDS} s of CPU`);
    return text;
  });
}

/** All roles in a container of the image `runner`, as compose starts it: a run has to end well in its sandbox. */
export async function oneContainer(): Promise<string> {
  return withVolume(async (volume) => {
    const key = makeServiceKey();
    const service = await started(RUNNER, [...READ_ONLY, '--privileged', volume], {
      HEADRACE_ROLES: 'api,worker,runner',
      HEADRACE_BOOTSTRAP_KEY: key,
      HEADRACE_SANDBOX_LIMITS: 'best-effort',
    });
    let driver = '';
    await service.use(async ({ container }) => {
      driver = /^ok\s+sandbox\s+(.*)$/m.exec(container.exec('headrace', 'doctor'))?.[1] ?? '';
      if (!driver.startsWith('bubblewrap')) throw new Error(`no sandbox: ${container.logs()}`);
      requireCompiled(container);
      await withCaller(service.base, key, runInSandbox);
    });
    return `${driver}; listening after ${timeOf(service)} with a new database`;
  });
}

const timeOf = ({ listeningMs, listeningCpuSeconds }: Started): string =>
  `${(listeningMs / 1000).toFixed(1)} s (${listeningCpuSeconds.toFixed(1)} s of CPU)`;

/** Where the image has none for its user, Node cannot make a folder, as the root file system is read-only. */
function requireCompiled(container: Container): void {
  const ask = "console.log(require('node:module').getCompileCacheDir())";
  const folder = container.exec('/opt/headrace/node_modules/.bin/node', '--expose-gc', '--eval', ask);
  if (!folder.startsWith('/')) throw new Error('the image has no compiled modules for its user');
}

function succeeds(act: () => unknown): boolean {
  try {
    act();
    return true;
  } catch {
    return false;
  }
}
