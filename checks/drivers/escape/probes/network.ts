import { python, themed, type Probe } from '../probe.ts';

const family = (name: string, domain: number, type: number, protocol = 0) =>
  python(name, `s = socket.socket(${domain}, ${type}, ${protocol}); escaped(True, s)`);

const SOCKETS = themed('sockets', [
  family('packet-socket', 17, 3, 0x300),
  family('packet-datagram', 17, 2, 0x300),
  family('old-packet-socket', 2, 10, 0x300),
  family('raw-icmp', 2, 3, 1),
  family('raw-icmp6', 10, 3, 58),
  family('raw-ip', 2, 3, 255),
  family('netlink-audit', 16, 3, 9),
  family('netlink-uevent', 16, 3, 15),
  family('netlink-netfilter', 16, 3, 12),
  family('netlink-diagnosis', 16, 3, 4),
  family('netlink-generic', 16, 3, 16),
  family('netlink-xfrm', 16, 3, 6),
  family('vsock', 40, 1),
  family('vsock-datagram', 40, 2),
  family('af-alg', 38, 5),
  family('af-key', 15, 3, 2),
  family('bluetooth', 31, 3, 1),
  family('xdp', 44, 3),
  family('can', 29, 3, 1),
  family('tipc', 30, 1),
  family('rds', 21, 5),
  family('smc', 43, 1),
  family('nfc', 39, 5),
  family('x25', 9, 5),
  family('qipcrtr', 42, 2),
  family('mctp', 45, 2),
  family('multipath-tcp', 2, 1, 262),
  family('udp-lite', 2, 2, 136),
  family('sctp', 2, 1, 132),
  family('dccp', 2, 6, 33),
  family('l2tp', 2, 2, 115),
  python(
    'family-high-bits',
    "call_result = call('socket', 17 | 1 << 40, 3, 0x300); escaped(call_result[0] >= 0, error_name(call_result[1]))",
  ),
  ...[
    ['tipc', 30],
    ['vsock', 40],
    ['inet', 2],
  ].map(([name, number]) =>
    python(
      `socketpair-${name}`,
      `_, e = call('socketpair', ${number}, 1, 0, ctypes.create_string_buffer(8)); escaped(e not in (errno.EAFNOSUPPORT, errno.EPERM, errno.ENOSYS), error_name(e))`,
    ),
  ),
  python(
    'packet-type-flags',
    "r, e = call('socket', 17, 3 | 0x80000 | 0x800, 0x300); escaped(r >= 0, error_name(e))",
  ),
  python(
    'link-set',
    "s = socket.socket(); fcntl.ioctl(s, 0x8914, struct.pack('16sH14x', b'lo', 0x49)); escaped(True)",
  ), // SIOCSIFFLAGS: lo is up already
  python('transparent-socket', 's = socket.socket(); s.setsockopt(0, 19, 1); escaped(True)'),
  python('forced-buffers', 's = socket.socket(); s.setsockopt(1, 33, 65536); escaped(True)'),
  python('netfilter-tables', 's = socket.socket(2, 3, 255); s.getsockopt(0, 64, 84); escaped(True)'),
  python(
    'credentials-of-others',
    `a, b = socket.socketpair(); b.setsockopt(1, 16, 1)
a.sendmsg([b'x'], [(1, 2, struct.pack('iii', 1, 12345, 12345))]); escaped(True)`,
  ),
]);

const ROUTE =
  "s = socket.socket({family}, socket.SOCK_DGRAM); s.connect(('{address}', 53)); escaped(True, s.getsockname())"; // sends nothing: it asks whether there is a way
const way = (name: string, address: string) =>
  python(name, ROUTE.replace('{family}', address.includes(':') ? '10' : '2').replace('{address}', address));

