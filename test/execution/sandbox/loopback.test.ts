import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import { beforeAll, expect, test } from 'vitest'
import type { SandboxDriver } from '../../../src/execution/sandbox/driver.ts'
import { pickSandboxDriver } from '../../../src/execution/sandbox/pick-driver.ts'
import { GREEDY_PROCESSES } from './hostile-programs.ts'
import { cellSpec, inTemporaryFolder, runCell } from './run-cell.ts'

let driver: SandboxDriver
beforeAll(async () => {
  driver = await pickSandboxDriver('bwrap', () => {})
})

test('the probe finds that cells can have a loopback port', () => {
  expect([driver.canLoopback, driver.isolation.warnings]).toEqual([true, []])
})

test('a cell with a loopback port reaches its own port and no other address', async () => {
  const host = createServer()
  await new Promise<void>((resolve) => host.listen(0, '0.0.0.0', resolve))
  const { port } = host.address() as AddressInfo
  const ownAddress = Object.values(networkInterfaces())
    .flat()
    .find((address) => address?.family === 'IPv4' && !address.internal)?.address
  const addresses = ['127.0.0.1', '127.9.9.9', '169.254.169.254', '10.0.0.1', '1.1.1.1', '255.255.255.255', '224.0.0.1']
  const lines = await runLoopbackPython(`
server = socket.create_server(('127.0.0.1', 0))
own = socket.create_connection(server.getsockname())
own.send(b'x')
say('own port', server.accept()[0].recv(1) == b'x')
for host in ${JSON.stringify([...addresses, ...(ownAddress ? [ownAddress] : [])])}:
    attempt(host, lambda: socket.create_connection((host, ${port}), 3))
attempt('name', lambda: socket.create_connection(('localhost', ${port}), 3))
attempt('other name', lambda: socket.create_connection(('example.com', ${port}), 3))`)
  host.close()
  expect(lines).toEqual([
    'own port True',
    '127.0.0.1 ECONNREFUSED',
    '127.9.9.9 ECONNREFUSED',
    ...addresses.slice(2).map((address) => `${address} ENETUNREACH`),
    ...(ownAddress ? [`${ownAddress} ENETUNREACH`] : []),
    'name ECONNREFUSED',
    'other name gaierror',
  ])
})

test('two cells do not share their loopback interface', async () => {
  await inTemporaryFolder(async (folder) => {
    const listening = `import socket, time; s = socket.create_server(('127.0.0.1', 0)); print(s.getsockname()[1], flush=True); time.sleep(60)`
    const cell = driver.start(loopbackSpec(['python3', '-c', listening], folder))
    const port = await new Promise<string>((resolve) => cell.onLine(resolve))
    const lines = await runLoopbackPython(
      `attempt('port', lambda: socket.create_connection(('127.0.0.1', ${port}), 3))`,
    )
    await cell.kill()
    expect(lines).toEqual(['port ECONNREFUSED'])
  })
})

test('a cell with a loopback port cannot use local sockets of the host', async () => {
  const name = `svc-host-${process.pid}`
  const host = createServer()
  await new Promise<void>((resolve) => host.listen(`\0${name}`, resolve))
  const lines = await runLoopbackPython(`
local = socket.socket(socket.AF_UNIX)
attempt('abstract', lambda: local.connect('\\0${name}'))
own = socket.socket(socket.AF_UNIX)
own.bind('\\0${name}')
say('own name', 'done')`)
  host.close()
  expect(lines).toEqual(['abstract ECONNREFUSED', 'own name done'])
})

