import { python, sh, themed, type Probe } from '../probe.ts';

/**
 * `admitted` counts as a success here: the kernel looked at the arguments. Where a real success would harm
 * this machine the arguments are invalid (a magic number, a flag, a file), or ask for the present state.
 */
const SURFACE = themed('kernel surface', [
  python('bpf', "admitted('bpf', 0, struct.pack('IIII', 99, 4, 4, 1), 16)"),
  python(
    'perf-event',
    "admitted('perf_event_open', struct.pack('IIQ', 1, 112, 0) + bytes(96), 0, -1, -1, 0)",
  ),
  python('userfaultfd', "did('userfaultfd', os.O_CLOEXEC)"),
  python('io-uring-setup', "did('io_uring_setup', 4, ctypes.create_string_buffer(120))"),
  python('io-uring-enter', "admitted('io_uring_enter', -1, 0, 0, 0, None, 0)"),
  python('io-uring-register', "admitted('io_uring_register', -1, 0, None, 0)"),
  python('module-load', "admitted('init_module', b'', 0, b'')"),
  python('module-load-file', "admitted('finit_module', -1, b'', 0)"),
  python('module-remove', "admitted('delete_module', b'headrace_escape_none', 2048)"),
  python('kexec', "admitted('kexec_load', 0, 0, None, 0xffff0000)"),
  python('kexec-file', "admitted('kexec_file_load', -1, -1, 0, None, 0xffff)"),
  python('reboot', "admitted('reboot', 1, 2, 3, None)"), // a wrong magic number
  python('swapon', "admitted('swapon', b'/nonexistent', 0)"),
  python('swapoff', "admitted('swapoff', b'/nonexistent')"),
  python('accounting', "admitted('acct', b'/nonexistent')"),
  python('kernel-log', "admitted('syslog', 3, ctypes.create_string_buffer(200), 199)"),
  python('kernel-log-clear', "admitted('syslog', 10, None, 0)"), // asks for its size only
  python('io-ports', "admitted('ioperm', 0x80, 1, 1)"),
  python('io-privilege', "admitted('iopl', 3)"),
  python('ldt', "admitted('modify_ldt', 0, ctypes.create_string_buffer(64), 64)"),
  python('clock-set', "admitted('clock_settime', 0, struct.pack('qq', 1, 2_000_000_000))"), // no such nanosecond
  python('time-of-day-set', "admitted('settimeofday', struct.pack('qq', 1, 2_000_000), None)"),
  python('clock-adjust', "admitted('clock_adjtime', 0, ctypes.create_string_buffer(208))"), // reads
  python(
    'adjtimex-status',
    "t = ctypes.create_string_buffer(208); call('adjtimex', t); struct.pack_into('I', t, 0, 0x4000); did('adjtimex', t)",
  ), // the tick as it is
  python('host-name', "n = os.uname().nodename.encode(); did('sethostname', n, len(n))"),
  python('domain-name', "did('setdomainname', b'x', 1)"),
  python('numa-bind', "admitted('mbind', None, 0, 0, None, 0, 0)"),
  python('numa-policy', "did('set_mempolicy', 0, None, 0)"),
  python('numa-query', "did('get_mempolicy', None, None, 0, None, 0)"),
  python('secret-memory', "did('memfd_secret', 0)"),
  python('randomization-off', "did('personality', 0x40000)"),
  python('read-implies-exec', "did('personality', 0x400000)"),
  python('personality-high-bits', "did('personality', 0x40000 | 1 << 40)"),
  python(
    'hang-up-terminals',
    "escaped(call('vhangup')[1] not in REFUSED) if not G.get('control') else print('not tried here: it would end terminals')",
  ),
  python('file-systems-list', "admitted('sysfs', 3)"),
  python('old-library-call', "admitted('uselib', b'/nonexistent')"),
  python('device-statistics', "admitted('ustat', os.stat('/').st_dev, ctypes.create_string_buffer(64))"),
  python(
    'xattr-newer-call',
    "open('f', 'w'); admitted('setxattrat', AT_FDCWD, b'f', 0, b'user.x', struct.pack('QII', 0, 0, 0), 16)",
  ),
  python(
    'file-attributes-newer-call',
    "open('f', 'w'); admitted('file_setattr', AT_FDCWD, b'f', ctypes.create_string_buffer(24), 24, 0)",
  ),
  python(
    'calls-past-the-table',
    'found = [n for n in range(463, 475) if call(n, -1, 0, 0, 0, 0, 0)[1] not in REFUSED]; escaped(bool(found), *found)',
  ),
  python('x32-call', 'escaped(call(0x40000000 | 39)[0] > 0)'),
  python(
    'i386-call',
    `code = bytes.fromhex('b814000000cd80c3') if G['arch'] == 'x64' else None # getpid by int 0x80
m = mmap.mmap(-1, 4096, prot=7); m.write(code); at = ctypes.addressof(ctypes.c_char.from_buffer(m))
escaped(ctypes.CFUNCTYPE(ctypes.c_int)(at)() > 0)`,
  ),
  python(
    'i386-mount',
    `os.mkdir('m') # mount(2) is 21 there; its pointers must lie low
m = LIBC.mmap; m.restype = ctypes.c_void_p; low = m(None, 4096, 7, 0x62, -1, 0)
if low > 0xffffffff: raise OSError('no low memory')
ctypes.memmove(low, b'x\\0m\\0tmpfs\\0', 11); code = bytes.fromhex('53b815000000bb') + struct.pack('<I', low) + b'\\xb9' + struct.pack('<I', low + 2) + b'\\xba' + struct.pack('<I', low + 4) + bytes.fromhex('31f631ffcd805bc3')
ctypes.memmove(low + 64, code, len(code)); ctypes.CFUNCTYPE(ctypes.c_int)(low + 64)(); escaped(os.path.ismount('m'))`,
  ),
  python('huge-pages', 'b = mmap.mmap(-1, 2 << 20, flags=0x40022); b[0] = 1; escaped(True)'),
]);

