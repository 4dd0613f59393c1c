import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { AloneProbe, Ground } from '../alone.ts';
import { PYTHON } from '../canaries.ts';
import { makeSandboxFolder } from '../../../../packages/runner/src/sandbox/host.ts';
import { kill, processStat, settled } from '../../../../packages/runner/src/sandbox/processes.ts';

/** Processes of this host with this mark in their environment. */
function marked(mark: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return (
          readFileSync(`/proc/${pid}/environ`, 'latin1').includes(mark) && processStat(pid)?.state !== 'Z'
        );
      } catch {
        return false;
      }
    });
}

/** A process that tries to outlive its sandbox; it ends by itself after some seconds. */
function stays(name: string, script: string, ending: 'exits' | 'is killed'): AloneProbe {
  return {
    name,
    theme: 'what stays',
    async attempt(ground) {
      const mark = `HR_STAYS=${ground.canaries.id}-${name}.`;
      const sandbox = ground.start(`export ${mark}; exec ${PYTHON} -c '${STAYING}${script}'`);
      const ready = new Promise<void>((resolve) => {
        sandbox.stdout.once('data', () => resolve()).once('close', () => resolve());
      });
      await ready;
      if (ending === 'is killed') await sandbox.kill();
      await sandbox.exited;
      const left = marked(mark);
      await settled(() => {
        const now = marked(mark);
        now.forEach(kill);
        return now.length === 0;
      }, 10_000);
      return { succeeded: left.length > 0, said: `${left.length} processes` };
    },
  };
}

const STAYING = `
import os, signal, sys, time
END = time.time() + 6
def ready():
    print("ready", flush=True); os.close(1)
def daemon():
    if os.fork(): time.sleep(0.3); os._exit(0)
    os.setsid()
    if os.fork(): os._exit(0)
`;
const WAITS = 'while time.time() < END: time.sleep(0.1)';

/** Its pid changes all the time: only its effects show that it runs. */
async function forksAway(ground: Ground): Promise<{ succeeded: boolean; said: string }> {
  const folder = makeSandboxFolder(ground.host, randomUUID()),
    beat = join(folder, 'beat');
  const sandbox = ground.start(
    `exec ${PYTHON} -c '${STAYING}daemon()\nopen("beat", "w")\nready()\nwhile time.time() < END:\n    os.utime("beat")\n    if os.fork(): os._exit(0)\n    os.setsid()'`,
    folder,
  );
  await once(sandbox.stdout, 'data');
  await sandbox.kill();
  const at = statSync(beat).mtimeMs;
  const goesOn = await settled(() => statSync(beat).mtimeMs > at, 500);
  return { succeeded: goesOn, said: goesOn ? 'still there' : 'gone' };
}

const LEFT: [string, string][] = [
  ['tmp', '/tmp'],
  ['var-tmp', '/var/tmp'],
  ['dev-shm', '/dev/shm'],
  ['run', '/run'],
  ['lock', '/run/lock'],
];

const leaves = (name: string, folder: string): AloneProbe => ({
  name: `leave-in-${name}`,
  theme: 'what stays',
  async attempt(ground) {
    const file = `${folder}/${ground.canaries.id}.left`;
    const sandbox = ground.start(`: >${file}`);
    sandbox.stdout.resume();
    await sandbox.exited;
    const stays = existsSync(file);
    rmSync(file, { force: true });
    return { succeeded: stays, said: file };
  },
});

async function leaveSharedMemory(ground: Ground): Promise<{ succeeded: boolean; said: string }> {
  const KEY = 0x68720000 + (process.pid & 0xffff);
  const sandbox = ground.start(
    `exec ${PYTHON} -c 'import ctypes; print(ctypes.CDLL(None).shmget(${KEY}, 4096, 0o1666))'`,
  );
  let said = '';
  sandbox.stdout.on('data', (part: Buffer) => {
    said += part.toString();
  });
  await sandbox.exited;
  const line = readFileSync('/proc/sysvipc/shm', 'latin1')
    .split('\n')
    .map((row) => row.trim().split(/\s+/))
    .find(([key]) => Number(key) === KEY);
  if (line)
    await ground.start(
      `exec ${PYTHON} -c 'import ctypes; ctypes.CDLL(None).shmctl(${Number(line[1])}, 0, None)'`,
    ).exited;
  return { succeeded: line !== undefined, said };
}

export const STAYING_PROBES: AloneProbe[] = [
  stays('daemon', `daemon()\nready()\n${WAITS}`, 'exits'),
  stays('daemon-at-kill', `daemon()\nready()\n${WAITS}`, 'is killed'),
  stays(
    'ignores-signals',
    `daemon()\n[signal.signal(s, signal.SIG_IGN) for s in range(1, 32) if s not in (9, 19)]\nready()\n${WAITS}`,
    'is killed',
  ),
  stays('stopped', 'daemon()\nready()\nos.kill(os.getpid(), 19)', 'is killed'),
  { name: 'forks-away', theme: 'what stays', attempt: forksAway },
  ...LEFT.map(([name, folder]) => leaves(name, folder)),
  { name: 'leave-shared-memory', theme: 'what stays', attempt: leaveSharedMemory },
];