test('a cell with a loopback port can make no sockets but local ones and TCP over IPv4', async () => {
  const lines = await runLoopbackPython(`
attempt('tcp', lambda: socket.socket(2, 1, 6))
attempt('unix datagram', lambda: socket.socket(1, 2, 0))
refused = [(2, 2, 0), (2, 3, 1), (2, 5, 0), (2, 6, 33), (2, 1, 262), (2, 1, 132), (2, 1, 256), (2, 2, 1), (10, 1, 0), (10, 2, 0)]
refused += [(16, 3, protocol) for protocol in (0, 4, 12)]
refused += [(family, kind, 0) for family in (17, 38, 40, 43, 44, 30, 21, 29, 31, 15, 33, 42) for kind in (1, 2, 3, 5)]
for arguments in refused:
    attempt('socket', lambda: socket.socket(*arguments))`)
  expect(lines.slice(0, 2)).toEqual(['tcp done', 'unix datagram done'])
  expect(new Set(lines.slice(2))).toEqual(new Set(['socket EAFNOSUPPORT']))
})

test('a cell with a loopback port can set only common socket options', async () => {
  const lines = await runLoopbackPython(`
tcp = socket.socket(2, 1, 0)
for option in (2, 9, 13, 15):
    attempt('set', lambda: tcp.setsockopt(1, option, b'\\0' * 8 if option == 13 else 1))
attempt('no delay', lambda: tcp.setsockopt(6, 1, 1))
attempt('buffer', lambda: (tcp.setsockopt(1, 8, 1 << 24), tcp.setsockopt(1, 7, 1 << 24)))
attempt('type of service', lambda: tcp.setsockopt(0, 1, 0x10))
say('size', tcp.getsockopt(1, 8) + tcp.getsockopt(1, 7) < 1 << 20)
attempt('domain', lambda: tcp.getsockopt(1, 39))
for level, option in [(1, 25), (1, 26), (1, 36), (1, 37), (1, 50), (1, 60), (6, 13), (6, 14), (6, 19), (6, 23), (6, 31), (0, 2), (0, 64), (41, 1), (41, 67)]:
    attempt('refused', lambda: tcp.setsockopt(level, option, 1))
for level, option in [(1, 77), (6, 35), (0, 1), (0, 64)]:
    attempt('refused', lambda: tcp.getsockopt(level, option, 64))
attempt('fast open', lambda: tcp.sendto(b'x', 0x20000000, ('127.0.0.1', 1)))`)
  expect(lines.slice(0, 9)).toEqual([
    ...Array.from({ length: 4 }, () => 'set done'),
    'no delay done',
    'buffer done',
    'type of service done',
    'size True',
    'domain done',
  ])
  expect(new Set(lines.slice(9, -1))).toEqual(new Set(['refused ENOPROTOOPT']))
  expect(lines.at(-1)).toBe('fast open ENOTSUP')
})

test('a cell cannot change its loopback interface, its routes or its network settings', async () => {
  const lines = await runLoopbackPython(`
import fcntl, struct
tcp = socket.socket(2, 1, 0)
attempt('down', lambda: fcntl.ioctl(tcp, 0x8914, struct.pack('16sh22x', b'lo', 0)))
attempt('address', lambda: fcntl.ioctl(tcp, 0x8916, struct.pack('16sH2x4s16x', b'lo', 2, bytes([10, 0, 0, 1]))))
attempt('route', lambda: fcntl.ioctl(tcp, 0x890b, b'\\0' * 120))
attempt('low port', lambda: tcp.bind(('127.0.0.1', 80)))
for path in ('ipv4/tcp_rmem', 'ipv4/tcp_wmem', 'ipv4/ip_forward', 'core/somaxconn'):
    attempt(path, lambda: open('/proc/sys/net/' + path, 'w').write('1'))
say('routes', open('/proc/net/route').read().count('\\n') - 1)`)
  expect(lines).toEqual([
    'down EPERM',
    'address EPERM',
    'route EPERM',
    'low port EACCES',
    'ipv4/tcp_rmem EACCES',
    'ipv4/tcp_wmem EACCES',
    'ipv4/ip_forward EACCES',
    expect.stringMatching(/^core\/somaxconn (EACCES|ENOENT)$/),
    'routes 0',
  ])
})

