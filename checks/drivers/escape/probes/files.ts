import { python, sh, themed, type Probe } from '../probe.ts';

const MOUNTS = themed('mounts', [
  python(
    'mount-tmpfs',
    "os.mkdir('m'); call('mount', b'x', b'm', b'tmpfs', 0, None); escaped(os.path.ismount('m'))",
  ),
  python('mount-bind-root', "os.mkdir('m'); did('mount', b'/', b'm', None, 4096 | 16384, None)"),
  python('mount-remount-root', "did('mount', None, b'/', None, 32 | 4096, None)"),
  python('mount-make-shared', "did('mount', None, b'/', None, 1 << 20, None)"),
  python('mount-fresh-proc', "os.mkdir('m'); did('mount', b'proc', b'm', b'proc', 0, None)"),
  python('mount-fresh-sysfs', "os.mkdir('m'); did('mount', b'sysfs', b'm', b'sysfs', 0, None)"),
  python('mount-devpts', "os.mkdir('m'); did('mount', b'devpts', b'm', b'devpts', 0, None)"),
  python(
    'mount-overlay-usr',
    "[os.mkdir(d) for d in ('up', 'wk', 'm')]; did('mount', b'o', b'm', b'overlay', 0, b'lowerdir=/usr,upperdir=up,workdir=wk')",
  ),
  python(
    'mount-bind-over-passwd',
    "open('p', 'w').write('root::0:0::/:/bin/sh\\n'); did('mount', b'p', b'/etc/passwd', None, 4096, None)",
  ),
  python(
    'mount-move',
    "os.mkdir('m'); os.mkdir('n'); call('mount', b'x', b'm', b'tmpfs', 0, None); did('mount', b'm', b'n', None, 8192, None)",
  ),
  python('umount-devpts', "did('umount2', b'/dev/pts', 2)"),
  python('fsopen-tmpfs', "did('fsopen', b'tmpfs', 0)"),
  python(
    'fsmount-tmpfs',
    "fs, _ = call('fsopen', b'tmpfs', 0); call('fsconfig', fs, 6, None, None, 0); did('fsmount', fs, 0, 0)",
  ),
  python('fspick-root', "did('fspick', AT_FDCWD, b'/', 0)"),
  python('open-tree-clone', "did('open_tree', AT_FDCWD, b'/', 1)"),
  python(
    'move-mount',
    "tree, _ = call('open_tree', AT_FDCWD, b'/usr', 1); os.mkdir('m'); did('move_mount', tree, b'', AT_FDCWD, b'm', 4)",
  ),
  python('mount-setattr', "did('mount_setattr', AT_FDCWD, b'/', 0, struct.pack('QQQQ', 0, 1, 0, 0), 32)"),
  python(
    'open-tree-attr',
    "admitted('open_tree_attr', AT_FDCWD, b'/', 1, struct.pack('QQQQ', 0, 1, 0, 0), 32)",
  ),
  python(
    'statmount',
    "admitted('statmount', struct.pack('IIQQQ', 32, 0, 1, 2, 0), ctypes.create_string_buffer(512), 512, 0)",
  ),
  python(
    'listmount',
    "admitted('listmount', struct.pack('IIQQQ', 32, 0, 2**64 - 1, 0, 0), ctypes.create_string_buffer(512), 64, 0)",
  ),
  python('pivot-root', "admitted('pivot_root', b'.', b'.')"),
  python('chroot', "did('chroot', b'.')"),
  python(
    'chroot-and-out',
    "os.mkdir('j'); call('chroot', b'j'); [os.chdir('..') for _ in range(40)]; did('chroot', b'.'); leaks(G['canary'] + '/secret.txt')",
  ),
  python(
    'handle-of-canary',
    "handle = bytes.fromhex(G['handle']); at = os.open('.', os.O_RDONLY); fd, e = call('open_by_handle_at', at, struct.pack('Ii', len(handle), G['handleType']) + handle, os.O_RDONLY); print(os.read(fd, 200).decode() if fd >= 0 else error_name(e))",
  ),
  python(
    'name-to-handle',
    "did('name_to_handle_at', AT_FDCWD, b'/usr', ctypes.create_string_buffer(struct.pack('Ii', 128, 0), 200), ctypes.create_string_buffer(8), 0)",
  ),
  python('fanotify', "did('fanotify_init', 0, os.O_RDONLY)"),
  python('quotactl', "admitted('quotactl', 0x80000300, b'/dev/none', 0, ctypes.create_string_buffer(256))"), // Q_QUOTAOFF-like read command of a device that is not there
  python('quotactl-fd', "admitted('quotactl_fd', os.open('/', os.O_RDONLY), 0x80000100, 0, None)"),
]);

