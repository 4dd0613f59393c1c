import { python, sh, themed, type Probe } from '../probe.ts';

const device = (name: string, path: string, flags = 'os.O_RDONLY') =>
  python(name, `opens('${path}', ${flags})`);

const DEVICES = themed('devices', [
  python(
    'mknod-null',
    "os.mknod('n', 0o666 | stat.S_IFCHR, os.makedev(1, 3)); open('n', 'rb').read(1); escaped(True)",
  ),
  python('mknod-memory', "os.mknod('n', 0o666 | stat.S_IFCHR, os.makedev(1, 1)); escaped(True)"),
  python(
    'mknod-disk',
    "d = int(open('/proc/diskstats').read().split()[0]); os.mknod('n', 0o666 | stat.S_IFBLK, os.makedev(d, 0)); opens('n')",
  ),
  device('dev-mem', '/dev/mem'),
  device('dev-kmsg', '/dev/kmsg'),
  device('dev-port', '/dev/port'),
  device('dev-kvm', '/dev/kvm'),
  device('dev-fuse', '/dev/fuse', 'os.O_RDWR'),
  device('dev-loop-control', '/dev/loop-control'),
  device('dev-tun', '/dev/net/tun', 'os.O_RDWR'),
  device('dev-console', '/dev/console', 'os.O_WRONLY | os.O_NOCTTY'),
  device('dev-tty1', '/dev/tty1', 'os.O_RDONLY | os.O_NOCTTY'),
  device('dev-btrfs', '/dev/btrfs-control'),
  device('dev-latency', '/dev/cpu_dma_latency'),
  device('dev-hwrng', '/dev/hwrng'),
  device('dev-autofs', '/dev/autofs'),
  device('dev-vcs', '/dev/vcs'),
  device('dev-snapshot', '/dev/snapshot'),
  device('dev-input', '/dev/uinput'),
  device('dev-vhost', '/dev/vhost-net'),
  python(
    'dev-disks',
    "[opens(p) for p in glob.glob('/dev/[svx]d*') + glob.glob('/dev/nvme*') + glob.glob('/dev/vda*') + glob.glob('/dev/loop[0-9]*') + glob.glob('/dev/dm-*')]",
  ),
  python(
    'dev-any-other',
    "k = {'null', 'zero', 'full', 'random', 'urandom', 'tty', 'ptmx', 'pts', 'shm', 'fd', 'core', 'stdin', 'stdout', 'stderr', 'console', 'mqueue'}; escaped(bool(set(os.listdir('/dev')) - k), *list(set(os.listdir('/dev')) - k)[:9])",
  ),
  python('dev-write', "p = '/dev/headrace-escape'; open(p, 'w'); os.unlink(p); escaped(True)"),
  python(
    'tty-of-host',
    "fd = os.open(G['terminal'], os.O_WRONLY | os.O_NOCTTY); os.write(fd, b'typed\\n'); time.sleep(0.3)",
    { changed: 'pty' },
  ),
  python(
    'message-queues',
    "os.mkdir('m'); call('mount', b'mqueue', b'm', b'mqueue', 0, None); escaped(os.path.ismount('m'))",
  ),
]);

/** Starts a program with its output blocked, and reads whose rights it has. */
const SET_UID = `def set_uid(path, *args):
    r, w = os.pipe(); fcntl.fcntl(w, fcntl.F_SETFL, os.O_NONBLOCK)
    try:
        while True: os.write(w, bytes(65536))
    except OSError: pass
    try:
        while True: os.write(w, b'x')
    except OSError: pass
    fcntl.fcntl(w, fcntl.F_SETFL, 0)
    p = subprocess.Popen([path, *args], stdin=subprocess.DEVNULL, stdout=w, stderr=w, close_fds=True)
    time.sleep(0.15)
    uids = re.search(r'^Uid:\\s+(.*)$', open(f'/proc/{p.pid}/status').read(), re.M)[1].split()
    p.kill(); escaped(uids[1] == '0' and uids[0] != '0', path, *uids)
as_nobody()
`;
const setUid = (name: string, path: string, ...args: string[]) =>
  python(name, `${SET_UID}set_uid('${path}', ${args.map((arg) => `'${arg}'`).join(', ')})`);

