import type { Readable } from 'node:stream';
import { RunnerError } from '../../errors.ts';
import type { Sandbox, SandboxExit } from '../driver.ts';
import { signalOf } from '../exit.ts';
import { kill, processStat, settled } from '../processes.ts';
import type { Cgroup } from './cgroups.ts';
import { freezerOf } from './freezer.ts';
import type { Launch } from './launch.ts';

const GONE_TIMEOUT_MS = 10_000;

/** Gives a waiting launch its arguments; from then on it is a sandbox. */
export function startLaunch({ child, cgroup, args, info }: Launch, settings: string[]): Sandbox {
  args.end(settings.map((arg) => `${arg}\0`).join(''));
  const init = initOf(info);
  const freezer = freezerOf(cgroup, init.pid);
  const ended = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.once('error', () => resolve({ code: null, signal: null }));
  });
  let oom = false;
  const confirm = async (): Promise<SandboxExit> => {
    const { code, signal } = await ended;
    oom ||= cgroup?.oomKilled() ?? false;
    if (!(await isGone(init.pid(), init.startTime(), cgroup)))
      throw new RunnerError(500, 'not_confirmed', 'Processes of the sandbox are still alive.');
    return { code, signal: signal ?? signalOf(code), oom };
  };
  const exited = confirm();
  exited.catch(() => {
    /* its awaiters see it */
  });
  return {
    stdin: child.stdin!,
    stdout: child.stdout!,
    stderr: child.stderr!,
    begun: init.known,
    initPid: init.pid,
    exited,
    pause: () => freezer.freeze(),
    resume: async () => freezer.thaw(),
    async kill() {
      // Kills the init first: with it the kernel ends every process of the namespace. Before bwrap has
      // reported it there is only bwrap itself.
      await Promise.race([init.known, ended]);
      freezer.thaw();
      const pid = init.pid();
      if (pid !== undefined && processStat(pid)?.startTime === init.startTime()) kill(pid);
      child.kill('SIGKILL');
      return exited.catch(confirm);
    },
  };
}

/** bwrap writes {"child-pid": N, …} as soon as the sandbox's init exists. */
function initOf(info: Readable): {
  known: Promise<void>;
  pid(): number | undefined;
  startTime(): string | undefined;
} {
  let text = '',
    pid: number | undefined,
    startTime: string | undefined;
  const known = new Promise<void>((resolve) => {
    info
      .setEncoding('utf8')
      .on('data', (part: string) => {
        text += part;
        const found = /"child-pid":\s*(\d+)/.exec(text);
        if (!found || pid !== undefined) return;
        pid = Number(found[1]);
        startTime = processStat(pid)?.startTime;
        resolve();
      })
      .once('close', resolve);
  });
  return { known, pid: () => pid, startTime: () => startTime };
}

/** An init is a zombie or missing only after the kernel has reaped its whole namespace. */
async function isGone(
  pid: number | undefined,
  startTime: string | undefined,
  cgroup: Cgroup | undefined,
): Promise<boolean> {
  const initIsGone =
    pid === undefined ||
    (await settled(() => {
      const stat = processStat(pid);
      if (!stat || stat.startTime !== startTime || stat.state === 'Z') return true;
      kill(pid);
      return false;
    }, GONE_TIMEOUT_MS));
  return initIsGone && (cgroup === undefined || cgroup.remove());
}
