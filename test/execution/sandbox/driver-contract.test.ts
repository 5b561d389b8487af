import { spawn } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, test } from 'vitest'
import { fetchNode, NODE_VERSIONS } from '../../../scripts/fetch-node.mjs'
import { listDescendants } from '../../../src/execution/sandbox/cgroup/cell-monitor.ts'
import type { SandboxDriver } from '../../../src/execution/sandbox/driver.ts'
import { readProcFile } from '../../../src/execution/sandbox/host-process.ts'
import {
  ATTACK_ON_OTHERS,
  FORBIDDEN_CALLS,
  FORBIDDEN_CHANGES,
  FORK_BOMB,
  GREEDY_PROCESSES,
  LISTENER,
  LOOPBACK_ATTEMPTS,
  WATCHER,
} from './hostile-programs.ts'
import {
  attemptingAgent,
  cellSpec,
  FETCHING_AGENT,
  inTemporaryFolder,
  requestingAgent,
  runCell,
  runPython,
  withSocketServer,
} from './run-cell.ts'
import { tryDrivers } from './usable-drivers.ts'
import { inMatrix } from '../../matrix.ts'

/** What drivers do in different ways; everything else is the same for all of them. */
const DIFFERENCES = {
  bwrap: {
    closed: 'ENOENT',
    noSocket: 'EAFNOSUPPORT',
    noRoute: 'ENETUNREACH',
    names: 'HOME,LANG,PWD,TZ',
    readable: [],
  },
  // gVisor shows the environment and the addresses of the first process, but neither its memory nor its pipes.
  runsc: {
    closed: 'EACCES',
    noSocket: 'EPERM',
    noRoute: 'EHOSTUNREACH',
    names: 'HOME,LANG,TZ',
    readable: ['environ', 'maps'],
  },
}

const trials = await tryDrivers()

for (const { kind, driver, problem } of trials) {
  if (driver) describe(kind, () => driverContract(driver, DIFFERENCES[kind]))
  else test.skip(`${kind} does not work on this machine: ${problem}`, () => {})
}

