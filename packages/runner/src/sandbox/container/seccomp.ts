import {
  AF_INET,
  AF_INET6,
  AF_NETLINK,
  AF_UNIX,
  DENIED,
  INET_PROTOCOLS,
  NEW_NAMESPACES,
  QUERY_PERSONALITY,
  SOCK_PACKET,
  SOCK_RAW,
  TIOCLINUX,
  TIOCSTI,
} from '../syscalls.ts';
import { ALLOWED } from './allowed-calls.ts';

const EPERM = 1,
  ENOSYS = 38,
  EAFNOSUPPORT = 97;
const TYPES = 0xf,
  INT = 0xffffffff,
  HIGHEST_FAMILY = 63;

interface Condition {
  index: number;
  op: 'SCMP_CMP_EQ' | 'SCMP_CMP_GT' | 'SCMP_CMP_MASKED_EQ';
  value: number;
  valueTwo?: number;
}
interface Rule {
  names: readonly string[];
  action: string;
  errnoRet?: number;
  args?: Condition[];
}

const allow = (name: string, ...args: Condition[]): Rule => ({
  names: [name],
  action: 'SCMP_ACT_ALLOW',
  args,
});
const refuse = (errno: number, name: string, ...args: Condition[]): Rule => ({
  names: [name],
  action: 'SCMP_ACT_ERRNO',
  errnoRet: errno,
  args,
});
const equals = (index: number, value: number): Condition => ({ index, op: 'SCMP_CMP_EQ', value });
const above = (index: number, value: number): Condition => ({ index, op: 'SCMP_CMP_GT', value });
const masked = (index: number, mask: number, value: number): Condition => ({
  index,
  op: 'SCMP_CMP_MASKED_EQ',
  value: mask >>> 0,
  valueTwo: value >>> 0,
});
const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i);
const bits = (mask: number): number[] =>
  range(0, 31)
    .map((i) => (1 << i) >>> 0)
    .filter((bit) => (mask & bit) !== 0);

/**
 * The rules of ../syscalls.ts as a profile that engines accept (the OCI's form). Calls without a rule answer
 * ENOSYS (old Docker: EPERM), including calls newer than the engine's library. Rules for one call must not
 * overlap where they differ: where only some arguments of a call are denied, all others are listed.
 */
export function seccompProfile(architecture: string): string {
  const names = architecture === 'x64' ? ['SCMP_ARCH_X86_64'] : ['SCMP_ARCH_AARCH64'];
  return JSON.stringify({
    defaultAction: 'SCMP_ACT_ERRNO',
    defaultErrnoRet: ENOSYS,
    architectures: names,
    syscalls: [
      { names: ALLOWED, action: 'SCMP_ACT_ALLOW' },
      { names: DENIED.map(([name]) => name), action: 'SCMP_ACT_ERRNO', errnoRet: EPERM },
      ...clone(),
      ...socket(),
      ...ioctl(),
      refuse(ENOSYS, 'clone3'),
      allow('personality', equals(0, 0)),
      allow('personality', equals(0, QUERY_PERSONALITY)),
    ],
  });
}

function clone(): Rule[] {
  return [
    allow('clone', masked(0, NEW_NAMESPACES, 0)),
    ...bits(NEW_NAMESPACES).map((bit) => refuse(EPERM, 'clone', masked(0, bit, bit))),
  ];
}

function socket(): Rule[] {
  const others = range(0, HIGHEST_FAMILY).filter(
    (family) => ![AF_UNIX, AF_INET, AF_INET6, AF_NETLINK].includes(family),
  );
  return [
    allow('socket', equals(0, AF_UNIX)),
    allow('socket', equals(0, AF_NETLINK), equals(2, 0)),
    refuse(EAFNOSUPPORT, 'socket', equals(0, AF_NETLINK), above(2, 0)),
    ...[AF_INET, AF_INET6].flatMap((family) =>
      range(0, TYPES).flatMap((type) => {
        const conditions = [equals(0, family), masked(1, TYPES, type)];
        return type === SOCK_RAW || type === SOCK_PACKET
          ? [refuse(EPERM, 'socket', ...conditions)]
          : INET_PROTOCOLS.map((protocol) => allow('socket', ...conditions, equals(2, protocol)));
      }),
    ),
    allow('socketpair', equals(0, AF_UNIX)),
    refuse(EAFNOSUPPORT, 'socketpair', above(0, AF_UNIX)),
    ...others.map((family) => refuse(EAFNOSUPPORT, 'socket', equals(0, family))),
    refuse(EAFNOSUPPORT, 'socket', above(0, HIGHEST_FAMILY)),
  ];
}

/**
 * The kernel compares 32 of 64 bits: allowed are all requests that differ from both numbers above their last
 * four bits, and, of the others, all but the two.
 */
function ioctl(): Rule[] {
  const low = 0xf,
    high = (INT & ~low) >>> 0;
  const last = range(0, low).filter((value) => value !== (TIOCSTI & low) && value !== (TIOCLINUX & low));
  return [
    refuse(EPERM, 'ioctl', masked(1, INT, TIOCSTI)),
    refuse(EPERM, 'ioctl', masked(1, INT, TIOCLINUX)),
    ...bits(high).map((bit) => allow('ioctl', masked(1, bit, ~TIOCSTI & bit))),
    ...last.map((value) => allow('ioctl', masked(1, INT, (TIOCSTI & high) | value))),
  ];
}
