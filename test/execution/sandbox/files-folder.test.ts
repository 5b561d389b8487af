import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { pickSandboxDriver } from '../../../src/execution/sandbox/pick-driver.ts'
import { cellTemporaryFolder } from '../../../src/execution/sandbox/staging.ts'
import { cellSpec, inTemporaryFolder } from './run-cell.ts'

/** Reads the path of each line of stdin. */
const READING_AGENT = `
const fs = require('node:fs')
process.stdin.on('data', (chunk) => {
  for (const path of String(chunk).trim().split('\\n')) {
    let said
    try { said = fs.readFileSync(path, 'utf8') } catch (error) { said = error.code }
    console.log(JSON.stringify(said))
  }
})`

describe.each(['bwrap', 'process'] as const)('the files folder of a cell in %s', (kind) => {
  test('shows files that are written later, is not shown to other cells, and is removed with the cell', async () => {
    const driver = await pickSandboxDriver(kind, () => {})
    await inTemporaryFolder(async (agentDir) => {
      const open = (hasFilesFolder: boolean) => {
        const spec = cellSpec({ agent: READING_AGENT, ...(hasFilesFolder && { hasFilesFolder }) }, agentDir)
        spec.command = ['node', `${driver.agentDirInside(agentDir)}/agent.cjs`]
        const cell = driver.start(spec)
        const lines: string[] = []
        cell.onLine((line) => void lines.push(JSON.parse(line)))
        return { cell, lines }
      }
      const [own, other, without] = [open(true), open(true), open(false)]
      const { host, inside } = own.cell.files ?? { host: '', inside: '' }
      expect(without.cell.files).toBeNull()
      mkdirSync(join(host, 'run'))
      writeFileSync(join(host, 'run', 'a.txt'), 'hello', { mode: 0o444 })
      for (const { cell } of [own, other, without]) cell.write(`${inside}/run/a.txt`)
      await expect.poll(() => [own, other, without].map(({ lines }) => lines.length)).toEqual([1, 1, 1])
      expect(own.lines).toEqual(['hello'])
      for (const { lines } of [other, without]) expect(lines[0]).toMatch(/^(ENOENT|EACCES|ERR_ACCESS_DENIED)$/)
      // Other users of the machine cannot look into it.
      expect(statSync(host).mode & 0o007).toBe(0)
      const folders = [own, other].map(({ cell }) => cell.files?.host ?? '')
      for (const { cell } of [own, other, without]) await cell.kill()
      await expect.poll(() => folders.filter((folder) => existsSync(folder))).toEqual([])
    })
  })
})

test('folders of a process that was killed are removed at the next start, and those of running processes stay', async () => {
  const { pid: dead } = spawnSync('true')
  const parent = cellTemporaryFolder()
  const folders = {
    orphaned: join(parent, `svc-files-${dead}-123-abcdef`),
    reused: join(parent, `svc-files-${process.pid}-123-abcdef`),
    running: join(parent, `svc-files-${process.ppid}-123-abcdef`),
  }
  for (const folder of Object.values(folders)) mkdirSync(join(folder, 'run'), { recursive: true })
  await pickSandboxDriver('process', () => {})
  const left = readdirSync(parent).filter((name) => name.endsWith('-123-abcdef'))
  expect(left).toEqual([`svc-files-${process.ppid}-123-abcdef`])
  rmSync(folders.running, { recursive: true })
})
