import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { SandboxDriver } from '../../../src/execution/sandbox/driver.ts'
import { pickSandboxDriver } from '../../../src/execution/sandbox/pick-driver.ts'
import { CALL_PRELUDE, FORBIDDEN_CALLS } from './hostile-programs.ts'
import {
  requestingAgent,
  inTemporaryFolder,
  runCell,
  runPython,
  cellSpec,
  attemptingAgent,
  withSocketServer,
} from './run-cell.ts'

// Without bubblewrap this throws with instructions: these tests are never skipped.
let driver: SandboxDriver
beforeAll(async () => {
  driver = await pickSandboxDriver('bwrap', () => {})
})

test('the bwrap driver reports full isolation', () => {
  expect(driver.kind).toBe('bwrap')
  expect(driver.isolation).toEqual({
    network: true,
    files: true,
    processes: true,
    environment: true,
    syscalls: true,
    warnings: [],
  })
})

describe('files', () => {
  test('a sealed cell sees no file of the host except its agent', async () => {
    await inTemporaryFolder(async (folder) => {
      const secret = join(folder, 'secret')
      writeFileSync(secret, 'secret', { mode: 0o644 })
      const paths = ['/etc/passwd', '/etc', '/root', '/home', '/var', '/sys', '/proc', '/bin/sh', secret]
      const attempts = Object.fromEntries(paths.map((path) => [path, `fs.statSync(${JSON.stringify(path)})`]))
      const { lines } = await runCell(driver, { agent: attemptingAgent(attempts) })
      expect(lines).toEqual(paths.map((path) => `${path} ENOENT`))
    })
  })

  test('a sealed cell can write only to /tmp', async () => {
    const places = ['/', '/agent', '/usr', '/run', '/dev', '/dev/shm', '/tmp']
    const attempts = Object.fromEntries(places.map((place) => [place, `fs.writeFileSync('${place}/x', 'x')`]))
    await inTemporaryFolder((folder) =>
      withSocketServer(driver, folder, async (socket) => {
        const { lines } = await runCell(driver, { agent: attemptingAgent(attempts), socket })
        const expected = places.map((place) => `${place} ${place === '/tmp' ? 'done' : 'EROFS'}`)
        expect(lines).toEqual(expected)
      }),
    )
  })

  test('two cells do not share /tmp', async () => {
    await runCell(driver, { agent: "require('node:fs').writeFileSync('/tmp/mine', 'x')" })
    const { lines } = await runCell(driver, { agent: "console.log(require('node:fs').readdirSync('/tmp').length)" })
    expect(lines).toEqual(['0'])
  })

  test('a workshop has the programs of the host but not its accounts, settings and home folders', async () => {
    const script =
      'for p in /etc/passwd /etc/shadow /root /home /var /sys /etc/ssl; do test -e $p && echo $p; done; ls /etc'
    const { lines, exit } = await runCell(driver, { profile: 'workshop', command: ['sh', '-c', script] })
    expect(exit.stderr).toBe('')
    expect(lines.filter((line) => !['alternatives', 'ld.so.cache'].includes(line))).toEqual([])
  })

  test('a folder that the service hides is empty in a workshop', async () => {
    const hidingDriver = await pickSandboxDriver('bwrap', () => {}, ['/usr/share'])
    const { lines } = await runCell(hidingDriver, {
      profile: 'workshop',
      command: ['sh', '-c', 'ls /usr/share | wc -l'],
    })
    expect(lines.map((line) => line.trim())).toEqual(['0'])
  })

  test('a custom agent is seen at /custom and starts there', async () => {
    await inTemporaryFolder(async (customDir) => {
      writeFileSync(join(customDir, 'agent.sh'), 'pwd; touch x 2>&1')
      const { lines } = await runCell(driver, { profile: 'workshop', command: ['sh', 'agent.sh'], customDir })
      expect(lines[0]).toBe('/custom')
      expect(lines[1]).toContain('Read-only file system')
    })
  })
})

