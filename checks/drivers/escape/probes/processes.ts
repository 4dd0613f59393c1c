import { python, sh, themed, type Probe } from '../probe.ts';

const PROC = themed('/proc', [
  sh('proc-environ-of-victim', 'for v in $(echo $VICTIMS | tr -dc "0-9 "); do cat /proc/$v/environ; done'),
  python(
    'proc-environ-of-all',
    "[leaks(f'/proc/{p}/environ') for p in pids() if p != os.getpid() and b'CANARY_SECRET' in open(f'/proc/{p}/environ', 'rb').read()]",
  ),
  python(
    'proc-cmdline-of-host',
    "[escaped(True, p) for p in pids() if b'sleep\\x00300' in open(f'/proc/{p}/cmdline', 'rb').read()]",
  ),
  python('proc-cwd-of-all', "[leaks(f'/proc/{p}/cwd/secret.txt') for p in pids()]"),
  python('proc-descriptors-of-all', "[leaks(f'/proc/{p}/fd/9') for p in pids() if p != os.getpid()]"),
  python(
    'proc-mem-of-victim',
    "s = open(f'/proc/{G[\"victims\"][1]}/stat').read().split(')')[-1].split(); m = open(f'/proc/{G[\"victims\"][1]}/mem', 'rb', 0); m.seek(int(s[47])); print(m.read(60).decode('latin1'))",
  ),
  python(
    'proc-many-processes',
    "escaped(len(pids()) > 14 and any(p in pids() and 'sleep' in open(f'/proc/{p}/comm').read() for p in G['victims']), len(pids()))",
  ),
  python('proc-core-pattern', "rewrites('/proc/sys/kernel/core_pattern')"),
  python('proc-modprobe', "rewrites('/proc/sys/kernel/modprobe')"),
  python('proc-hotplug', "rewrites('/proc/sys/kernel/hotplug')"),
  python('proc-binfmt-register', "opens('/proc/sys/fs/binfmt_misc/register', os.O_WRONLY)"),
  python('proc-panic', "rewrites('/proc/sys/kernel/panic')"),
  python('proc-overcommit', "rewrites('/proc/sys/vm/overcommit_memory')"),
  python('proc-randomize', "rewrites('/proc/sys/kernel/randomize_va_space')"),
  python('proc-ip-forward', "rewrites('/proc/sys/net/ipv4/ip_forward')"),
  python('proc-drop-caches', "opens('/proc/sys/vm/drop_caches', os.O_WRONLY)"),
  python(
    'proc-any-sysctl',
    `def free(path):
    try: os.close(os.open(path, os.O_WRONLY)); return True
    except OSError: return False
found = [path for path in glob.glob('/proc/sys/**/*', recursive=True) if os.path.isfile(path) and free(path)]; escaped(bool(found), *found[:9])`,
  ),
  python('proc-sysrq', "opens('/proc/sysrq-trigger', os.O_WRONLY)"), // opened only: nothing is written
  python('proc-kcore', "opens('/proc/kcore')"),
  python('proc-kmsg', "opens('/proc/kmsg')"),
  python(
    'proc-kallsyms',
    "escaped(any(int(l.split()[0], 16) for l in open('/proc/kallsyms').readlines()[:50]))",
  ),
  python('proc-iomem', "escaped(any(int(re.split('[-:]', l.strip())[0], 16) for l in open('/proc/iomem')))"),
  python('proc-timer-list', "escaped(len(open('/proc/timer_list').read()) > 0)"),
  python('proc-slabinfo', "escaped('dentry' in open('/proc/slabinfo').read())"),
  python('proc-vmallocinfo', "escaped(len(open('/proc/vmallocinfo').read()) > 0)"),
  python('proc-pagemap', "f = open('/proc/kpageflags', 'rb'); escaped(len(f.read(8)) == 8)"),
  python('proc-mtrr', "opens('/proc/mtrr', os.O_WRONLY)"),
  python('proc-irq', "opens('/proc/irq/default_smp_affinity', os.O_WRONLY)"),
  python('proc-net-unix', "escaped(G['id'] in open('/proc/net/unix').read())"),
  python('proc-net-tcp', "escaped(f\":{G['port']:04X} \" in open('/proc/net/tcp').read())"),
  python(
    'proc-sysvipc',
    "escaped(any(l.split()[1:2] == [str(G['shm'])] for l in open('/proc/sysvipc/shm')))",
  ),
  python(
    'proc-scsi-acpi',
    "escaped(any(os.access(p, os.W_OK) and os.path.isfile(p) for p in glob.glob('/proc/acpi/**', recursive=True) + glob.glob('/proc/scsi/**', recursive=True) + glob.glob('/proc/fs/**', recursive=True) + glob.glob('/proc/driver/**', recursive=True)))",
  ),
]);