const HOST_FILES = themed('host files', [
  sh('canary-read', 'cat "$CANARY/secret.txt"'),
  sh('canary-write', 'echo changed >>"$CANARY/target.txt"', { changed: 'target' }),
  sh('canary-hard-link', 'ln "$CANARY/secret.txt" here || ln "$CANARY/secret.txt" "$CANARY/drop/linked"', {
    changed: 'linked',
  }),
  sh(
    'canary-up-from-workspace',
    'i=0; p=.; while [ $i -lt 30 ]; do cat "$p$CANARY/secret.txt" 2>/dev/null && break; p=$p/..; i=$((i+1)); done',
  ),
  sh(
    'canary-by-symbolic-link',
    'ln -s "$CANARY" link; cat link/secret.txt; ln -s /proc/1/root/proc/1/cwd other; cat "other$CANARY/secret.txt"',
  ),
  sh(
    'canary-through-proc-1-root',
    'cat "/proc/1/root$CANARY/secret.txt"; cat "/proc/self/root$CANARY/secret.txt"; for p in /proc/[0-9]*; do cat "$p/root$CANARY/secret.txt"; done',
  ),
  python(
    'canary-through-open-folders',
    "[leaks(f'{fd}{\"/..\" * up}' + G['canary'] + '/secret.txt') for fd in glob.glob('/proc/*/fd/*') + glob.glob('/proc/*/cwd') for up in (0, 1, 8) if os.path.isdir(fd)]",
  ),
  sh('data-folder', 'cat "$CANARY/data/secret.txt"'),
  sh('shadow', 'grep -q "^root:" /etc/shadow && echo ESCAPED; head -c 60 /etc/shadow'),
  sh('real-accounts', 'grep -c . /etc/passwd; [ "$(grep -c . /etc/passwd)" -gt 4 ] && echo ESCAPED'),
  sh('root-home', 'ls /root/. && echo ESCAPED'),
  sh('sys-kernel', 'ls /sys/kernel /sys/devices && echo ESCAPED'),
  sh('usr-write', 'd=/usr/lib/headrace-escape; mkdir $d && rmdir $d && echo ESCAPED'),
  sh('root-folder-write', 'd=/headrace-escape; mkdir $d && rmdir $d && echo ESCAPED'),
  sh('etc-write', ': >"$ETC/ld.so.preload"', { changed: 'etc' }),
  sh('guest-programs-write', 'for f in "$GUEST"/*.cjs; do echo "// changed" >>"$f"; done', {
    changed: 'guest',
  }),
  sh('compile-cache-poison', 'd=$(find "$GUEST/compiled" -type d | tail -1); echo x >"$d/planted"', {
    changed: 'guest',
  }),
  sh('node-write', 'echo >>"$NODE"', { changed: 'node' }),
  sh(
    'machine-id',
    'cat /etc/machine-id /var/lib/dbus/machine-id && echo ESCAPED; [ -s /etc/machine-id ] && echo ESCAPED; cat /sys/class/dmi/id/product_uuid && echo ESCAPED',
  ),
  python(
    'resolver-of-host',
    "here = open('/etc/resolv.conf').read(); escaped(any(line in here for line in G['resolver']), here[:200])",
  ),
  sh('host-logs', 'ls /var/log/. && echo ESCAPED'),
  sh('ssh-of-host', '[ -e /etc/ssh ] && echo ESCAPED; ls /etc/ssl/private/. && echo ESCAPED'),
]);

const RUNNER = themed('other threads and the runner', [
  sh('runner-folder-list', 'ls "$BASE" && echo ESCAPED'),
  sh('runner-owner', 'grep startTime "$BASE/owner.json" && echo ESCAPED'),
  sh('runner-workspaces-list', 'ls "$BASE/w" && echo ESCAPED; ls /workspace/../w && echo ESCAPED'),
  sh('other-workspace-read', 'cat "$OTHER/secret.txt" /workspace/../*/secret.txt'),
  sh('other-workspace-write', 'echo changed >>"$OTHER/target.txt"', { changed: 'neighbour' }),
  sh('other-home-read', 'cat "$OTHERHOME/secret.txt"; cat /home/*/secret.txt'),
  sh('other-home-write', 'echo changed >>"$OTHERHOME/target.txt"', { changed: 'neighbourHome' }),
  sh('neighbour-tmp', 'cat "/tmp/$NEIGHBOUR/secret.txt"'),
  sh('neighbour-var-tmp', 'cat "/var/tmp/$NEIGHBOUR/secret.txt"'),
  sh('neighbour-shm', 'cat "/dev/shm/$NEIGHBOUR/secret.txt"'),
  python('neighbour-port', "talks(socket.AF_INET, ('127.0.0.1', G['neighbourPort']))"),
  python('neighbour-socket', "talks(socket.AF_UNIX, '/tmp/' + G['neighbour'] + '/socket')"),
  python('neighbour-abstract-socket', "talks(socket.AF_UNIX, '\\0' + G['neighbour'])"),
  python(
    'neighbour-token',
    "[leaks(f'/proc/{p}/environ') for p in pids() if b'NEIGHBOUR' in open(f'/proc/{p}/environ', 'rb').read()]",
  ),
  python(
    'neighbour-root',
    "[leaks(f'/proc/{p}/root/tmp/' + G['neighbour'] + '/secret.txt') for p in pids()]",
  ),
]);

export const FILES: Probe[] = [...MOUNTS, ...HOST_FILES, ...RUNNER];
