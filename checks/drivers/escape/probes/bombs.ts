import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import type { SandboxLimits } from '../../../../packages/runner/src/protocol.ts';
import type { AloneProbe, Ground } from '../alone.ts';
import { PYTHON } from '../canaries.ts';

const MEBI = 1024 ** 2;
const LIMITS: SandboxLimits = { memoryBytes: 128 * MEBI, processes: 64, diskBytes: 32 * MEBI };
/** Each probe stops by itself slightly above its limit, so that it is harmless without a sandbox too. */
const MORE = 1.5;
/** What no kernel limit bounds is checked every few seconds: an overrun that lasts longer is a success. */
const LASTS_SECONDS = 15;

/** Without control groups the limit of processes applies to the whole user: then the usual limit is used. */
function limitsOf({ host }: Ground, own: Partial<SandboxLimits>): SandboxLimits {
  return { ...LIMITS, ...(host.driver?.limits.processes !== 'cgroup' && { processes: 512 }), ...own };
}

/** Grows faster than a watchdog looks, or cannot be seen by one: docs/guides/security.md says so. */
const BY_KERNEL_ALONE = /^memory-|^disk-deleted-files$/;

function bomb(name: string, script: string, own: Partial<SandboxLimits> = {}): AloneProbe {
  return {
    name,
    theme: 'resources',
    async attempt(ground) {
      if (!ground.isControl && ground.host.driver?.limits.memory !== 'cgroup' && BY_KERNEL_ALONE.test(name))
        return undefined;
      const limits = limitsOf(ground, own);
      const said = await ground.run(
        `LASTS=${ground.isControl ? 0.2 : LASTS_SECONDS} PROCESSES=${limits.processes} MEMORY=${limits.memoryBytes * MORE} DISK=${limits.diskBytes} exec ${PYTHON} -c '${PRELUDE}${script}'`,
        limits,
      );
      return { succeeded: said.includes('ESCAPED'), said };
    },
  };
}

const PRELUDE = `
import os, sys, time, socket, mmap, ctypes, threading, signal
signal.alarm(40)
N, MEMORY, DISK = (int(float(os.environ[n])) for n in ("PROCESSES", "MEMORY", "DISK"))
def won(*said): print("ESCAPED", *said, flush=True); os._exit(0)
def lasting(*said):
    time.sleep(float(os.environ["LASTS"])); won(*said)
STEP = 8 << 20
`;
const lasting = (how: string): string => `
for i in range(3 * DISK // STEP):
    ${how}
lasting(i)`;

const HELD_BY = `
def hold(size):
    fd = os.memfd_create("x"); [os.write(fd, bytes(1 << 20)) for _ in range(size >> 20)]; return fd
`;

