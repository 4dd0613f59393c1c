import { expect, test } from 'vitest';
import type { Subject } from './subject.ts';

/** Name, number and arguments of system calls of x64. */
const CALLS = [
  'ptrace=101,0',
  'mount=165',
  'unshare=272',
  'bpf=321',
  'io_uring_setup=425',
  'clone3=435',
  'clone_newuser=56,0x10000000',
  'clone_newns=56,0x20000',
  'packet=41,17,3',
  'raw=41,2,3',
  'vsock=41,40,1',
  'netfilter=41,16,3,12',
  'tiocsti=16,0,0x5412',
  'tiocsti_high=16,0,0x100005412',
  'personality=135,0x40000',
  'newer=480',
  'route=41,16,3',
  'stream=41,2,1',
  'pty=16,0,0x5401',
];
/** Makes each call and prints its name with `ok` or its errno. */
const SCRIPT = `import ctypes,sys
l=ctypes.CDLL(None,use_errno=True)
l.syscall.restype=ctypes.c_long
for word in sys.argv[1].split():
  name,numbers=word.split('=')
  ctypes.set_errno(0)
  r=l.syscall(*[ctypes.c_long(int(n,0)) for n in (numbers+',0,0,0,0,0,0').split(',')[:7]])
  print(name, 'ok' if r>=0 else ctypes.get_errno())`;

export function systemCallCases({ said }: Subject): void {
  test.skipIf(process.arch !== 'x64')(
    'cannot make the calls that its filter names, and can make the others',
    async () => {
      const answers = Object.fromEntries(
        (await said(['python3', '-c', SCRIPT, CALLS.join(' ')])).split('\n').map((line) => line.split(' ')),
      );
      const [EPERM, ENOTTY, ENOSYS, EAFNOSUPPORT] = ['1', '25', '38', '97'];
      // Python is not installed here.
      if (Object.keys(answers).length < 5) return;
      expect(answers).toMatchObject({
        ptrace: EPERM,
        mount: EPERM,
        unshare: EPERM,
        bpf: EPERM,
        io_uring_setup: EPERM,
        clone3: ENOSYS,
        clone_newuser: EPERM,
        clone_newns: EPERM,
        packet: EAFNOSUPPORT,
        raw: EPERM,
        vsock: EAFNOSUPPORT,
        netfilter: EAFNOSUPPORT,
        tiocsti: EPERM,
        tiocsti_high: EPERM,
        route: 'ok',
        stream: 'ok',
        pty: ENOTTY,
      });
      expect([EPERM, ENOSYS]).toContain(answers['personality']);
      expect(answers['newer']).toBe(ENOSYS);
    },
  );
}
