import { beforeAll, describe, expect, test } from 'vitest'
import type { SandboxDriver } from '../../../src/execution/sandbox/driver.ts'
import { pickSandboxDriver } from '../../../src/execution/sandbox/pick-driver.ts'
import { runCell, runPython } from './run-cell.ts'

let driver: SandboxDriver
beforeAll(async () => {
  driver = await pickSandboxDriver('bwrap', () => {})
})

/**
 * Python code that allocates memory like a C program. Each test defines `allocate`, which returns the address of 16 MB or
 * None; `fill(max_mb)` calls it until it fails and returns the allocated megabytes.
 */
const PRELUDE = `
import ctypes, os, resource, socket, threading, time
PIECE = 16 << 20
libc = ctypes.CDLL(None)
libc.mmap.restype = libc.shmat.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
MAP_FAILED = ctypes.c_void_p(-1).value
def map_memory(flags, descriptor=-1):
    address = libc.mmap(None, PIECE, 3, flags, descriptor, 0)
    return None if address in (None, MAP_FAILED) else address
def fill(max_mb):
    allocated = 0
    try:
        while allocated < max_mb:
            address = allocate()
            if address is None: break
            if address: ctypes.memset(address, 1, PIECE)
            if address: after_write(address)
            allocated += 16
    except (OSError, MemoryError): pass
    return allocated
def after_write(address): pass
`

const PRIVATE_ANONYMOUS = 'map_memory(0x22)'

describe('the memory limit of a process', () => {
  test.each([
    ['shared with its children', 'def allocate(): return map_memory(0x21)'],
    [
      'shared with its children and released with madvise',
      'def allocate(): return map_memory(0x21)\ndef after_write(address): libc.madvise(address, PIECE, 4)',
    ],
    ['from /dev/zero', "zero = os.open('/dev/zero', os.O_RDWR)\ndef allocate(): return map_memory(1, zero)"],
    ['mapped as a growing stack', 'def allocate(): return map_memory(0x122)'],
    ['mapped as huge pages', 'def allocate(): return map_memory(0x40022)'],
    [
      'of an anonymous file',
      `def allocate():
    file = os.memfd_create('x')
    os.ftruncate(file, PIECE)
    return map_memory(1, file)`,
    ],
    [
      'of an anonymous file that is never mapped',
      `def allocate():
    file = os.memfd_create('x')
    return os.write(file, bytes(PIECE)) * 0`,
    ],
    [
      'of a System V segment',
      `def allocate():
    id = libc.shmget(0, PIECE, 0o1600)
    return None if id == -1 else libc.shmat(id, None, 0)`,
    ],
    [
      'in /dev/shm',
      `def allocate():
    file = os.open('/dev/shm', os.O_RDWR | os.O_TMPFILE)
    os.posix_fallocate(file, 0, PIECE)
    return map_memory(1, file)`,
    ],
  ])('the memory limit of a process counts memory %s', async (_, allocation) => {
    const program = `${PRELUDE}\n${allocation}\nprint(fill(160))`
    const { lines } = await runPython(driver, program, { memory_mb: 128, tmp_mb: 64 })
    expect(Number(lines[0])).toBeLessThanOrEqual(112)
  })

  test('a process cannot raise the limit of its stack', async () => {
    const program = `${PRELUDE}
try:
    resource.setrlimit(resource.RLIMIT_STACK, (-1, -1))
    print('unlimited')
except (OSError, ValueError):
    print('stays', resource.getrlimit(resource.RLIMIT_STACK)[1] >> 20)`
    expect((await runPython(driver, program)).lines).toEqual(['stays 8'])
  })
})

