import { beforeAll, expect, test } from 'vitest'
import type { SandboxDriver } from '../../../src/execution/sandbox/driver.ts'
import { pickSandboxDriver } from '../../../src/execution/sandbox/pick-driver.ts'
import { runCell, runPython } from './run-cell.ts'

let driver: SandboxDriver
beforeAll(async () => {
  driver = await pickSandboxDriver('bwrap', () => {})
})

const REASON = 'the sandbox contained more than 100,000 files'

test.each([
  ['/tmp', 'symlink', "os.symlink('x', f'/tmp/{n}')"],
  ['/dev/shm', 'hard link', "os.link('/dev/shm/first', f'/dev/shm/{n}')"],
  ['/tmp and /dev/shm together', 'empty file', 'os.close(os.open(f\'{["/tmp", "/dev/shm"][n % 2]}/{n}\', os.O_CREAT))'],
])('a workshop with more than 100,000 files in %s is ended (%s)', async (_, __, create) => {
  const program = `
import os, time
open('/dev/shm/first', 'w').close()
for n in range(110_000): ${create}
print('created', flush=True)
time.sleep(10)`
  const { exit } = await runPython(driver, program)
  expect(exit).toMatchObject({ signal: 'SIGKILL', stderr: REASON })
})

test('a sealed cell with more than 100,000 files is ended', async () => {
  const agent = `
    const fs = require('node:fs')
    for (let n = 0; n < 110_000; n++) fs.symlinkSync('x', '/tmp/' + n)
    setTimeout(() => {}, 10_000)`
  const { exit } = await runCell(driver, { agent })
  expect(exit).toMatchObject({ signal: 'SIGKILL', stderr: REASON })
})

test('a cell with 90,000 files keeps running', async () => {
  const program = `
import os, time
for n in range(90_000): os.symlink('x', f'/tmp/{n}')
time.sleep(2)
print('still running')`
  const { lines, exit } = await runPython(driver, program)
  expect([lines, exit.code]).toEqual([['still running'], 0])
})