function driverContract(driver: SandboxDriver, expected: (typeof DIFFERENCES)[keyof typeof DIFFERENCES]): void {
  test('a sealed cell sees no file of the host and writes only to /tmp', async () => {
    await inTemporaryFolder(async (folder) => {
      writeFileSync(join(folder, 'secret'), 'secret', { mode: 0o644 })
      const hidden = ['/etc/passwd', '/root', '/home', '/var', '/bin/sh', join(folder, 'secret')]
      const writable = ['/', '/agent', '/usr', '/dev', '/tmp']
      const attempts = {
        ...Object.fromEntries(hidden.map((path) => [path, `fs.statSync(${JSON.stringify(path)})`])),
        ...Object.fromEntries(writable.map((path) => [`write ${path}`, `fs.writeFileSync('${path}/x', 'x')`])),
        closed: "fs.readdirSync('/proc')",
        proc: "fs.readFileSync('/proc/self/status')",
        sys: "fs.readdirSync('/sys/kernel')",
      }
      const { lines } = await runCell(driver, { agent: attemptingAgent(attempts) })
      expect(lines.slice(0, hidden.length)).toEqual(hidden.map((path) => `${path} ENOENT`))
      const written = lines.slice(hidden.length, hidden.length + writable.length)
      expect(written.filter((line) => line.endsWith(' done'))).toEqual(['write /tmp done'])
      expect(lines.at(-3)).toBe(`closed ${expected.closed}`)
      expect(lines.slice(-2).filter((line) => line.endsWith(' done'))).toEqual([])
    })
  })

  test('a sealed cell has no variable of the service, no other process and no network', async () => {
    const host = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => host.once('listening', resolve))
    const agent = `
      console.log(Object.keys(process.env).sort().join())
      console.log(process.pid, require('node:child_process').spawnSync(process.execPath, ['-v']).error.code)
      try { process.kill(${process.pid}, 0) } catch (error) { console.log(error.code) }
      for (const address of ['127.0.0.1', '::1', '169.254.169.254'])
        require('node:net').connect(${(host.address() as AddressInfo).port}, address)
          .on('connect', () => console.log('open')).on('error', (error) => console.log(error.code))`
    const { lines } = await runCell(driver, { agent })
    host.close()
    expect(lines).toEqual([expected.names, '1 EPERM', 'ESRCH', ...Array<string>(3).fill(expected.noSocket)])
  })

  test('a cell reaches the service over its own socket only, in both profiles', async () => {
    await inTemporaryFolder((folder) =>
      withSocketServer(driver, folder, async (socket) => {
        const agent = requestingAgent(driver.socketPathInside(socket))
        expect((await runCell(driver, { agent, socket })).lines).toEqual(['hello'])
        expect((await runCell(driver, { agent, socket, profile: 'workshop' })).lines).toEqual(['hello'])
        expect((await runCell(driver, { agent })).lines).toEqual(['ENOENT'])
        expect((await runCell(driver, { agent: requestingAgent(socket), socket })).lines).toEqual(['ENOENT'])
      }),
    )
  })

  test('a workshop cannot make calls that access other processes, namespaces or the kernel', async () => {
    const { lines, exit } = await runPython(driver, FORBIDDEN_CALLS)
    expect(exit).toEqual({ code: 0, signal: null, stderr: '' })
    expect(lines.filter((line) => !/ (EPERM|ENOSYS)$/.test(line))).toEqual([])
    expect(lines).toHaveLength(13)
  })

  test('a workshop cannot make devices, mount in another way, or change settings of the kernel', async () => {
    const { lines, exit } = await runPython(driver, FORBIDDEN_CHANGES)
    expect(exit).toEqual({ code: 0, signal: null, stderr: '' })
    expect(lines.filter((line) => line.endsWith(' done'))).toEqual([])
    expect(lines).toHaveLength(14)
  })

  test('a workshop cannot signal another cell or connect to its sockets', async () => {
    await inTemporaryFolder(async (folder) => {
      const neighbour = driver.start(cellSpec({ profile: 'workshop', command: ['python3', '-c', LISTENER] }, folder))
      const lines: string[] = []
      neighbour.onLine((line) => void lines.push(line))
      await expect.poll(() => lines).toEqual(['listening'])
      expect((await runPython(driver, ATTACK_ON_OTHERS)).lines).toEqual(['ECONNREFUSED'])
      neighbour.write('still running')
      expect((await neighbour.exited).code).toBe(0)
      expect(lines).toEqual(['listening', 'still running'])
    })
  })

  test('a workshop does not see which programs others start', async () => {
    await inTemporaryFolder(async (folder) => {
      const watcher = driver.start(cellSpec({ profile: 'workshop', command: ['python3', '-c', WATCHER] }, folder))
      const lines: string[] = []
      watcher.onLine((line) => void lines.push(line))
      await expect.poll(() => lines).toEqual(['watching'])
      closeSync(openSync('/usr/bin/env', 'r'))
      watcher.write('print')
      await watcher.exited
      expect(lines).toEqual(['watching', 'nothing'])
    })
  })

  test('a cell with a loopback port reaches its own port and no other address, over TCP only', async () => {
    const command = ['python3', '-c', LOOPBACK_ATTEMPTS]
    const { lines, exit } = await runCell(driver, { profile: 'workshop', hasLoopback: true, command })
    expect(exit).toEqual({ code: 0, signal: null, stderr: '' })
    const { noRoute, noSocket } = expected
    expect(lines).toEqual([
      'own port True',
      '127.0.0.1 ECONNREFUSED',
      ...['169.254.169.254', '10.0.0.1', '1.1.1.1'].map((address) => `${address} ${noRoute}`),
      ...Array<string>(7).fill(`socket ${noSocket}`),
    ])
  })

  test('programs in a workshop cannot read or change the memory and pipes of its first process', async () => {
    const script = `
      for file in mem environ maps fd/1; do (: < /proc/1/$file) 2>/dev/null && echo $file; done
      (: 1<> /proc/1/mem) 2>/dev/null && echo 'wrote memory'; (echo x > /proc/1/fd/1) 2>/dev/null && echo 'wrote a line'
      (: < /proc/self/mem) && echo tried`
    const agent = `
      const { stdout, stderr } = require('node:child_process').spawnSync('/bin/sh', ['-c', ${JSON.stringify(script)}])
      process.stdout.write(String(stdout) + String(stderr))`
    const { lines } = await runCell(driver, { profile: 'workshop', agent })
    expect(lines).toEqual([...expected.readable, 'tried'])
  })

  test('the processes of a workshop share its memory limit, and a fork bomb stops at the process limit', async () => {
    const greedy = await runPython(driver, GREEDY_PROCESSES, { memory_mb: 64 })
    expect(greedy.exit).toEqual({
      code: null,
      signal: 'SIGKILL',
      stderr: 'the processes of the sandbox used more than 128 MB of memory',
    })
    expect((await runPython(driver, FORK_BOMB, { processes: 20 })).lines).toEqual(['19 11'])
  })

  test('/tmp and single files are limited in size, and a busy cell ends after its CPU seconds', async () => {
    const agent = `
      const fs = require('node:fs')
      const fill = (name) => { const fd = fs.openSync(name, 'w'); for (let n = 0; ; n++) try { fs.writeSync(fd, Buffer.alloc(65536)) } catch (e) { return e.code + ' ' + Math.round(n / 16) } }
      console.log(fill('/tmp/a')); console.log(fill('/tmp/b')); for (;;);`
    const { lines, exit } = await runCell(driver, { agent, limits: { file_mb: 5, tmp_mb: 8, cpu_s: 2 } })
    expect(lines).toEqual(['EFBIG 5', 'ENOSPC 3'])
    expect(exit).toMatchObject({ code: null, signal: 'SIGKILL' })
  })

  test('kill ends a cell with its children, also before it has started and twice', async () => {
    await inTemporaryFolder(async (folder) => {
      const mark = `${process.pid}${Date.now()}`
      const command = ['sh', '-c', `sleep ${mark} & setsid sleep ${mark} & echo up; wait`]
      const cell = driver.start(cellSpec({ profile: 'workshop', hasLoopback: true, command }, folder))
      await new Promise((resolve) => cell.onLine(resolve))
      const inside = listDescendants(cell.pid)
      await cell.kill()
      expect([...processesWith(mark), ...inside.filter(isLiving)]).toEqual([])
      expect((await cell.exited).signal).toBe('SIGKILL')
      const other = driver.start(cellSpec({ agent: 'setInterval(() => {}, 1000)' }, folder))
      await Promise.all([other.kill(), other.kill()])
      expect((await other.exited).code).not.toBe(0)
    })
  })

  test('files of a run that are written later are seen, and removed with the cell', async () => {
    await inTemporaryFolder(async (folder) => {
      const command = [
        'sh',
        '-c',
        'echo up; read x; cat /tmp/in/run/a.txt; touch /tmp/in/b 2>/dev/null || echo read-only',
      ]
      const cell = driver.start(cellSpec({ profile: 'workshop', command, hasFilesFolder: true }, folder))
      const lines: string[] = []
      await new Promise<void>((resolve) => {
        cell.onLine((line) => {
          lines.push(line)
          resolve()
        })
      })
      const host = cell.files?.host ?? ''
      mkdirSync(join(host, 'run'))
      writeFileSync(join(host, 'run', 'a.txt'), 'hello\n', { mode: 0o444 })
      cell.write('go on')
      await cell.exited
      expect(lines).toEqual(['up', 'hello', 'read-only'])
      expect(existsSync(host)).toBe(false)
    })
  })

  test('cells are killed when the service is killed', async () => {
    await inTemporaryFolder(async (folder) => {
      const mark = `svc${process.pid}${driver.kind}${Date.now()}`
      const command = ['sh', '-c', `echo up; while :; do sleep 1; : ${mark}; done`]
      const program = `
        import { pickSandboxDriver } from ${JSON.stringify(new URL('../../../src/execution/sandbox/pick-driver.ts', import.meta.url).href)}
        const driver = await pickSandboxDriver('${driver.kind}', () => {})
        driver.start(JSON.parse(process.env.SPEC)).onLine(console.log)`
      const service = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], {
        env: {
          ...process.env,
          SPEC: JSON.stringify(cellSpec({ profile: 'workshop', command, customDir: folder }, folder)),
        },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      await new Promise((resolve) => createInterface(service.stdout).once('line', resolve))
      const cells = listDescendants(service.pid ?? 0)
      expect(cells.length).toBeGreaterThan(0)
      service.kill('SIGKILL')
      await expect
        .poll(() => [...processesWith(mark), ...cells.filter((pid) => existsSync(`/proc/${pid}`))])
        .toEqual([])
    })
  })
}