const SET_UID_PROGRAMS = themed('set-uid programs and rights', [
  setUid('su', '/usr/bin/su', '--help'),
  setUid('mount-program', '/usr/bin/mount', '--help'),
  setUid('umount-program', '/usr/bin/umount', '--help'),
  setUid('passwd', '/usr/bin/passwd', '--help'),
  setUid('newgrp', '/usr/bin/newgrp', '--help'),
  setUid('sudo', '/usr/bin/sudo', '--help'),
  python('set-uid-of-mine', `${SET_UID}set_uid(G['tools'] + '/set-uid', '--help')`),
  python(
    'set-uid-any',
    `${SET_UID}[set_uid(p, '--help') for d in ('/usr/bin', '/usr/sbin', '/usr/lib/openssh') for p in glob.glob(d + '/*') if os.path.isfile(p) and os.stat(p).st_mode & 0o4000 and os.path.basename(p) not in ('su', 'mount', 'umount', 'passwd', 'newgrp', 'sudo')]`,
  ),
  python('become-root', 'os.setuid(0); escaped(os.getuid() == 0)'),
  python('become-someone', 'os.setresuid(12345, 12345, 12345); escaped(True)'),
  python('become-group', 'os.setgroups([0]); escaped(0 in os.getgroups())'),
  python(
    'capabilities',
    "c = re.search(r'CapEff:\\s+(.*)', open('/proc/self/status').read())[1]; escaped(int(c, 16) != 0, c)",
  ),
  python(
    'capabilities-bounding',
    "c = re.search(r'CapBnd:\\s+(.*)', open('/proc/self/status').read())[1]; escaped(int(c, 16) != 0, c)",
  ),
  python(
    'capabilities-raise',
    "did('capset', struct.pack('II', 0x20080522, 0), struct.pack('IIIIII', 1 << 21, 1 << 21, 1 << 21, 0, 0, 0))",
  ),
  python(
    'capabilities-ambient',
    "call('capset', struct.pack('II', 0x20080522, 0), struct.pack('IIIIII', 1 << 10, 1 << 10, 1 << 10, 0, 0, 0)); escaped(call('prctl', 47, 2, 10, 0, 0)[0] == 0)",
  ),
  python(
    'capabilities-of-file',
    "open('f', 'w'); os.setxattr('f', 'security.capability', struct.pack('IIIII', 0x02000001, 1 << 21, 0, 0, 0)); escaped(True)",
  ),
  python(
    'trusted-attribute',
    "open('f', 'w'); os.setxattr('f', 'trusted.overlay.opaque', b'y'); escaped(True)",
  ),
  python('secure-bits', "escaped(call('prctl', 28, 1, 0, 0, 0)[0] == 0)"),
  python('chown-to-root', "open('f', 'w'); os.chown('f', 12345, 12345); escaped(True)"),
  python('new-privileges', "escaped(call('prctl', 39, 0, 0, 0, 0)[0] == 0)"),
  python('no-filter', "escaped(call('prctl', 21, 0, 0, 0, 0)[0] != 2)"),
]);