describe('environment', () => {
  test('a cell gets no environment variable of the service', async () => {
    const agent = 'console.log(Object.keys(process.env).sort().join())'
    expect((await runCell(driver, { agent })).lines).toEqual(['HOME,LANG,PWD,TZ'])
    const { lines } = await runCell(driver, { profile: 'workshop', command: ['python3', '-c', ENVIRONMENTS] })
    expect(lines.filter((line) => !/^(HOME|LANG|PWD|TZ|PATH|LC_CTYPE)=/.test(line))).toEqual([])
  })

  test('a cell inherits no open file of the service', async () => {
    const script = 'for f in /proc/self/fd/*; do readlink $f; done'
    const { lines } = await runCell(driver, { profile: 'workshop', command: ['sh', '-c', script] })
    const others = lines.filter((line) => !/^(socket:|pipe:|\/dev\/null$|\/proc\/)/.test(line))
    expect(others).toEqual([])
    expect(lines.filter((line) => /^(socket|pipe):/.test(line))).toHaveLength(3)
  })
})

const ENVIRONMENTS = `
import glob
for path in glob.glob('/proc/[0-9]*/environ'):
    for entry in open(path).read().split(chr(0)):
        if entry: print(entry)`

describe('processes', () => {
  test('a sealed cell sees no other process and cannot start one', async () => {
    const agent = `
      const { spawnSync } = require('node:child_process')
      console.log(process.pid, spawnSync(process.execPath, ['-v']).error.code)
      try { process.kill(${process.pid}, 0) } catch (error) { console.log(error.code) }`
    expect((await runCell(driver, { agent })).lines).toEqual(['1 EPERM', 'ESRCH'])
  })

  test('a sealed cell cannot run code from strings', async () => {
    const { lines } = await runCell(driver, { agent: "try { eval('1') } catch (error) { console.log(error.name) }" })
    expect(lines).toEqual(['EvalError'])
  })

  test('a sealed cell cannot run a program other than node', async () => {
    await expect(runCell(driver, { command: ['sh', '-c', 'true'] })).rejects.toThrow('a sealed cell can only run node')
  })

  test('a service that runs as root never runs a cell as root', async () => {
    await inTemporaryFolder(async (folder) => {
      const [one, other] = [1, 2].map(() =>
        driver.start(cellSpec({ agent: "console.log('up'); setInterval(() => {}, 1000)" }, folder)),
      )
      if (!one || !other) throw new Error('two cells were expected')
      await Promise.all([one, other].map((cell) => new Promise((resolve) => cell.onLine(resolve))))
      const owners = [one, other].map((cell) => statSync(`/proc/${cell.pid}/task`).uid)
      await Promise.all([one.kill(), other.kill()])
      const serviceUid = process.getuid?.()
      if (serviceUid !== 0) expect(owners).toEqual([serviceUid, serviceUid])
      else expect(new Set([0, ...owners]).size).toBe(3)
    })
  })

  test('programs in a workshop cannot read or change the memory and pipes of its first process', async () => {
    const attempts = `
      for task in /proc/1 /proc/1/task/* $(seq -f /proc/%g 2 30); do
        [ -e $task/status ] && grep -q '^Tgid:[[:space:]]*1$' $task/status || continue
        echo "$task" >> /tmp/tried
        for file in mem environ maps fd/1; do (: < $task/$file) 2>/dev/null && echo "read $task/$file"; done
        (: 1<> $task/mem) 2>/dev/null && echo "wrote $task/mem"
      done
      chmod u+r /loader 2>/dev/null && echo 'made the loader readable'
      (: < /proc/self/mem) && wc -l < /tmp/tried`
    const agent = `
      const { stdout, stderr } = require('node:child_process').spawnSync('/bin/sh', ['-c', ${JSON.stringify(attempts)}])
      console.log(String(stdout) + String(stderr))`
    const { lines } = await runCell(driver, { profile: 'workshop', agent })
    const [tried, ...others] = lines.filter((line) => line !== '').toReversed()
    expect(others).toEqual([])
    // The process and each of its threads, under both names.
    expect(Number(tried)).toBeGreaterThan(5)
  })

  test('a workshop sees only its own processes', async () => {
    const { lines } = await runCell(driver, {
      profile: 'workshop',
      command: ['sh', '-c', 'echo $$; ls -d /proc/[0-9]*; true'],
    })
    expect(lines[0]).toBe('1')
    expect(lines.length).toBeLessThanOrEqual(3)
  })
})

