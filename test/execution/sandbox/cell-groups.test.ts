import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, test } from 'vitest'
import { bwrapDriver } from '../../../src/execution/sandbox/bwrap/bwrap-driver.ts'
import { type CellGroup, openCellGroups } from '../../../src/execution/sandbox/cgroup/cell-groups.ts'
import { findGroupSupport, type GroupSupport } from '../../../src/execution/sandbox/cgroup/grouped-start.ts'
import { readProcFile } from '../../../src/execution/sandbox/host-process.ts'
import { processDriver } from '../../../src/execution/sandbox/process/process-driver.ts'
import { FORK_BOMB, GREEDY_PROCESSES } from './hostile-programs.ts'
import { cellSpec, inTemporaryFolder, runCell, runPython } from './run-cell.ts'

/** A folder with the files of a delegated cgroup: the kernel of this machine may have its controllers in cgroup v1. */
async function withGroupFiles<T>(files: Record<string, string | null>, use: (own: string) => T): Promise<T> {
  return inTemporaryFolder(async (folder) => {
    const own = join(folder, 'svc.service')
    const usual = { 'cgroup.controllers': 'cpu memory pids', 'cgroup.subtree_control': '', 'cgroup.procs': '' }
    const all = { ...usual, 'cgroup.type': 'domain', 'cgroup.kill': '', ...files }
    mkdirSync(own)
    const cells = join(own, `svc-cells-${process.pid}`)
    mkdirSync(cells)
    for (const [name, content] of Object.entries(all)) if (content !== null) writeFileSync(join(own, name), content)
    writeFileSync(join(cells, 'cgroup.subtree_control'), '')
    return use(own)
  })
}

describe('the cgroup of the service', () => {
  test('is divided into one part for the service and one for each cell, with its limits', async () => {
    await withGroupFiles({ 'cgroup.procs': `${process.ppid}\n${process.pid}\n` }, (own) => {
      openCellGroups(own).create({ memoryMb: 64, processes: 20 })
      const cells = join(own, `svc-cells-${process.pid}`)
      const cell = join(cells, readdirSync(cells).find((name) => name.startsWith('cell-')) ?? '')
      const read = (name: string) => readFileSync(join(cell, name), 'utf8')
      expect(['memory.max', 'memory.oom.group', 'pids.max'].map(read)).toEqual([String(64 << 20), '1', '20'])
      expect(readFileSync(join(own, 'cgroup.subtree_control'), 'utf8')).toBe('+memory +pids')
      expect(readFileSync(join(own, 'svc-service', 'cgroup.procs'), 'utf8')).toBe(String(process.pid))
    })
  })

  test('is not used without the controllers, on old kernels, in a login session, and beside other programs', async () => {
    await withGroupFiles({ 'cgroup.kill': null }, (own) => {
      expect(() => openCellGroups(own)).toThrow('this kernel cannot kill a cgroup (Linux 5.14 and newer can)')
    })
    await withGroupFiles({ 'cgroup.controllers': 'cpu pids' }, (own) => {
      expect(() => openCellGroups(own)).toThrow('lacks the controllers memory')
    })
    await withGroupFiles({ 'cgroup.procs': '1\n2\n' }, (own) => {
      expect(() => openCellGroups(own)).toThrow('other programs are in the cgroup of this service')
    })
    await inTemporaryFolder(async (folder) => {
      const own = join(folder, 'session-1.scope')
      mkdirSync(own)
      writeFileSync(join(own, 'cgroup.controllers'), 'memory pids')
      expect(() => openCellGroups(own)).toThrow('belongs to a login session')
    })
  })

  test('is found, or the service knows in one sentence why there is none', () => {
    const { groups, limiting } = findGroupSupport()
    if (groups === null) expect(limiting).toEqual({ kind: 'process', reason: expect.stringMatching(/cgroup/) })
    else expect(limiting).toEqual({ kind: 'cgroup', reason: null })
  })
})