export const BOMBS: AloneProbe[] = [
  bomb(
    'fork-bomb',
    `
for i in range(N + 40):
    if os.fork() == 0: time.sleep(20); os._exit(0)
won(i)`,
  ),
  bomb(
    'zombie-flood',
    `
for i in range(N + 40):
    if os.fork() == 0: os._exit(0)
won(i)`,
  ),
  bomb(
    'thread-bomb',
    `
threading.stack_size(65536)
for i in range(N + 40): threading.Thread(target=time.sleep, args=(20,), daemon=True).start()
won(i)`,
  ),
  bomb(
    'orphan-flood',
    `
for i in range(N + 40):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0: time.sleep(20)
        os._exit(0)
    os.wait()
won(sum(name.isdigit() for name in os.listdir("/proc"))) if sum(name.isdigit() for name in os.listdir("/proc")) > N else None`,
  ),
  bomb(
    'memory-anonymous',
    `
kept = []
while len(kept) * STEP < MEMORY: kept.append(b"x" * STEP)
won()`,
  ),
  // Counts what is held at one time: a child that the kernel killed made room for the next.
  bomb(
    'memory-of-many',
    `
r, w = os.pipe()
kids = []
for i in range(6):
    kids.append(os.fork())
    if kids[-1] == 0: kept = b"x" * (MEMORY // 6); os.write(w, b"."); time.sleep(20); os._exit(0)
signal.alarm(6)
got = 0
while got < 6: got += len(os.read(r, 9))
time.sleep(0.5)
if all(os.waitpid(kid, os.WNOHANG) == (0, 0) for kid in kids): won()`,
  ),
  bomb('memory-shared', 'm = mmap.mmap(-1, MEMORY)\nfor i in range(0, MEMORY, 4096): m[i] = 1\nwon()'),
  bomb('memory-files', `${HELD_BY}kept = [hold(STEP) for _ in range(MEMORY // STEP)]\nwon()`),
  bomb(
    'memory-tmp',
    `
import tempfile
d = tempfile.TemporaryDirectory(dir="/tmp")
for i in range(MEMORY // STEP): open(d.name + "/" + str(i), "wb").write(bytes(STEP))
d.cleanup(); won()`,
  ),
  bomb(
    'memory-dev-shm',
    `
import tempfile
d = tempfile.TemporaryDirectory(dir="/dev/shm")
for i in range(MEMORY // STEP): open(d.name + "/" + str(i), "wb").write(bytes(STEP))
d.cleanup(); won()`,
  ),
  bomb(
    'memory-system-v',
    `
L = ctypes.CDLL(None, use_errno=True); L.shmat.restype = ctypes.c_void_p
for i in range(MEMORY // STEP):
    at = L.shmget(0, STEP, 0o1600); where = L.shmat(at, None, 0); L.shmctl(at, 0, None)
    if where == 2**64 - 1: sys.exit("none")
    ctypes.memset(where, 1, STEP)
won()`,
  ),
  bomb(
    'memory-unix-sockets',
    `
kept, total = [], 0
while total < MEMORY:
    pair = socket.socketpair(); kept.append(pair)
    for one in pair:
        one.setblocking(False)
        try:
            while True: total += one.send(bytes(65536))
        except BlockingIOError: pass
won(len(kept))`,
  ),
  bomb(
    'memory-tcp',
    `
server = socket.create_server(("127.0.0.1", 0)); kept, total, stuck = [], 0, 0
while total < MEMORY and stuck < 200:
    pair = (socket.create_connection(server.getsockname()), server.accept()[0]); kept.append(pair); before = total
    for one in pair:
        one.setblocking(False); end = time.monotonic() + 0.05
        while time.monotonic() < end:
            try: total += one.send(bytes(1 << 20))
            except BlockingIOError: time.sleep(0.005)
    stuck += total - before < 1 << 20
won(len(kept), total) if total >= MEMORY else print(total)`,
  ),
  bomb('disk-many-files', lasting('open(str(i), "wb").write(bytes(STEP))'), { memoryBytes: 512 * MEBI }),
  bomb(
    'disk-in-closed-folder',
    `os.mkdir("d")\n${lasting('open("d/" + str(i), "wb").write(bytes(STEP))').replace('lasting(i)', 'os.chmod("d", 0); lasting(i)')}`,
    { memoryBytes: 512 * MEBI },
  ),
  bomb('disk-deep', lasting('os.mkdir("deep"); os.chdir("deep"); open("f", "wb").write(bytes(STEP))'), {
    memoryBytes: 512 * MEBI,
  }),
  bomb(
    'disk-deleted-files',
    'kept = []\n' +
      lasting('f = open("f", "wb", 0); f.write(bytes(STEP)); os.unlink("f"); kept.append(f)').replace(
        '3 * DISK',
        '5 * DISK',
      ),
  ),
  bomb(
    'disk-one-file',
    'f = open("f", "wb", 0)\nfor i in range(2 * DISK // STEP): f.write(bytes(STEP))\nwon() if os.stat("f").st_size > DISK else None',
    { memoryBytes: 512 * MEBI },
  ),
  bomb('disk-sparse-file', 'f = open("f", "wb", 0); f.truncate(DISK * 100); won()'),
  bomb('disk-allocated', 'f = open("f", "wb", 0); os.posix_fallocate(f.fileno(), 0, DISK * 2); won()', {
    memoryBytes: 512 * MEBI,
  }),
  bomb(
    'disk-empty-files',
    'for i in range(3 * DISK // 4096): os.close(os.open(str(i), os.O_CREAT | os.O_WRONLY))\nlasting()',
    { memoryBytes: 512 * MEBI },
  ),
  bomb('disk-empty-folders', 'for i in range(2 * DISK // 4096): os.mkdir(str(i))\nlasting()', {
    memoryBytes: 512 * MEBI,
  }),
  bomb(
    'disk-many-names',
    'open("f", "w")\nfor i in range(3 * DISK // 4096): os.symlink("x" * 60, str(i))\nlasting()',
    { memoryBytes: 512 * MEBI },
  ),
  bomb('open-files', 'kept = []\nwhile len(kept) < 66000: kept.append(os.dup(0))\nwon()', {
    memoryBytes: 512 * MEBI,
  }),
];

/** Runs with no other probe. */
export const PROCESSORS: AloneProbe = { name: 'processors', theme: 'resources', attempt: processors };

/**
 * Eight busy processes compete with one of the host, all on one processor: they must not get several times
 * its share, nor more than half of the processor.
 */
async function processors(ground: Ground): Promise<{ succeeded: boolean; said: string } | undefined> {
  const { cpu } = ground.host.driver!.limits as { cpu?: string };
  if (cpu !== 'cgroup') return undefined;
  const end = Date.now() / 1000 + 4;
  const busy = (count: number): string => `import os, time
try: os.sched_setaffinity(0, {0})
except OSError: pass
for _ in range(${count - 1}):
    if os.fork() == 0: break
while time.time() < ${end - 2}: time.sleep(0.01)
begun = time.process_time()
while time.time() < ${end}: pass
print(time.process_time() - begun, flush=True)
time.sleep(1)`;
  const host = spawn(PYTHON, ['-c', busy(1)], { stdio: ['ignore', 'pipe', 'ignore'] });
  const [said, own] = await Promise.all([
    ground.run(`exec ${PYTHON} -c '${busy(8)}'`, { ...LIMITS, memoryBytes: 512 * MEBI }),
    text(host.stdout),
  ]);
  const taken = said.split('\n').reduce((sum, line) => sum + (/^[\d.]+$/.test(line) ? Number(line) : 0), 0);
  // On a busy machine, the host's process shares its half with others. A sandbox that keeps to its own half is still fair.
  const succeeded = taken > 3 * Number(own) && taken > 1.2;
  return { succeeded, said: `${taken} s against ${own.trim()} s` };
}