test('the buffers of a connection without a reader are small', async () => {
  const lines = await runLoopbackPython(`
server = socket.create_server(('127.0.0.1', 0))
client = socket.create_connection(server.getsockname())
client.setblocking(False)
sent = 0
try:
    while True: sent += client.send(b'x' * 65536)
except BlockingIOError: pass
say('small', 0 < sent < 200_000)`)
  expect(lines).toEqual(['small True'])
})

test('a cell with a loopback port ends when it contains more than 100,000 files', async () => {
  const program = `
import os, time
for count in range(110_000): os.symlink('x', ('/tmp/' if count % 2 else '/dev/shm/') + str(count))
time.sleep(60)`
  const { exit } = await runCell(driver, {
    profile: 'workshop',
    hasLoopback: true,
    command: ['python3', '-c', program],
  })
  expect(exit.stderr).toContain('contained more than 100,000 files')
})

test('a cell with a loopback port gets nothing of the helper that prepared it', async () => {
  const lines = await runLoopbackPython(`
say('user', os.getuid(), 'process', os.getpid())
for line in open('/proc/self/status'):
    if line.startswith('Cap') or line.startswith('NoNewPrivs'): say(*line.split())
say('tmp', ','.join(os.listdir('/tmp')))
files = [file for file in os.listdir('/proc/self/fd') if os.path.exists('/proc/self/fd/' + file)]
# Files that the service itself inherited are replaced.
say('open', ','.join(file for file in files if os.path.realpath('/proc/self/fd/' + file) != '/dev/null'))
say('root', ','.join(sorted(os.listdir('/etc'))))`)
  const capabilities = lines.filter((line) => line.startsWith('Cap'))
  expect(capabilities).toHaveLength(5)
  expect(capabilities.every((line) => / 0+$/.test(line))).toBe(true)
  expect(lines).toContain('NoNewPrivs: 1')
  expect(lines[0]).toBe('user 65534 process 1')
  expect(lines).toContain('tmp ')
  expect(lines).toContain('open 0,1,2')
  const shown = lines.at(-1)?.replace('root ', '').split(',') ?? []
  expect(shown.filter((name) => !['alternatives', 'ld.so.cache'].includes(name))).toEqual(['hosts'])
})

test('killing a cell with a loopback port ends all its processes', async () => {
  await inTemporaryFolder(async (folder) => {
    const cell = driver.start(loopbackSpec(['sh', '-c', 'sleep 1000 & setsid sleep 1000 & echo up; wait'], folder))
    await new Promise((resolve) => cell.onLine(resolve))
    const inside = descendants(cell.pid)
    expect(inside.length).toBeGreaterThanOrEqual(4)
    await cell.kill()
    expect((await cell.exited).signal).toBe('SIGKILL')
    expect(inside.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([])
  })
})

test('the processes of a cell with a loopback port share its memory limit', async () => {
  const { exit } = await runCell(driver, {
    profile: 'workshop',
    hasLoopback: true,
    command: ['python3', '-c', GREEDY_PROCESSES],
    limits: { memory_mb: 64 },
  })
  expect(exit.stderr).toContain('used more than 128 MB of memory')
})

/** Lines of a Python program with the helpers `say` and `attempt`. */
async function runLoopbackPython(program: string): Promise<string[]> {
  const { lines, exit } = await runCell(driver, {
    profile: 'workshop',
    hasLoopback: true,
    command: ['python3', '-c', `${PYTHON_HELPERS}\n${program}`],
  })
  expect(exit).toEqual({ code: 0, signal: null, stderr: '' })
  return lines
}

const PYTHON_HELPERS = `
import errno, os, socket
def say(*words): print(*words, flush=True)
def attempt(name, action):
    try:
        action()
        say(name, 'done')
    except OSError as error:
        say(name, errno.errorcode.get(error.errno, type(error).__name__))`

const loopbackSpec = (command: string[], folder: string) =>
  cellSpec({ profile: 'workshop', hasLoopback: true, command }, folder)

function descendants(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').match(/\d+/g) ?? []
  return children.map(Number).flatMap((child) => [child, ...descendants(child)])
}