/** The version of the image. */
const IMAGE_VERSION = NODE_VERSIONS.filter((version) => version.startsWith('24.'))

test.for(inMatrix(NODE_VERSIONS, IMAGE_VERSION))(
  'fetch of Node %s reaches a port of its cell, with every driver',
  async (version, { skip }) => {
    const node = (await fetchNode(version)) ?? skip(`the npm registry did not send Node ${version} for this platform`)
    // The drivers add the memory that newer versions reserve only if the service itself runs on one of them.
    const limits = { memory_mb: 1536 }
    const cell = { profile: 'workshop', hasLoopback: true, customDir: dirname(node), limits } as const
    for (const { kind, driver } of trials) {
      if (driver === null) continue
      const { lines, exit } = await runCell(driver, {
        ...cell,
        command: ['./node', '--input-type=module', '-e', FETCHING_AGENT],
      })
      expect({ kind, lines, exit }).toEqual({
        kind,
        lines: [`v${version} got hello`],
        exit: { code: 0, signal: null, stderr: '' },
      })
    }
  },
)

/** An ended process is listed as a zombie until its parent, or the first process of the machine, has been told. */
const isLiving = (pid: number): boolean => /^State:\s+[^ZX]/m.test(readProcFile(`/proc/${pid}/status`))

/** Processes of this machine whose command line contains the mark. */
function processesWith(mark: string): string[] {
  return readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(mark)
    } catch {
      return false
    }
  })
}