const SERVICES = themed("the host's network and services", [
  python('loopback-tcp', "talks(socket.AF_INET, ('127.0.0.1', G['port']))"),
  python('loopback-tcp6', "talks(socket.AF_INET6, ('::1', G['port6']))"),
  python('loopback-alias', "talks(socket.AF_INET, ('127.9.9.9', G['anyPort']))"),
  python('loopback-udp', "talks(socket.AF_INET, ('127.0.0.1', G['udpPort']), socket.SOCK_DGRAM)"),
  python('any-address', "talks(socket.AF_INET, ('0.0.0.0', G['anyPort']))"),
  python('mapped-address', "talks(socket.AF_INET6, ('::ffff:127.0.0.1', G['port']))"),
  python('host-addresses', "[talks(socket.AF_INET, (a, G['anyPort'])) for a in G['addresses']]"),
  python(
    'host-addresses-udp',
    "[talks(socket.AF_INET, (a, G['udpPort']), socket.SOCK_DGRAM) for a in G['addresses']]",
  ),
  python(
    'gateway-of-the-network',
    "[talks(socket.AF_INET, (h, G['anyPort'])) for h in ('10.0.2.2', '10.88.0.1', '172.17.0.1', '192.168.122.1')]; g = [l.split() for l in open('/proc/net/route')][1:]; escaped(any(r[1] == '00000000' for r in g))",
  ),
  way('metadata-address', '169.254.169.254'),
  way('metadata-address-6', 'fd00:ec2::254'),
  way('private-network', '10.0.0.1'),
  way('public-network', '198.51.100.1'),
  way('name-server', '192.0.2.53'),
  way('multicast', '224.0.0.251'),
  python('interfaces', "escaped(any(n != 'lo' for _, n in socket.if_nameindex()), socket.if_nameindex())"),
  python(
    'name-service',
    "print(socket.gethostbyname(socket.gethostname())); escaped(bool(glob.glob('/run/nscd/socket') + glob.glob('/run/systemd/resolve/*') + glob.glob('/etc/resolv.conf')))",
  ),
  python('unix-socket-by-path', "[talks(socket.AF_UNIX, p) for p in G['sockets'][:1]]"),
  python(
    'unix-sockets-in-run',
    "[talks(socket.AF_UNIX, p) for r in ('/run', '/var/run') for d, _, f in os.walk(r) for n in f for p in [os.path.join(d, n)] if stat.S_ISSOCK(os.lstat(p).st_mode)]",
  ),
  python(
    'unix-sockets-in-tmp',
    "[talks(socket.AF_UNIX, p) for p in glob.glob('/tmp/*.X11*/*') + glob.glob('/tmp/.X11-unix/*') + glob.glob('/tmp/ssh-*/*')]",
  ),
  python('abstract-socket', "talks(socket.AF_UNIX, '\\0' + G['abstract'])"),
  python(
    'abstract-sockets-listed',
    "[talks(socket.AF_UNIX, '\\0' + l.split()[-1][1:]) for l in open('/proc/net/unix') if ' @' in l and G['id'] in l]",
  ),
  python(
    'task-sockets-of-others',
    "[talks(socket.AF_UNIX, p) for p in glob.glob(G['base'] + '/w/sockets-*/*') + [G['sockets'][0]]]",
  ),
  python(
    'sysv-memory-read',
    "f = LIBC.shmat; f.restype = ctypes.c_void_p; at = f(G['shm'], None, 0o10000); print(ctypes.string_at(at, 60) if at not in (None, 2**64 - 1) else ctypes.get_errno())",
  ),
  python(
    'sysv-memory-write',
    "f = LIBC.shmat; f.restype = ctypes.c_void_p; at = f(G['shm'], None, 0)\nif at not in (None, 2**64 - 1): ctypes.memmove(at, b'changed', 7)\ntime.sleep(0.3)",
    { changed: 'shm' },
  ),
  python(
    'sysv-messages',
    "b = ctypes.create_string_buffer(200); print(LIBC.msgrcv(G['messages'], b, 128, 0, 0o4000)); print(b.raw[8:80])",
  ),
]);

export const NETWORK: Probe[] = [...SOCKETS, ...SERVICES];
