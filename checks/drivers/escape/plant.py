"""Plants what only system calls can plant on this host: shared memory, a message queue, a terminal, a file
handle of the canary.

Reads { secret, file, numbers } as one line from stdin; prints { shm, messages, terminal, handleType, handle },
and then `terminal` or `shm` when one of them is written to. Removes everything at the end of its stdin.
"""
import ctypes, json, os, select, sys, tty

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.shmat.restype = ctypes.c_void_p
GIVEN = json.loads(sys.stdin.readline())
SECRET = GIVEN['secret'].encode()

shm = LIBC.shmget(0, 4096, 0o1666)
memory = LIBC.shmat(shm, None, 0)
ctypes.memmove(memory, SECRET, len(SECRET))


class Message(ctypes.Structure): _fields_ = [('type', ctypes.c_long), ('text', ctypes.c_char * 128)]


messages = LIBC.msgget(0, 0o1666)
LIBC.msgsnd(messages, ctypes.byref(Message(1, SECRET)), len(SECRET), 0)

master, slave = os.openpty()
tty.setraw(slave)
os.chmod(os.ttyname(slave), 0o666)


class Handle(ctypes.Structure): _fields_ = [('bytes', ctypes.c_uint), ('type', ctypes.c_int), ('data', ctypes.c_ubyte * 128)]


handle, mount = Handle(128, 0), ctypes.c_int()
LIBC.name_to_handle_at(-100, GIVEN['file'].encode(), ctypes.byref(handle), ctypes.byref(mount), 0)
print(json.dumps({'shm': shm, 'messages': messages, 'terminal': os.ttyname(slave), 'handleType': handle.type, 'handle': bytes(handle.data[:handle.bytes]).hex() if handle.bytes < 128 else ''}), flush=True)

told = False
while True:
    ready = select.select([sys.stdin, master], [], [], 0.1)[0]
    if master in ready:
        os.read(master, 4096)
        print('terminal', flush=True)
    if not told and ctypes.string_at(memory, len(SECRET)) != SECRET:
        told = True
        print('shm', flush=True)
    if sys.stdin in ready and not sys.stdin.read(1): break
LIBC.shmctl(shm, 0, None)
LIBC.msgctl(messages, 0, None)