describe('network', () => {
  test('a sealed cell cannot create a network socket, not even to the host itself', async () => {
    const host = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => host.once('listening', resolve))
    const { port } = host.address() as AddressInfo
    const agent = `
      const net = require('node:net')
      for (const address of ['127.0.0.1', '::1', '169.254.169.254'])
        net.connect(${port}, address).on('connect', () => console.log('open')).on('error', (e) => console.log(e.code))`
    const { lines } = await runCell(driver, { agent })
    host.close()
    expect(lines).toEqual(['EAFNOSUPPORT', 'EAFNOSUPPORT', 'EAFNOSUPPORT'])
  })

  test('a workshop runs sh and python3 but has no network', async () => {
    const { lines, exit } = await runPython(
      driver,
      `
import errno, socket
for family in (socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK, socket.AF_PACKET, socket.AF_VSOCK):
    try:
        socket.socket(family, socket.SOCK_RAW if family == socket.AF_PACKET else socket.SOCK_DGRAM)
        print('open')
    except OSError as error:
        print(errno.errorcode[error.errno])
a, b = socket.socketpair()
a.send(b'local')
print(b.recv(9).decode())`,
    )
    expect(exit).toEqual({ code: 0, signal: null, stderr: '' })
    expect(lines).toEqual([...Array<string>(5).fill('EAFNOSUPPORT'), 'local'])
  })

  test('a socket below a long path is created in a shorter one', async () => {
    await inTemporaryFolder(async (folder) => {
      const long = join(folder, 'x'.repeat(120))
      mkdirSync(long)
      await withSocketServer(driver, long, async (socket) => {
        expect(Buffer.byteLength(socket)).toBeLessThan(104)
        const agent = requestingAgent(driver.socketPathInside(socket))
        expect((await runCell(driver, { agent, socket })).lines).toEqual(['hello'])
      })
    })
  })
})

describe('system calls', () => {
  test('a workshop cannot make calls that access other processes, namespaces or the kernel', async () => {
    const { lines, exit } = await runPython(driver, FORBIDDEN_CALLS)
    expect(exit).toEqual({ code: 0, signal: null, stderr: '' })
    expect(lines.filter((line) => !line.endsWith(' EPERM'))).toEqual([])
    expect(lines).toHaveLength(13)
  })

  test('calls that the filter cannot check or does not know fail as if they did not exist', async () => {
    const { lines } = await runPython(driver, `${CALL_PRELUDE}\ncall('clone3', 435, 435, 0, 0)\ncall('new', 480, 480)`)
    expect(lines).toEqual(['clone3 ENOSYS', 'new ENOSYS'])
  })

  test('a cell cannot insert input into a terminal', async () => {
    const { lines } = await runPython(
      driver,
      `
import errno, fcntl, os
own, other = os.openpty() if os.path.exists('/dev/ptmx') else (0, 0)
for request in (0x5412, 0x541c):
    try: fcntl.ioctl(other, request, b'x')
    except OSError as error: print(errno.errorcode[error.errno])`,
    )
    expect(lines).toEqual(['EPERM', 'EPERM'])
  })

  test('a workshop can use pipes, threads, processes, locks and git', async () => {
    const script = `
set -e; cd /tmp; git init -q work; cd work; echo x > a; git add a
git -c user.name=a -c user.email=a@b commit -qm first; git log --oneline | wc -l | tr -d ' '
seq 3 | sort -r | head -1
python3 -c 'import multiprocessing as m, threading as t; m.Lock(); x = t.Thread(target=print, args=("thread",)); x.start(); x.join(); p = m.Process(target=print, args=("process",)); p.start(); p.join()'
node -e 'console.log("node")'`
    const { lines, exit } = await runCell(driver, { profile: 'workshop', command: ['sh', '-c', script] })
    expect(exit).toEqual({ code: 0, signal: null, stderr: '' })
    expect(lines).toEqual(['1', '3', 'thread', 'process', 'node'])
  })
})
