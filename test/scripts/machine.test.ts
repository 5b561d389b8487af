import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { chromium, haproxyProgram, pgbouncer, postgresFolder } from '../../scripts/machine.mjs'

const installed = postgresFolder() ?? expect.fail('no PostgreSQL server is installed')

afterEach(() => vi.unstubAllEnvs())

/** A new folder that comes first in the PATH. */
function folderInPath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-path-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  vi.stubEnv('PATH', `${folder}${delimiter}${process.env['PATH'] ?? ''}`)
  return folder
}

/** Programs that exist and cannot do their work, as wrappers of missing packages are. */
function writeBrokenPrograms(folder: string, ...names: string[]): void {
  mkdirSync(folder, { recursive: true })
  for (const name of names) {
    writeFileSync(join(folder, name), '#!/bin/sh\nexit 1\n')
    chmodSync(join(folder, name), 0o755)
  }
}

test('a folder with links to some programs of PostgreSQL leads to the folder that has all of them', () => {
  const folder = folderInPath()
  for (const name of ['initdb', 'pg_ctl', 'postgres']) symlinkSync(join(installed, name), join(folder, name))
  expect(postgresFolder()).toBe(dirname(realpathSync(join(installed, 'postgres'))))
})

test('a PostgreSQL that lacks a program of the tests is passed over', () => {
  const folder = folderInPath()
  for (const name of ['initdb', 'postgres']) {
    writeFileSync(join(folder, name), `#!/bin/sh\nexec '${join(installed, name)}' "$@"\n`)
    chmodSync(join(folder, name), 0o755)
  }
  expect(postgresFolder()).toBe(installed)
})

test('programs that do not run are passed over', () => {
  const found = [pgbouncer(), haproxyProgram(), chromium()]
  writeBrokenPrograms(folderInPath(), 'pgbouncer', 'haproxy', 'chromium-headless-shell')
  expect([pgbouncer(), haproxyProgram(), chromium()]).toEqual(found)
})
