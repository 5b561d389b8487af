/** Python: `call` makes a system call by its numbers on x64 and ARM64, and prints its name and its error code. */
export const CALL_PRELUDE = `
import ctypes, errno, os, platform
libc = ctypes.CDLL(None, use_errno=True)
X64 = platform.machine() == 'x86_64'
def call(name, x64, arm64, *arguments):
    result = libc.syscall(x64 if X64 else arm64, *arguments)
    print(name, errno.errorcode[ctypes.get_errno()] if result == -1 else 'done')`

/** Python: calls that access other processes, namespaces or the kernel. */
export const FORBIDDEN_CALLS = `${CALL_PRELUDE}
call('ptrace', 101, 117, 0, 0, 0, 0)
call('mount', 165, 40, b'none', b'/tmp', b'tmpfs', 0, 0)
call('unshare', 272, 97, 0x10000000)
call('setns', 308, 268, 0, 0)
call('keyctl', 250, 219, 0, -3, 1)
call('bpf', 321, 280, 0, 0, 0)
call('io_uring_setup', 425, 425, 1, 0)
call('perf_event_open', 298, 241, 0, 0, -1, -1, 0)
call('userfaultfd', 323, 282, 1)
call('process_vm_readv', 310, 270, 1, 0, 0, 0, 0, 0)
call('pidfd_getfd', 438, 438, 0, 0, 0)
call('clone with a namespace', 56, 220, 0x10000011, 0, 0, 0, 0)
call('personality', 135, 92, 0x40000)`

/** Python: devices, mounts and settings of the kernel. */
export const FORBIDDEN_CHANGES = `${CALL_PRELUDE}
def attempt(name, action):
    try:
        action()
        print(name, 'done')
    except OSError as error: print(name, errno.errorcode[error.errno])
def write(path, text): os.write(os.open(path, os.O_WRONLY), text)
def open_device(path, mode, number):
    os.mknod(path, mode, number)
    os.open(path, os.O_RDONLY)
attempt('memory device', lambda: open_device('/tmp/mem', 0o20666, os.makedev(1, 1)))
attempt('disk device', lambda: open_device('/tmp/disk', 0o60666, os.makedev(254, 0)))
call('fsopen', 430, 430, b'tmpfs', 0)
call('open_tree', 428, 428, -100, b'/', 1)
call('mount_setattr', 442, 442, -100, b'/', 0, 0, 0)
attempt('chroot', lambda: os.chroot('/tmp'))
call('open_by_handle_at', 304, 265, -100, 0, 0)
call('add_key', 248, 217, b'user', b'x', b'y', 1, -3)
call('syslog', 103, 116, 10, 0, 0)
call('fanotify_init', 300, 262, 0, 0)
attempt('core pattern', lambda: write('/proc/sys/kernel/core_pattern', b'x'))
attempt('next process id', lambda: write('/proc/sys/kernel/ns_last_pid', b'100'))
attempt('user map', lambda: write('/proc/self/uid_map', b'0 0 1'))
attempt('other user', lambda: os.setgroups([0]))`

/** Python: listens on an abstract socket and repeats one line. */
export const LISTENER = `
import socket
server = socket.socket(socket.AF_UNIX)
server.bind('\\0svc-neighbour')
server.listen()
print('listening', flush=True)
print(input(), flush=True)`

/** Python: kills every other process and connects to the socket of `LISTENER`. */
export const ATTACK_ON_OTHERS = `
import errno, os, socket
for pid in [*range(2, 500), -1]:
    if pid != os.getpid():
        try: os.kill(pid, 9)
        except ProcessLookupError: pass
try: socket.socket(socket.AF_UNIX).connect('\\0svc-neighbour')
except OSError as error: print(errno.errorcode[error.errno])`

/** Python: watches the programs of the host, and prints the names of those that were opened when it got a line. */
export const WATCHER = `
import ctypes, os, struct
libc = ctypes.CDLL(None)
queue = libc.inotify_init1(0o4000)
libc.inotify_add_watch(queue, b'/usr/bin', 0x20)
print('watching', flush=True)
input()
try: print(os.read(queue, 65536))
except BlockingIOError: print('nothing')`

/** Python: connections of a cell with a loopback port. */
export const LOOPBACK_ATTEMPTS = `
import errno, socket
def attempt(name, action):
    try:
        action()
        print(name, 'done')
    except OSError as error: print(name, errno.errorcode.get(error.errno, type(error).__name__))
server = socket.create_server(('127.0.0.1', 0))
own = socket.create_connection(server.getsockname())
own.send(b'x')
print('own port', server.accept()[0].recv(1) == b'x')
for host in ('127.0.0.1', '169.254.169.254', '10.0.0.1', '1.1.1.1'):
    attempt(host, lambda: socket.create_connection((host, 9), 3))
for arguments in ((2, 2, 0), (2, 3, 1), (2, 1, 262), (10, 1, 0), (16, 3, 0), (17, 3, 0), (40, 1, 0)):
    attempt('socket', lambda: socket.socket(*arguments))`

/** Python: six processes that hold 48 MB each. */
export const GREEDY_PROCESSES = `
import os, time
for child in range(6):
    if os.fork() == 0:
        held = bytearray(os.urandom(1 << 20)) * 48
        time.sleep(600)
time.sleep(600)`

/** Python: starts processes until it is refused; prints their number and the error code, which is 11 (EAGAIN) at a limit. */
export const FORK_BOMB = `
import os, time
count = 0
try:
    while True:
        if os.fork() == 0:
            time.sleep(600)
            os._exit(0)
        count += 1
except OSError as error:
    print(count, error.errno)`
