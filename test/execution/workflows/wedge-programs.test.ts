import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { pickSandboxDriver } from '../../../src/execution/sandbox/pick-driver.ts'
import { WedgePrograms } from '../../../src/execution/workflows/wedge-programs.ts'
import { inTemporaryFolder } from '../sandbox/run-cell.ts'

const PROGRAM = `
const { readFileSync, writeFileSync } = require('node:fs')
const { join } = require('node:path')
writeFileSync(join(require('node:os').tmpdir(), 'scratch'), 'x')
process.stdin.on('data', (line) => console.log(readFileSync('data.txt', 'utf8'), process.argv[2], String(line).trim()))`

test.each(['process', 'bwrap'] as const)('%s: a program reads the present files of its wedge', async (kind) => {
  const driver = await pickSandboxDriver(kind, () => {})
  await inTemporaryFolder(async (dir) => {
    // For a service that runs as root, the folder is copied for each program.
    chmodSync(dir, 0o700)
    writeFileSync(join(dir, 'program.cjs'), PROGRAM)
    const programs = new WedgePrograms(driver, dir)
    const answer = (text: string) => {
      writeFileSync(join(dir, 'data.txt'), text)
      return new Promise<string>((resolve) => {
        const program = { projectId: 'p', dir, script: 'program.cjs', args: ['argument'], setup: null }
        const running = programs.start(program, (line) => {
          resolve(line)
          void running?.kill()
        })
        running?.write('hello')
        void running?.exited.then(({ stderr }) => resolve(`ended: ${stderr}`))
      })
    }
    expect(await answer('one')).toBe('one argument hello')
    expect(await answer('two')).toBe('two argument hello')
    await programs.close()
  })
})

test('at most 8 programs of a project run at the same time, and all end with the service', async () => {
  const driver = await pickSandboxDriver('process', () => {})
  await inTemporaryFolder(async (dir) => {
    writeFileSync(join(dir, 'program.cjs'), 'setInterval(() => {}, 1000)')
    const programs = new WedgePrograms(driver, dir)
    const start = (projectId: string) =>
      programs.start({ projectId, dir, script: 'program.cjs', args: [], setup: null }, () => {})
    const started = Array.from({ length: 8 }, () => start('a'))
    expect(started).not.toContain(null)
    expect(start('a')).toBeNull()
    expect(start('b')).not.toBeNull()
    await started[0]?.kill()
    expect(start('a')).not.toBeNull()
    await programs.close()
    await Promise.all(started.flatMap((program) => program?.exited ?? []))
    expect(start('c')).toBeNull()
  })
})