const TRACING = themed('tracing and foreign memory', [
  python('ptrace-attach', "did('ptrace', 16, G['victims'][2], 0, 0)"),
  python('ptrace-seize', "did('ptrace', 0x4206, G['victims'][3], 0, 0)"),
  python('ptrace-any', "did('ptrace', 0, 0, 0, 0)"),
  python(
    'process-vm-readv',
    `s = open(f'/proc/{VICTIM or G["victims"][1]}/stat').read().split(')')[-1].split(); b = ctypes.create_string_buffer(200)
local, remote = struct.pack('QQ', ctypes.addressof(b), 200), struct.pack('QQ', int(s[47]), 60)
call('process_vm_readv', G["victims"][1], local, 1, remote, 1, 0); print(b.raw.decode('latin1'))`,
  ),
  python(
    'process-vm-writev',
    `try: at = int(open(f'/proc/{VICTIM}/stat').read().split(')')[-1].split()[47])
except OSError: at = 0x7ffd00000000
b = ctypes.create_string_buffer(b'X' * 8); print(call('process_vm_writev', VICTIM, struct.pack('QQ', ctypes.addressof(b), 8), 1, struct.pack('QQ', at, 8), 1, 0))`,
    { victim: 'rewritten' },
  ),
  python('pidfd-open', "did('pidfd_open', G['victims'][1], 0)"),
  python(
    'pidfd-getfd',
    "p, _ = call('pidfd_open', G['victims'][1], 0); fd, e = call('pidfd_getfd', p, 9, 0); print(os.pread(fd, 100, 0) if fd >= 0 else error_name(e))",
  ),
  python('kcmp', "did('kcmp', os.getpid(), G['victims'][1], 0, 1, 9)"),
  python(
    'process-madvise',
    "p, _ = call('pidfd_open', os.getpid(), 0); admitted('process_madvise', p, struct.pack('QQ', 0, 0), 1, 21, 0)",
  ),
  python('process-mrelease', "admitted('process_mrelease', os.open('/', os.O_RDONLY), 0)"),
  python('move-pages', "did('move_pages', G['victims'][1], 0, None, None, None, 0)"),
  python(
    'migrate-pages',
    "did('migrate_pages', G['victims'][1], 64, struct.pack('Q', 1), struct.pack('Q', 1))",
  ),
  python(
    'setns-mount-of-victim',
    "did('setns', os.open(f'/proc/{G[\"victims\"][1]}/ns/uts', os.O_RDONLY), 0)",
  ),
  python('setns-pidfd', "p, _ = call('pidfd_open', G['victims'][1], 0); did('setns', p, 0x04000000)"),
]);

const SIGNALS = themed('signals and priorities', [
  python('kill-victim', 'os.kill(VICTIM, signal.SIGKILL)', { victim: 'dead' }),
  python('stop-victim', 'os.kill(VICTIM, signal.SIGSTOP)', { victim: 'stopped' }),
  python('tgkill-victim', "print(call('tgkill', VICTIM, VICTIM, 9))", { victim: 'dead' }),
  python(
    'sigqueue-victim',
    "print(call('rt_sigqueueinfo', VICTIM, 15, struct.pack('iiiiii', 15, 0, -1, 0, os.getpid(), 0) + bytes(104)))",
    { victim: 'dead' },
  ),
  python(
    'pidfd-kill-victim',
    "p, _ = call('pidfd_open', VICTIM, 0); print(call('pidfd_send_signal', p, 9, None, 0))",
    { victim: 'dead' },
  ),
  python(
    'fcntl-signal-victim',
    "r, w = os.pipe(); fcntl.fcntl(r, fcntl.F_SETOWN, VICTIM); fcntl.fcntl(r, 10, 15); fcntl.fcntl(r, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK); os.write(w, b'x'); time.sleep(0.1)",
    { victim: 'dead' },
  ),
  python('renice-victim', 'os.setpriority(os.PRIO_PROCESS, VICTIM, 15)', { victim: 'reniced' }),
  python('schedule-victim', 'os.sched_setscheduler(VICTIM, os.SCHED_IDLE, os.sched_param(0))', {
    victim: 'rescheduled',
  }),
  python('pin-victim', 'os.sched_setaffinity(VICTIM, {0})', { victim: 'pinned' }),
  python('limit-victim', "print(call('prlimit64', VICTIM, 7, struct.pack('QQ', 5, 5), None))", {
    victim: 'relimited',
  }),
  python('ioprio-victim', "did('ioprio_set', 1, G['victims'][1], (3 << 13))"),
  python(
    'nice-up',
    'os.setpriority(os.PRIO_PROCESS, 0, -10); escaped(os.getpriority(os.PRIO_PROCESS, 0) < 0)',
  ),
  python('realtime', 'os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)); escaped(True)'),
  python('realtime-io', "did('ioprio_set', 1, 0, (1 << 13))"),
  python('oom-score', "writes('/proc/self/oom_score_adj', b'-500')"),
  python(
    'raise-limits',
    "s, h = __import__('resource').getrlimit(7); print(s, h); __import__('resource').setrlimit(7, (h + 1, h + 1)); escaped(True)",
  ),
  python(
    'core-dumps',
    "r = __import__('resource'); print(r.getrlimit(r.RLIMIT_CORE)); escaped(r.getrlimit(r.RLIMIT_CORE)[1] != 0)",
  ),
]);

export const PROCESSES: Probe[] = [...PROC, ...TRACING, ...SIGNALS];

/**
 * Needs a place of its own, because it signals all that it reaches; the harness and its shell ignore this
 * signal.
 */
export const SIGNAL_EVERYONE: Probe[] = themed('signals and priorities', [
  python('signal-everyone', 'os.kill(-1, signal.SIGUSR1)', { victim: 'dead' }),
]);
