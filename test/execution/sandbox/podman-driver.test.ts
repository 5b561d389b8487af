import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { SandboxDriver } from '../../../src/execution/sandbox/driver.ts'
import { startPodmanCleaner } from '../../../src/execution/sandbox/podman/podman-driver.ts'
import { cellTemporaryFolder } from '../../../src/execution/sandbox/staging.ts'
import { cellSpec, inTemporaryFolder } from './run-cell.ts'
import { tryDriver } from './usable-drivers.ts'

test.skipIf(process.platform !== 'linux')(
  'the cleaner of podman ends the process that podman leaves, and no other program with its process id',
  async () => {
    await inTemporaryFolder(async (parent) => {
      const program = join(parent, 'catatonit')
      writeFileSync(program, '#!/bin/sh\nread -r _\n', { mode: 0o755 })
      const left = spawn(program)
      const other = spawn('sleep', ['1000'])
      await clean(parent, left)
      await clean(parent, other)
      await expect.poll(() => left.signalCode).toBe('SIGKILL')
      expect(other.signalCode).toBe(null)
      expect(other.kill()).toBe(true)
    })
  },
)

/** Cleans up a folder of podman in which the file for the process that podman leaves names the child. */
async function clean(parent: string, child: ChildProcess): Promise<void> {
  const folder = join(parent, 'podman')
  mkdirSync(join(folder, 'tmp'), { recursive: true })
  writeFileSync(join(folder, 'tmp', 'pause.pid'), String(child.pid))
  const cleaner = startPodmanCleaner(folder)
  cleaner.stdin.end()
  await once(cleaner, 'exit')
  expect(existsSync(folder)).toBe(false)
}

const { driver, problem } = await tryDriver('podman')

if (driver) podmanTests(driver)
else test.skip(`podman does not work on this machine: ${problem}`, () => {})

function podmanTests(podman: SandboxDriver): void {
  test('a program that got the process id of an ended cell is not killed', async () => {
    await inTemporaryFolder(async (folder) => {
      const cell = podman.start(cellSpec({ agent: 'console.log(1); setInterval(() => {}, 1000)' }, folder))
      await new Promise((resolve) => cell.onLine(resolve))
      const other = spawn('sleep', ['1000'])
      const pidFile = findPidFile()
      const pid = readFileSync(pidFile, 'utf8')
      writeFileSync(pidFile, String(other.pid))
      const killed = cell.kill()
      await sleep(100)
      expect(other.signalCode).toBe(null)
      writeFileSync(pidFile, pid)
      await killed
      expect((await cell.exited).signal).toBe('SIGKILL')
      expect(other.kill()).toBe(true)
    })
  })

  test('a folder may have any name', async () => {
    await inTemporaryFolder(async (folder) => {
      const agentDir = join(folder, 'a,ro=false,"b":c=d \\e')
      mkdirSync(agentDir)
      const cell = podman.start(cellSpec({ agent: 'console.log("started")' }, agentDir))
      const line = new Promise((resolve) => cell.onLine(resolve))
      expect(await cell.exited).toEqual({ code: 0, signal: null, stderr: '' })
      expect(await line).toBe('started')
    })
  })
}

/** The only cell of this process. */
function findPidFile(): string {
  const services = readdirSync(cellTemporaryFolder()).filter((name) => name.startsWith(`svc-podman-${process.pid}-`))
  const cells = services.flatMap((name) => {
    const parent = join(cellTemporaryFolder(), name, 'cells')
    return readdirSync(parent).map((cell) => join(parent, cell))
  })
  return join(cells[0] ?? '', 'pid')
}