describe('the memory limit of a workshop', () => {
  const FILL_AND_WAIT = 'fill(160); time.sleep(600)'

  test.each([
    [
      'one process that makes its pages read-only',
      `def allocate(): return ${PRIVATE_ANONYMOUS}\ndef after_write(address): libc.mprotect(address, PIECE, 1)\n${FILL_AND_WAIT}`,
    ],
    [
      'many processes, each within its own limit',
      `def allocate(): return ${PRIVATE_ANONYMOUS}
for child in range(4):
    if os.fork() == 0:
        fill(48)
        time.sleep(600)
time.sleep(600)`,
    ],
    [
      'children of a second thread, and their children',
      `def allocate(): return ${PRIVATE_ANONYMOUS}
def fork():
    for child in range(4):
        if os.fork() == 0:
            if os.fork() == 0: fill(48)
            time.sleep(600)
threading.Thread(target=fork).start()
time.sleep(600)`,
    ],
    [
      'unread messages in socket buffers',
      `open_sockets = []
def fill_buffer(end):
    end.setblocking(False)
    end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
    try:
        while True: end.send(bytes(65536))
    except BlockingIOError: open_sockets.append(end)
for child in range(6):
    if os.fork() == 0:
        for pair in range(60):
            for end in socket.socketpair(): fill_buffer(end)
        time.sleep(600)
time.sleep(600)`,
    ],
  ])('a workshop that uses more than twice the memory of a process is killed: %s', async (_, program) => {
    const { exit } = await runPython(driver, `${PRELUDE}\n${program}`, { memory_mb: 64 })
    expect(exit).toMatchObject({ code: null, signal: 'SIGKILL' })
    expect(exit.stderr).toBe('the processes of the sandbox used more than 128 MB of memory')
  })

  test('pages that forked processes share are counted once', async () => {
    const program = `${PRELUDE}
def allocate(): return ${PRIVATE_ANONYMOUS}
fill(48)
for child in range(5):
    if os.fork() == 0:
        time.sleep(600)
time.sleep(1)
print('still running')`
    const { lines, exit } = await runPython(driver, program, { memory_mb: 64 })
    expect([lines, exit.code]).toEqual([['still running'], 0])
  })
})

test('ordinary uses of memory work in a workshop', async () => {
  const script = `
set -e; cd /tmp
dd if=/dev/zero of=zeros bs=1024 count=64 2>/dev/null; tr -d '\\0' < zeros | wc -c | tr -d ' '; wc -c < zeros | tr -d ' '
python3 - <<'END'
import mmap, multiprocessing, multiprocessing.shared_memory, os, sqlite3
value = multiprocessing.Value('i', 0)
def add():
    with value.get_lock(): value.value += 1
def double(n): return 2 * n
workers = [multiprocessing.Process(target=add) for _ in range(4)]
for worker in workers: worker.start()
for worker in workers: worker.join()
print(value.value)
with multiprocessing.Pool(2) as pool: print(pool.map(double, [1, 2]))
shared = multiprocessing.shared_memory.SharedMemory(create=True, size=4096)
shared.buf[0] = 7
again = multiprocessing.shared_memory.SharedMemory(shared.name)
print(again.buf[0])
again.close()
shared.unlink()
shared.close()
base = sqlite3.connect('/tmp/base')
print(base.execute('pragma journal_mode = wal').fetchone()[0], base.execute('pragma mmap_size = 1048576').fetchone()[0])
base.execute('create table t (x)')
with open('/tmp/zeros', 'r+b') as file:
    view = mmap.mmap(file.fileno(), 0)
    view[:2] = b'ok'
    view.flush()
print(open('/tmp/zeros', 'rb').read(2).decode())
END
node -e 'const { Worker } = require("node:worker_threads"); const a = new Int32Array(new SharedArrayBuffer(4));
  new Worker("require(\\"node:worker_threads\\").workerData[0] = 5", { eval: true, workerData: a }).on("exit", () => console.log(a[0]));
  new WebAssembly.Memory({ initial: 1, maximum: 10, shared: true })'`
  // A thread of Node 24 and newer reserves 512 MB for code.
  const limits = { memory_mb: 1024 }
  const { lines, exit } = await runCell(driver, { profile: 'workshop', command: ['sh', '-c', script], limits })
  expect(exit).toEqual({ code: 0, signal: null, stderr: '' })
  expect(lines).toEqual(['0', '65536', '4', '[2, 4]', '7', 'wal 1048576', 'ok', '5'])
})