const mounted = /^\S+ (\S+) cgroup2 /m.exec(readFileSync('/proc/mounts', 'utf8'))?.[1]
const canCreate = mounted !== undefined && process.getuid?.() === 0
if (!canCreate) process.stderr.write('cell-groups.test.ts: skipped, because only root can create a cgroup here\n')

describe.skipIf(!canCreate)('cells in cgroups of the kernel', () => {
  const own = canCreate ? mkdtempSync(join(mounted, 'svc-test-')) : ''
  const cells = join(own, `svc-cells-${process.pid}`)
  // Only what this kernel offers in version 2; without controllers, groups can still be entered and killed.
  const offered = canCreate ? readFileSync(join(own, 'cgroup.controllers'), 'utf8').split(/\s+/) : []
  const controllers = (['memory', 'pids'] as const).filter((name) => offered.includes(name))
  const support = canCreate
    ? { groups: openCellGroups(own, controllers), limiting: { kind: 'cgroup', reason: null } as const }
    : findGroupSupport()
  afterAll(() => {
    for (const group of canCreate ? [cells, join(own, 'svc-service'), own] : []) rmdirSync(group)
  })
  const listGroups = () => readdirSync(cells).filter((name) => name.startsWith('cell-'))

  const changeGroups = (change: (group: CellGroup) => CellGroup): GroupSupport => {
    const { groups } = support
    return { ...support, groups: groups && { create: (limits) => change(groups.create(limits)) } }
  }

  describe.each([
    ['bwrap', (given: GroupSupport) => bwrapDriver([], given)],
    ['process', (given: GroupSupport) => processDriver(() => {}, given)],
  ] as const)('%s', (_, open) => {
    const driver = open(support)

    test('every process of a cell is in its group from the start, and the group is removed with it', async () => {
      await inTemporaryFolder(async (folder) => {
        const command = ['sh', '-c', 'sleep 600 & setsid sleep 600 & echo up; read x']
        const cell = driver.start(cellSpec({ profile: 'workshop', command }, folder))
        await new Promise((resolve) => cell.onLine(resolve))
        const [group = ''] = listGroups()
        const listInside = () =>
          readFileSync(join(cells, group, 'cgroup.procs'), 'utf8')
            .trim()
            .split('\n')
        expect(listInside()).toContain(String(cell.pid))
        // setsid becomes sleep a moment after the shell has gone on.
        await expect.poll(() => listInside().filter((pid) => programName(pid) === 'sleep')).toHaveLength(2)
        const inside = listInside()
        await cell.kill()
        await expect.poll(listGroups).toEqual([])
        await expect.poll(() => inside.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([])
      })
    })

    test('a cell that is killed before it has entered its group ends', async () => {
      await inTemporaryFolder(async (folder) => {
        const cell = driver.start(cellSpec({ profile: 'workshop', command: ['sleep', '602'] }, folder))
        await cell.kill()
        await expect.poll(listGroups).toEqual([])
        expect(execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })).not.toContain('sleep 602')
      })
    })

    test.each([
      ['enters', (group: CellGroup, pid: number) => group.add(pid)],
      ['cannot enter', () => Promise.reject(new Error('ESRCH: no such process'))],
    ])(
      'a cell that is killed while it waits for a group that it %s ends after that, with no error of the group',
      async (_, enter) => {
        await inTemporaryFolder(async (folder) => {
          let allowEntry = () => {}
          const allowed = new Promise<void>((resolve) => void (allowEntry = resolve))
          const add = (group: CellGroup) => (pid: number) => allowed.then(() => enter(group, pid))
          const slow = open(changeGroups((group) => ({ ...group, add: add(group) })))
          const cell = slow.start(cellSpec({ profile: 'workshop', command: ['sh', '-c', 'echo up'] }, folder))
          const lines: string[] = []
          cell.onLine((line) => void lines.push(line))
          const killed = cell.kill()
          await sleep(100)
          expect(readProcFile(`/proc/${cell.pid}/stat`)).toMatch(/\) [SD] /)
          allowEntry()
          await killed
          expect(await cell.exited).toEqual({ code: null, signal: 'SIGKILL', stderr: '' })
          expect(lines).toEqual([])
          await expect.poll(listGroups).toEqual([])
        })
      },
    )

    test('a cell that ends by itself leaves no group and no process, also with a loopback port', async () => {
      const command = ['sh', '-c', 'setsid sleep 601 & echo done']
      for (const hasLoopback of [false, true]) {
        const { lines, exit } = await runCell(driver, { profile: 'workshop', command, hasLoopback })
        expect([lines, exit.code]).toEqual([['done'], 0])
      }
      await expect.poll(listGroups).toEqual([])
      expect(execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })).not.toContain('sleep 601')
    })
  })

  describe.skipIf(controllers.length < 2).each([
    ['bwrap', bwrapDriver([], support)],
    ['process', processDriver(() => {}, support)],
  ] as const)('%s on a kernel with the controllers of version 2', (_, driver) => {
    test('a cell whose processes exceed its memory ends with the reason, and its neighbour continues', async () => {
      await inTemporaryFolder(async (folder) => {
        const neighbour = driver.start(cellSpec({ profile: 'workshop', command: ['cat'] }, folder))
        const { exit } = await runPython(driver, GREEDY_PROCESSES, { memory_mb: 64 })
        const stderr = 'the processes of the sandbox used more than 128 MB of memory'
        expect(exit).toEqual({ code: null, signal: 'SIGKILL', stderr })
        const line = new Promise((resolve) => neighbour.onLine(resolve))
        neighbour.write('still running')
        expect(await line).toBe('still running')
        expect(listGroups()).toHaveLength(1)
        neighbour.closeInput()
        expect(await neighbour.exited).toEqual({ code: 0, signal: null, stderr: '' })
        await expect.poll(listGroups).toEqual([])
      })
    })

    test('a cell that is ended because the service as a whole exceeds its memory does not name its own limit', async () => {
      await inTemporaryFolder(async (folder) => {
        const cell = driver.start(
          cellSpec({ profile: 'workshop', command: ['python3', '-c', GREEDY_PROCESSES] }, folder),
        )
        writeFileSync(join(cells, 'memory.max'), String(128 << 20))
        expect(await cell.exited).toEqual({ code: null, signal: 'SIGKILL', stderr: '' })
        writeFileSync(join(cells, 'memory.max'), 'max')
      })
    })

    test('a fork bomb stops at the process limit', async () => {
      expect((await runPython(driver, FORK_BOMB, { processes: 20 })).lines).toEqual(['19 11'])
    })
  })

  test('a cell of the process driver ends although its group cannot be killed', async () => {
    await inTemporaryFolder(async (folder) => {
      const kill = () => {
        throw new Error('the cgroup of a cell cannot be ended')
      }
      const driver = processDriver(
        () => {},
        changeGroups((group) => ({ ...group, kill })),
      )
      const cell = driver.start(cellSpec({ profile: 'workshop', command: ['sh', '-c', 'echo up; read x'] }, folder))
      await new Promise((resolve) => cell.onLine(resolve))
      await expect(cell.kill()).rejects.toThrow('cannot be ended')
      expect((await cell.exited).signal).toBe('SIGKILL')
      await expect.poll(listGroups).toEqual([])
    })
  })

  test('the program of a bwrap cell inherits nothing of the way into the group', async () => {
    const command = ['sh', '-c', 'for f in /proc/self/fd/*; do readlink $f; done']
    const { lines } = await runCell(bwrapDriver([], support), { profile: 'workshop', command })
    expect(lines.filter((line) => /^(socket|pipe):/.test(line))).toHaveLength(3)
  })
})

const programName = (pid: string): string => readProcFile(`/proc/${pid}/comm`).trim()
