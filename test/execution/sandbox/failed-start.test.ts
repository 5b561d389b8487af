import { mkdtempSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { bwrapDriver } from '../../../src/execution/sandbox/bwrap/bwrap-driver.ts'
import { openCellGroups } from '../../../src/execution/sandbox/cgroup/cell-groups.ts'
import { pickSandboxDriver } from '../../../src/execution/sandbox/pick-driver.ts'
import { cellTemporaryFolder } from '../../../src/execution/sandbox/staging.ts'
import { cellSpec, inTemporaryFolder } from './run-cell.ts'
import { tryDrivers } from './usable-drivers.ts'

const trials = await tryDrivers()
const drivers = [...trials.flatMap(({ driver }) => driver ?? []), await pickSandboxDriver('process', () => {})]

test.each(drivers.map((driver) => [driver.kind, driver] as const))(
  'a cell of %s that cannot be started leaves no folder',
  async (_, driver) => {
    await inTemporaryFolder(async (folder) => {
      const before = listCellFolders()
      expect(() => driver.start(cellSpec({ command: [], hasFilesFolder: true }, folder))).toThrow('needs a command')
      expect(listCellFolders().filter((path) => !before.includes(path))).toEqual([])
    })
  },
)

const mounted = /^\S+ (\S+) cgroup2 /m.exec(readFileSync('/proc/mounts', 'utf8'))?.[1]

test.skipIf(mounted === undefined || process.getuid?.() !== 0)(
  'a cell that cannot enter its cgroup leaves no folder and no cgroup',
  async () => {
    const own = mkdtempSync(join(mounted ?? '', 'svc-test-'))
    const driver = bwrapDriver([], { groups: openCellGroups(own, []), limiting: { kind: 'cgroup', reason: null } })
    const cells = join(own, `svc-cells-${process.pid}`)
    const listGroups = () => readdirSync(cells).filter((name) => name.startsWith('cell-'))
    // The kernel lets no process enter a new group below one for threads.
    writeFileSync(join(cells, 'cgroup.type'), 'threaded')
    await inTemporaryFolder(async (folder) => {
      const before = listCellFolders()
      const { exited } = driver.start(cellSpec({ hasFilesFolder: true }, folder))
      const stderr = expect.stringContaining('the sandbox could not enter its cgroup')
      expect(await exited).toEqual({ code: null, signal: 'SIGKILL', stderr })
      expect(listCellFolders().filter((path) => !before.includes(path))).toEqual([])
      await expect.poll(listGroups).toEqual([])
    })
    for (const group of [cells, join(own, 'svc-service'), own]) rmdirSync(group)
  },
)

/** Of this process. */
function listCellFolders(): string[] {
  const own = new RegExp(`^svc-(files|oci|cell)-${process.pid}-`)
  return readdirSync(cellTemporaryFolder()).filter((name) => own.test(name))
}
