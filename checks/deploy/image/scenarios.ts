/** What the images are started for: the service by itself, and everything in one container. */
import { makeServiceKey } from '../../../packages/server/src/accounts/keys.ts';
import { RUNNER, SERVICE } from './build.ts';
import {
  READ_ONLY,
  requireEqual,
  runInSandbox,
  started,
  statusOf,
  withCaller,
  withVolume,
} from './service.ts';

const LISTENING_BUDGET_MS = 3_000;
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
    });
    const second = await started(SERVICE, [...READ_ONLY, ...rights, volume], { HEADRACE_ROLES: 'api' });
    await second.use(() => Promise.resolve());
    if (second.listeningMs > LISTENING_BUDGET_MS)
      throw new Error(`listening after ${second.listeningMs} ms, at most ${LISTENING_BUDGET_MS}`);
    return `listening after ${first.listeningMs} ms with a new database, ${second.listeningMs} ms with one`;
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
      await withCaller(service.base, key, runInSandbox);
    });
    return `${driver}; listening after ${service.listeningMs} ms with a new database`;
  });
}

function succeeds(act: () => unknown): boolean {
  try {
    act();
    return true;
  } catch {
    return false;
  }
}
