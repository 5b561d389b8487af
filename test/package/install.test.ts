import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../programs/cli/run-svc.ts'
import { ROOT } from '../docs/pages.ts'

test('the installation refuses a node_modules link, because its target may belong to another project', () => {
  const dir = temporaryFolder()
  cpSync(join(ROOT, 'scripts'), join(dir, 'clone/scripts'), { recursive: true })
  for (const name of ['package.json', 'package-lock.json']) cpSync(join(ROOT, name), join(dir, 'clone', name))
  mkdirSync(join(dir, 'other-project'))
  writeFileSync(join(dir, 'other-project/file'), '')
  symlinkSync(join(dir, 'other-project'), join(dir, 'clone/node_modules'))
  const { status, stderr } = spawnSync(process.execPath, ['scripts/install.mjs'], {
    cwd: join(dir, 'clone'),
    encoding: 'utf8',
  })
  expect([status, stderr]).toEqual([1, expect.stringContaining('node_modules is a link')])
  expect(existsSync(join(dir, 'other-project/file'))).toBe(true)
})
