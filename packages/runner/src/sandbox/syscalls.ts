/**
 * System calls that a sandbox may not make, by architecture: those that container engines refuse to a
 * container without capabilities (mounting, namespaces, keys, tracing, modules, clocks, NUMA) and newer
 * interfaces with a history of kernel bugs (io_uring, userfaultfd, bpf, perf). Each row: name, x64 number,
 * arm64 number; null where the architecture has no such call.
 */
type Row = readonly [name: string, x64: number | null, arm64: number | null];

export const DENIED: readonly Row[] = [
  ['ptrace', 101, 117],
  ['syslog', 103, 116],
  ['uselib', 134, null],
  ['ustat', 136, null],
  ['sysfs', 139, null],
  ['vhangup', 153, 58],
  ['modify_ldt', 154, null],
  ['pivot_root', 155, 41],
  ['_sysctl', 156, null],
  ['chroot', 161, 51],
  ['acct', 163, 89],
  ['settimeofday', 164, 170],
  ['mount', 165, 40],
  ['umount2', 166, 39],
  ['swapon', 167, 224],
  ['swapoff', 168, 225],
  ['reboot', 169, 142],
  ['sethostname', 170, 161],
  ['setdomainname', 171, 162],
  ['iopl', 172, null],
  ['ioperm', 173, null],
  ['create_module', 174, null],
  ['init_module', 175, 105],
  ['delete_module', 176, 106],
  ['get_kernel_syms', 177, null],
  ['query_module', 178, null],
  ['quotactl', 179, 60],
  ['nfsservctl', 180, 42],
  ['lookup_dcookie', 212, 18],
  ['clock_settime', 227, 112],
  ['mbind', 237, 235],
  ['set_mempolicy', 238, 237],
  ['get_mempolicy', 239, 236],
  ['kexec_load', 246, 104],
  ['add_key', 248, 217],
  ['request_key', 249, 218],
  ['keyctl', 250, 219],
  ['migrate_pages', 256, 238],
  ['unshare', 272, 97],
  ['move_pages', 279, 239],
  ['perf_event_open', 298, 241],
  ['fanotify_init', 300, 262],
  ['name_to_handle_at', 303, 264],
  ['open_by_handle_at', 304, 265],
  ['clock_adjtime', 305, 266],
  ['setns', 308, 268],
  ['process_vm_readv', 310, 270],
  ['process_vm_writev', 311, 271],
  ['kcmp', 312, 272],
  ['finit_module', 313, 273],
  ['kexec_file_load', 320, 294],
  ['bpf', 321, 280],
  ['userfaultfd', 323, 282],
  ['io_uring_setup', 425, 425],
  ['io_uring_enter', 426, 426],
  ['io_uring_register', 427, 427],
  ['open_tree', 428, 428],
  ['move_mount', 429, 429],
  ['fsopen', 430, 430],
  ['fsconfig', 431, 431],
  ['fsmount', 432, 432],
  ['fspick', 433, 433],
  ['pidfd_getfd', 438, 438],
  ['process_madvise', 440, 440],
  ['mount_setattr', 442, 442],
  ['quotactl_fd', 443, 443],
  ['memfd_secret', 447, 447],
  ['process_mrelease', 448, 448],
  ['set_mempolicy_home_node', 450, 450],
  ['statmount', 457, 457],
  ['listmount', 458, 458],
];

/** The calls whose arguments the filter inspects. */
export const INSPECTED = {
  x64: { audit: 0xc000003e, clone: 56, clone3: 435, socket: 41, socketpair: 53, ioctl: 16, personality: 135 },
  arm64: {
    audit: 0xc00000b7,
    clone: 220,
    clone3: 435,
    socket: 198,
    socketpair: 199,
    ioctl: 29,
    personality: 92,
  },
} as const;

/** Every CLONE_NEW* but CLONE_NEWTIME, whose bit is part of the exit signal in clone(2). */
export const NEW_NAMESPACES = 0x7e020000;
/**
 * The socket families that may be opened (of netlink only NETLINK_ROUTE, number 0: listing one's own
 * interfaces), and the types that internet sockets may not have.
 */
export const AF_UNIX = 1,
  AF_INET = 2,
  AF_INET6 = 10,
  AF_NETLINK = 16,
  SOCK_RAW = 3,
  SOCK_PACKET = 10;
/**
 * Protocols of internet sockets: the type's default, ICMP, TCP, UDP, ICMPv6. Others would make the kernel
 * load modules that no sandbox needs.
 */
export const INET_PROTOCOLS = [0, 1, 6, 17, 58] as const;
/** Writes into a terminal's input. */
export const TIOCSTI = 0x5412,
  TIOCLINUX = 0x541c;
export const QUERY_PERSONALITY = 0xffffffff;

/**
 * Calls above this number are newer than this table. They answer ENOSYS, so that programs use their older
 * path.
 */
export const NEWEST_KNOWN = 462;

export type Architecture = keyof typeof INSPECTED;
