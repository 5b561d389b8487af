import { spawn } from 'node:child_process'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { beforeAll, expect, test } from 'vitest'
import type { SandboxDriver } from '../../../src/execution/sandbox/driver.ts'
import { pickSandboxDriver } from '../../../src/execution/sandbox/pick-driver.ts'
import { inTemporaryFolder, runCell, cellSpec } from './run-cell.ts'

let driver: SandboxDriver
beforeAll(async () => {
  driver = await pickSandboxDriver('bwrap', () => {})
})

test('a cell reads and writes lines, and a last line without a newline is delivered', async () => {
  const agent = `process.stdin.on('data', (data) => process.stdout.write('got ' + data + 'end ü'))`
  const { lines, exit } = await runCell(driver, { agent, input: 'one' })
  expect(lines).toEqual(['got one', 'end ü'])
  expect(exit).toEqual({ code: 0, signal: null, stderr: '' })
})

test('the exit contains the code, the signal and the last bytes of stderr', async () => {
  const agent = "process.stderr.write('x'.repeat(100) + 'last'); process.exitCode = 3"
  const { exit } = await runCell(driver, { agent, limits: { stderr_bytes: 10 } })
  expect(exit).toEqual({ code: 3, signal: null, stderr: 'xxxxxxlast' })
})

test('a thread bomb stops at the process limit of a sealed cell', async () => {
  const agent = `
    const { Worker } = require('node:worker_threads')
    const next = () => new Worker('setInterval(() => {}, 1000)', { eval: true }).on('online', next)
    next()`
  // Each thread of Node 24 reserves 512 MB, which must not be what stops it.
  const { exit } = await runCell(driver, { agent, limits: { processes: 24, memory_mb: 16_384 } })
  expect(exit.code).not.toBe(0)
  expect(exit.stderr).toContain('ERR_WORKER_INIT_FAILED')
})

test('a heap that grows without end ends the cell, not the service', async () => {
  const agent = 'const all = []; for (;;) all.push(new Array(1000).fill({}))'
  const { exit } = await runCell(driver, { agent, limits: { memory_mb: 256 } })
  expect(exit.code).not.toBe(0)
})

test('buffers outside the heap count towards the memory limit', async () => {
  const agent = `
    const all = []
    process.on('exit', () => console.log(all.length < 256 ? 'stopped' : 'unlimited'))
    for (let n = 0; n < 256; n++) all.push(Buffer.alloc(1024 * 1024, 1))`
  const { lines, exit } = await runCell(driver, { agent, limits: { memory_mb: 256 } })
  expect(lines).not.toContain('unlimited')
  expect(exit.code).not.toBe(0)
})

test('/tmp and single files are limited in size', async () => {
  const agent = `
    const fs = require('node:fs')
    const fill = (name) => { const fd = fs.openSync(name, 'w'); for (let n = 0; ; n++) try { fs.writeSync(fd, Buffer.alloc(65536)) } catch (e) { return e.code + ' ' + Math.round(n / 16) } }
    console.log(fill('/tmp/a')); console.log(fill('/tmp/b'))`
  const { lines } = await runCell(driver, { agent, limits: { file_mb: 5, tmp_mb: 8 } })
  expect(lines).toEqual(['EFBIG 5', 'ENOSPC 3'])
})

test('a cell is killed when it has used its CPU seconds', async () => {
  const { exit } = await runCell(driver, { agent: 'for (;;);', limits: { cpu_s: 1 } })
  expect(exit).toMatchObject({ code: null, signal: 'SIGKILL' })
})

test('kill ends an endless loop', async () => {
  await inTemporaryFolder(async (folder) => {
    const cell = driver.start(cellSpec({ agent: "console.log('up'); for (;;);" }, folder))
    await new Promise((resolve) => cell.onLine(resolve))
    await cell.kill()
    expect(await cell.exited).toMatchObject({ code: null, signal: 'SIGKILL' })
    expect(existsSync(`/proc/${cell.pid}`)).toBe(false)
  })
})

test('kill works before the cell has started, twice, and after the cell has exited', async () => {
  await inTemporaryFolder(async (folder) => {
    const cell = driver.start(cellSpec({ agent: 'setInterval(() => {}, 1000)' }, folder))
    await Promise.all([cell.kill(), cell.kill()])
    await cell.kill()
    expect((await cell.exited).code).not.toBe(0)
  })
})