const CGROUPS = themed('control groups', [
  python('cgroup-mount-1', "os.mkdir('m'); did('mount', b'c', b'm', b'cgroup', 0, b'pids')"),
  python('cgroup-mount-2', "os.mkdir('m'); did('mount', b'c', b'm', b'cgroup2', 0, None)"),
  python(
    'cgroup-release-agent',
    "[opens(p, os.O_WRONLY) for p in glob.glob('/sys/fs/cgroup/*/release_agent')]",
  ), // opened only
  python(
    'cgroup-own-limit',
    "[opens(p, os.O_WRONLY) for p in glob.glob('/sys/fs/cgroup/memory/memory.limit_in_bytes') + glob.glob('/sys/fs/cgroup/memory/headrace-*/*/memory.limit_in_bytes') + glob.glob('/sys/fs/cgroup/**/memory.max', recursive=True)[:9]]",
  ),
  python(
    'cgroup-own-processes',
    "[opens(p, os.O_WRONLY) for p in glob.glob('/sys/fs/cgroup/pids/cgroup.procs') + glob.glob('/sys/fs/cgroup/cgroup.procs')]",
  ),
  python(
    'cgroup-new',
    "p = (glob.glob('/sys/fs/cgroup/pids') or ['/sys/fs/cgroup'])[0] + '/' + G['id']; os.mkdir(p); os.rmdir(p); escaped(True)",
  ),
  python(
    'cgroup-freezer',
    "[opens(p, os.O_WRONLY) for p in glob.glob('/sys/fs/cgroup/freezer/*') if p.endswith('clone_children')] + [opens(p, os.O_WRONLY) for p in glob.glob('/sys/fs/cgroup/**/cgroup.freeze', recursive=True)[:5]]",
  ),
  python('cgroup-devices', "opens('/sys/fs/cgroup/devices/devices.allow', os.O_WRONLY)"),
  python(
    'cgroup-path-of-host',
    "t = open('/proc/self/cgroup').read(); escaped('headrace-' in t or 'process_api' in t, t[:200])",
  ),
]);

const TERMINAL = themed('terminals, descriptors and environment', [
  python('terminal-input', "m, s = os.openpty(); fcntl.ioctl(s, 0x5412, b'x'); escaped(True)"),
  python(
    'terminal-input-high-bits',
    "m, s = os.openpty(); r, e = call('ioctl', s, 0x5412 | 1 << 40, b'x'); escaped(r >= 0, error_name(e))",
  ),
  python(
    'terminal-linux',
    "m, s = os.openpty(); r, e = call('ioctl', s, 0x541c, b'\\x0b'); escaped(r >= 0 or e not in REFUSED, error_name(e))",
  ),
  python(
    'terminal-steal',
    `fd = os.open(G['terminal'], os.O_RDWR | os.O_NOCTTY); r, w = os.pipe()
if os.fork() == 0:
    os.setsid(); fcntl.ioctl(fd, 0x540e, 1); escaped(True); os._exit(0)
os.wait()`,
  ),
  python('terminal-of-parent', "opens('/dev/tty', os.O_RDWR)"),
  python(
    'session-of-host',
    "escaped(os.getsid(0) == 0 or any(open(f'/proc/{p}/stat').read().split(')')[-1].split()[4] != '0' for p in pids()))",
  ),
  python(
    'descriptors-inherited',
    "[print(fd, os.pread(fd, 200, 0) if stat.S_ISREG(os.fstat(fd).st_mode) else '') for fd in INHERITED]; escaped(bool(INHERITED), *INHERITED)",
  ),
  sh('environment', 'env'),
  sh(
    'environment-of-service',
    'env | grep -v "^HEADRACE_ESCAPE_KEY" | grep -E "^(HEADRACE_|NODE_|VITEST|npm_|AWS_|DATABASE|PG)" && echo ESCAPED',
  ),
  python('environment-of-init', "leaks('/proc/1/environ')"),
  python(
    'environment-of-parents',
    "p = os.getpid()\nwhile p > 0:\n    leaks(f'/proc/{p}/environ'); p = int(open(f'/proc/{p}/stat').read().split(')')[-1].split()[1])",
  ),
  python(
    'command-lines-of-parents',
    "t = b' '.join(open(f'/proc/{p}/cmdline', 'rb').read() for p in pids()); print(t); escaped(G['base'].encode() in t or b'$CANARY' in t)",
  ),
]);

export const RIGHTS: Probe[] = [...DEVICES, ...SET_UID_PROGRAMS, ...CGROUPS, ...TERMINAL];
