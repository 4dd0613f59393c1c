import {
  AF_INET,
  AF_INET6,
  AF_NETLINK,
  AF_UNIX,
  DENIED,
  INET_PROTOCOLS,
  INSPECTED,
  NEW_NAMESPACES,
  NEWEST_KNOWN,
  QUERY_PERSONALITY,
  SOCK_PACKET,
  SOCK_RAW,
  TIOCLINUX,
  TIOCSTI,
  type Architecture,
} from '../syscalls.ts';

/**
 * Assembles the sandbox's seccomp filter (classic BPF, struct sock_filter[]), which bwrap reads from a
 * descriptor. A library would be a native dependency; the program has about 110 instructions.
 */
const LOAD = 0x20,
  JUMP_EQUAL = 0x15,
  JUMP_GREATER = 0x25,
  JUMP_SET = 0x45,
  AND = 0x54,
  RETURN = 0x06;
const ALLOW = 0x7fff0000,
  KILL_PROCESS = 0x80000000,
  ERRNO = 0x00050000;
const EPERM = 1,
  ENOSYS = 38,
  EPROTONOSUPPORT = 93,
  EAFNOSUPPORT = 97;
const AT_NUMBER = 0,
  AT_ARCHITECTURE = 4;
/** Low half of argument n in struct seccomp_data (little endian). */
const argument = (n: number): number => 16 + 8 * n;

interface Instruction {
  code: number;
  value: number;
  yes?: string;
  no?: string;
  label?: string;
}

/** The compiled filter for this architecture. Throws RangeError where the architecture has no table. */
export function seccompFilter(architecture: string): Buffer {
  if (!(architecture in INSPECTED)) throw new RangeError(`no system call table for ${architecture}`);
  return assemble(program(architecture as Architecture));
}

function program(architecture: Architecture): Instruction[] {
  const at = INSPECTED[architecture];
  const column = architecture === 'x64' ? 1 : 2;
  const denied = DENIED.flatMap((row) => (row[column] === null ? [] : [row[column]]));
  const ret = (label: string, value: number): Instruction => ({ code: RETURN, value, label });
  const when = (value: number, yes: string): Instruction => ({ code: JUMP_EQUAL, value, yes });
  return [
    { code: LOAD, value: AT_ARCHITECTURE },
    { code: JUMP_EQUAL, value: at.audit, no: 'kill' },
    { code: LOAD, value: AT_NUMBER },
    { code: JUMP_GREATER, value: NEWEST_KNOWN, yes: 'enosys' }, // also every x32 call
    // glibc falls back to clone(2), whose flags the filter can see; clone3's lie behind a pointer.
    when(at.clone3, 'enosys'),
    when(at.clone, 'clone'),
    when(at.socket, 'socket'),
    when(at.socketpair, 'socketpair'),
    when(at.ioctl, 'ioctl'),
    when(at.personality, 'personality'),
    ...denied.map((number) => when(number, 'eperm')),
    ret('allow', ALLOW),
    { code: LOAD, value: argument(0), label: 'clone' },
    { code: JUMP_SET, value: NEW_NAMESPACES, yes: 'eperm', no: 'allowed' },
    { code: LOAD, value: argument(0), label: 'socket' },
    when(AF_UNIX, 'allowed'),
    when(AF_INET, 'inet'),
    when(AF_INET6, 'inet'),
    { code: JUMP_EQUAL, value: AF_NETLINK, yes: 'netlink', no: 'family' },
    { code: LOAD, value: argument(1), label: 'inet' },
    { code: AND, value: 0xf },
    when(SOCK_RAW, 'eperm'),
    when(SOCK_PACKET, 'eperm'),
    { code: LOAD, value: argument(2) },
    ...INET_PROTOCOLS.map((number) => when(number, 'allowed')),
    ret('protocol', ERRNO | EPROTONOSUPPORT),
    { code: LOAD, value: argument(0), label: 'socketpair' },
    { code: JUMP_EQUAL, value: AF_UNIX, yes: 'allowed', no: 'family' },
    { code: LOAD, value: argument(2), label: 'netlink' },
    { code: JUMP_EQUAL, value: 0, yes: 'allowed', no: 'family' },
    { code: LOAD, value: argument(1), label: 'ioctl' },
    when(TIOCSTI, 'eperm'),
    { code: JUMP_EQUAL, value: TIOCLINUX, yes: 'eperm', no: 'allowed' },
    { code: LOAD, value: argument(0), label: 'personality' },
    when(0, 'allowed'),
    { code: JUMP_EQUAL, value: QUERY_PERSONALITY, yes: 'allowed', no: 'eperm' },
    ret('eperm', ERRNO | EPERM),
    ret('enosys', ERRNO | ENOSYS),
    ret('family', ERRNO | EAFNOSUPPORT),
    ret('kill', KILL_PROCESS),
    ret('allowed', ALLOW),
  ];
}

function assemble(instructions: Instruction[]): Buffer {
  const places = new Map(
    instructions.flatMap((x, i) => (x.label === undefined ? [] : [[x.label, i] as const])),
  );
  const out = Buffer.alloc(instructions.length * 8);
  const distance = (label: string | undefined, from: number): number => {
    if (label === undefined) return 0;
    const to = places.get(label);
    if (to === undefined || to <= from || to - from - 1 > 255)
      throw new RangeError(`cannot jump to ${label}`);
    return to - from - 1;
  };
  instructions.forEach((x, i) => {
    out.writeUInt16LE(x.code, i * 8);
    out.writeUInt8(distance(x.yes, i), i * 8 + 2);
    out.writeUInt8(distance(x.no, i), i * 8 + 3);
    out.writeUInt32LE(x.value >>> 0, i * 8 + 4);
  });
  return out;
}