const KEYS = themed('keys', [
  python('key-add', "did('add_key', b'user', b'headrace-escape', b'x', 1, -1)"), // of this thread: it ends with it
  python('key-session', "did('keyctl', 0, -3, 1)"),
  python('key-join-session', "did('keyctl', 1, None)"),
  python('key-request', "admitted('request_key', b'user', b'headrace-escape-none', None, 0)"),
  python('key-user-keyring', "did('keyctl', 0, -4, 1)"),
  python('key-list', "t = open('/proc/keys').read(); escaped(bool(t), t[:300])"),
  python('key-persistent', "admitted('keyctl', 22, -1, -1)"),
]);

const NAMESPACES = themed('namespaces', [
  ...[
    ['user', 0x10000000],
    ['mount', 0x00020000],
    ['pid', 0x20000000],
    ['network', 0x40000000],
    ['ipc', 0x08000000],
    ['uts', 0x04000000],
    ['cgroup', 0x02000000],
    ['time', 0x80],
  ].map(([name, flag]) => python(`unshare-${name}`, `did('unshare', ${flag})`)),
  python('unshare-user-and-network', "did('unshare', 0x50000000)"),
  python(
    'clone-user',
    "r, e = call('clone', 0x10000000 | 17, 0, 0, 0, 0); os._exit(0) if r == 0 else escaped(r > 0, error_name(e))",
  ),
  python(
    'clone-mount',
    "r, e = call('clone', 0x00020000 | 17, 0, 0, 0, 0); os._exit(0) if r == 0 else escaped(r > 0, error_name(e))",
  ),
  python(
    'clone3-user',
    "r, e = call('clone3', struct.pack('QQQQQQQQQQQ', 0x10000000, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0), 88); os._exit(0) if r == 0 else escaped(r > 0, error_name(e))",
  ),
  python(
    'clone3-into-cgroup',
    "admitted('clone3', struct.pack('QQQQQQQQQQQ', 0x200000000, 0, 0, 0, 17, 0, 0, 0, 0, 0, 999), 88)",
  ),
  python('setns-of-init', "did('setns', os.open('/proc/1/ns/uts', os.O_RDONLY), 0)"),
  python('uid-map', "writes('/proc/self/uid_map', b'0 0 1')"),
  sh('unshare-program', 'unshare -Urm true && echo ESCAPED'),
  python(
    'max-user-namespaces',
    "p = '/proc/sys/user/max_user_namespaces'; v = open(p).read().encode(); writes(p, v); call('unshare', 0x10000000); escaped(call('unshare', 0x10000000)[0] == 0)",
  ),
]);

export const KERNEL: Probe[] = [...SURFACE, ...KEYS, ...NAMESPACES];