test('kill also ends children that started their own session', async () => {
  await inTemporaryFolder(async (folder) => {
    const mark = `svc${process.pid}x${Date.now()}`
    const script = `setsid sh -c 'sleep 600; : ${mark}' >/dev/null 2>&1 & echo up; sleep 600`
    const cell = driver.start(cellSpec({ profile: 'workshop', command: ['sh', '-c', script] }, folder))
    await new Promise((resolve) => cell.onLine(resolve))
    expect(processesWith(mark).length).toBeGreaterThan(0)
    await cell.kill()
    expect(processesWith(mark)).toEqual([])
  })
})

test('a cell that writes an endless line is killed', async () => {
  const agent = "const write = () => process.stdout.write('x'.repeat(65536), write); write()"
  const { lines, exit } = await runCell(driver, { agent, limits: { output_line_bytes: 1_000_000 } })
  expect(lines).toEqual([])
  expect(exit.stderr).toContain('line too long')
  expect(exit.signal).toBe('SIGKILL')
})

test('many lines wait while the reader pauses, and no line is lost', async () => {
  await inTemporaryFolder(async (folder) => {
    const agent = `
      let n = 0
      const more = () => { while (n < 200000) if (!process.stdout.write('line ' + n++ + '\\n')) return process.stdout.once('drain', more) }
      more()`
    const cell = driver.start(cellSpec({ agent }, folder))
    let count = 0
    let inOrder = true
    let whilePaused = 0
    let paused = false
    cell.onLine((line) => {
      inOrder &&= line === `line ${count}`
      count += 1
      if (paused) whilePaused += 1
      if (count % 50_000 !== 0) return
      cell.pause()
      paused = true
      setTimeout(() => {
        paused = false
        cell.resume()
      }, 20)
    })
    await cell.exited
    expect({ count, inOrder }).toEqual({ count: 200_000, inOrder: true })
    expect(whilePaused).toBeLessThan(4 * 10_000)
  })
})

test('a cell whose reader has paused can still be killed', async () => {
  await inTemporaryFolder(async (folder) => {
    const cell = driver.start(cellSpec({ profile: 'workshop', command: ['yes'] }, folder))
    await new Promise<void>((resolve) =>
      cell.onLine(() => {
        cell.pause()
        resolve()
      }),
    )
    await cell.kill()
    expect((await cell.exited).signal).toBe('SIGKILL')
  })
})

test('writing to a cell that has exited does nothing', async () => {
  await inTemporaryFolder(async (folder) => {
    const cell = driver.start(cellSpec({ agent: '' }, folder))
    await cell.exited
    expect(cell.write('anybody there?')).toBe(false)
    cell.closeInput()
  })
})

test('cells are killed when the service is killed', async () => {
  await inTemporaryFolder(async (folder) => {
    const mark = `svc${process.pid}y${Date.now()}`
    const spec = cellSpec(
      { profile: 'workshop', command: ['sh', '-c', `echo up; while :; do sleep 1; : ${mark}; done`] },
      folder,
    )
    const program = `
      import { pickSandboxDriver } from ${JSON.stringify(new URL('../../../src/execution/sandbox/pick-driver.ts', import.meta.url).href)}
      const driver = await pickSandboxDriver('bwrap', () => {})
      driver.start(JSON.parse(process.env.SPEC)).onLine(console.log)`
    const service = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], {
      env: { ...process.env, SPEC: JSON.stringify(spec) },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await new Promise((resolve) => createInterface(service.stdout).once('line', resolve))
    expect(commandsWith(mark)).toContain('bwrap')
    service.kill('SIGKILL')
    await expect.poll(() => commandsWith(mark)).toEqual([])
  })
})

/** Processes of this machine whose command line contains the mark. */
function processesWith(mark: string): string[] {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && wordsOf(name).some((word) => word.includes(mark)))
}

/** The program names of these processes; a mark in the environment of a process does not count. */
function commandsWith(mark: string): string[] {
  return processesWith(mark).map((name) => (wordsOf(name)[0] ?? '').replace(/^.*\//, ''))
}

function wordsOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
  } catch {
    return []
  }
}
