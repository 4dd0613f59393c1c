"""Runs probes one after the other, each in its own process, and prints one line of JSON for each: its name
and its output.

Argument: the file of the probes. Afterwards it waits for its stdin to end, so that their effects can be
checked from outside. All that a probe may know of the host is in GROUNDS, which holds no secret.
"""
import os, stat
INHERITED = []
for name in os.listdir('/proc/self/fd'):
    try:
        os.fstat(int(name))
        if int(name) > 2: INHERITED.append(int(name))
    except OSError: pass

import ctypes, errno, fcntl, glob, json, mmap, re, select, signal, socket, struct, subprocess, sys, time

LIBC = ctypes.CDLL(None, use_errno=True)
GROUNDS = json.loads(os.environ.get('GROUNDS', '{}'))
NUMBERS = GROUNDS.get('numbers', {})
# What a filter, a missing capability or a missing subsystem answers.
REFUSED = {errno.EPERM, errno.EACCES, errno.ENOSYS, errno.EAFNOSUPPORT, errno.EPROTONOSUPPORT, errno.ESOCKTNOSUPPORT, errno.EOPNOTSUPP}
AT_FDCWD = -100
SECONDS, SAID = 6, 400_000


def call(name, *args):
    """(result, errno) of a raw system call by name or number."""
    ctypes.set_errno(0)
    made = [ctypes.c_long(a) if isinstance(a, int) else ctypes.c_long(0) if a is None else a for a in args]
    result = LIBC.syscall(ctypes.c_long(NUMBERS[name] if isinstance(name, str) else name), *made)
    return result, ctypes.get_errno()


def escaped(yes, *said):
    print('ESCAPED' if yes else 'held', *said, flush=True)


def error_name(number): return errno.errorcode.get(number, number)


def did(name, *args):
    """The call must succeed."""
    result, error = call(name, *args)
    escaped(result >= 0, name, error_name(error))
    return result


def admitted(name, *args):
    """The kernel looked at the arguments: it may have found fault with them, but did not refuse the caller."""
    result, error = call(name, *args)
    escaped(result >= 0 or error not in REFUSED, name, error_name(error))


def opens(path, flags=os.O_RDONLY):
    """Opening alone is the success; nothing is read or written."""
    try:
        os.close(os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC))
        escaped(True, path)
    except OSError as error: escaped(False, path, error)


def rewrites(path):
    """Writes what stands there already, so that a success changes nothing."""
    try:
        with open(path) as file: text = file.read()
        with open(path, 'w') as file: file.write(text)
        escaped(True, path, text[:80])
    except OSError as error: escaped(False, path, error)


def writes(path, text):
    """At once, so that a refusal is seen."""
    fd = os.open(path, os.O_WRONLY)
    try: escaped(os.write(fd, text) == len(text), path)
    finally: os.close(fd)


def leaks(path):
    """Prints what it finds; the secret in there is the success."""
    try:
        with open(path, 'rb') as file: print(path, file.read(65536).replace(b'\0', b' ').decode('latin1'))
    except OSError as error: print(path, error)


def talks(family, address, kind=socket.SOCK_STREAM):
    try:
        with socket.socket(family, kind) as peer:
            peer.settimeout(1)
            peer.connect(address)
            if kind == socket.SOCK_DGRAM: peer.send(b'hello')
            print(address, peer.recv(4096).decode('latin1'))
    except OSError as error: print(address, error)


def pids(): return [int(name) for name in os.listdir('/proc') if name.isdigit()]


def as_nobody():
    """A success with root's own rights would show nothing."""
    if os.getuid() == 0:
        os.setgroups([])
        os.setresgid(65534, 65534, 65534)
        os.setresuid(65534, 65534, 65534)


def run(probe):
    """The end of its output."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try: child(probe, writing)
        except BaseException as error: print('error', repr(error), flush=True)
        os._exit(0)
    os.close(writing)
    said, end = b'', time.monotonic() + SECONDS
    while time.monotonic() < end:
        if select.select([reading], [], [], 0.2)[0]:
            part = os.read(reading, 65536)
            if not part: break
            said = (said + part)[-SAID:]
        elif os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT): break
    try: os.killpg(pid, signal.SIGKILL)
    except OSError: pass
    os.close(reading)
    os.waitpid(pid, 0)
    return said.decode('latin1').replace('\0', ' ')


def child(probe, writing):
    os.setpgid(0, 0)
    nothing = os.open('/dev/null', os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(writing, 1)
    os.dup2(writing, 2)
    if GROUNDS.get('control'):
        # What one probe does to the mounts must not reach the next, let alone the host.
        LIBC.unshare(0x20000)
        LIBC.mount(b'none', b'/', None, 0x4000 | 0x40000, None)
    work = f"{GROUNDS['work']}/probe-{probe['name']}"
    os.mkdir(work)
    os.chdir(work)
    victim = GROUNDS['victims'][probe['victim']] if 'victim' in probe else 0
    os.environ['VICTIM'] = str(victim)
    for name, value in GROUNDS.items(): os.environ[name.upper()] = str(value)
    if 'sh' in probe: os.execv('/bin/sh', ['sh', '-c', probe['sh']])
    exec(compile(probe['python'], probe['name'], 'exec'), {**globals(), 'VICTIM': victim, 'G': GROUNDS})
    sys.stdout.flush()


if __name__ == '__main__':
    # One probe sends this to whatever it can reach.
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    with open(sys.argv[1]) as file: PROBES = json.load(file)
    for probe in PROBES:
        print(json.dumps({'name': probe['name'], 'said': run(probe)}), flush=True)
    print(json.dumps({'done': True}), flush=True)
    sys.stdin.read()
