import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { Brief } from '../../../../src/platform/contract/agent-protocol.ts'
import { CellPool } from '../../../../src/execution/runs/cells/cell-pool.ts'
import type { SandboxCell, CellExit, SandboxDriver } from '../../../../src/execution/sandbox/driver.ts'
import { sharedApp } from '../../../app.ts'

const app = sharedApp({ store: 'sqlite' })

interface FakeCell extends SandboxCell {
  killed: boolean
  die(): void
}

/** Creates a pool of fake cells without processes. The first `broken` starts fail. */
function createFakePool(broken = 0): { pool: CellPool; started: FakeCell[] } {
  const started: FakeCell[] = []
  const { driver: appDriver } = app().app
  if (!appDriver) throw new Error('the app executes no tasks')
  const driver: SandboxDriver = {
    ...appDriver,
    createSocketFolder: () => mkdtempSync(join(tmpdir(), 'svc-fake-')),
    prepareSocket: () => {},
    start() {
      const cell = fakeCell(started.length < broken)
      started.push(cell)
      return cell
    },
  }
  const cellSettings = { ctx: app().ctx, driver, agentDir: app().dir, onRequest: () => {}, cellIds: new WeakMap() }
  const pool = new CellPool(cellSettings)
  onTestFinished(() => pool.close())
  return { pool, started }
}

function fakeCell(failsAtStart: boolean): FakeCell {
  let exit: (exit: CellExit) => void = () => {}
  const exited = new Promise<CellExit>((resolve) => {
    exit = resolve
  })
  const cell: FakeCell = {
    pid: 0,
    files: null,
    killed: false,
    write: () => true,
    whenDrained: (call) => call(),
    closeInput: () => {},
    onLine: (handler) => (failsAtStart ? cell.die() : queueMicrotask(() => handler('{"ready":true}'))),
    pause: () => {},
    resume: () => {},
    exited,
    die: () => exit({ code: 1, signal: null, stderr: '' }),
    async kill() {
      cell.killed = true
      cell.die()
    },
  }
  return cell
}

const projects = (count: number) => Array.from({ length: count }, (_, i) => `prj_${i}`)

test('a project gets a cell regardless of how many other projects are busy', async () => {
  const { pool, started } = createFakePool()
  for (const project of projects(20)) await pool.acquireShared(project)
  expect(started).toHaveLength(20)
  expect(started.filter(({ killed }) => killed)).toEqual([])
})

test('with more than sixteen cells, the cell that was idle for longest is killed', async () => {
  const { pool, started } = createFakePool()
  const shared = []
  for (const project of projects(16)) shared.push(await pool.acquireShared(project))
  for (const [i, cell] of shared.entries()) await pool.release(cell, `task_${i}`)
  await pool.release(await pool.acquireShared('prj_0'), 'task_again')
  await pool.acquireShared('prj_new')
  expect(started.map(({ killed }) => killed).indexOf(true)).toBe(1)
  expect(started.filter(({ killed }) => killed)).toHaveLength(1)
})

test('runs of a project that start at the same time share one cell', async () => {
  const { pool, started } = createFakePool()
  const cells = await Promise.all([
    pool.acquireShared('prj_0'),
    pool.acquireShared('prj_0'),
    pool.acquireShared('prj_0'),
  ])
  expect(new Set(cells).size).toBe(1)
  expect(cells[0]?.activeRuns).toBe(3)
  expect(started).toHaveLength(1)
})

test('a run that starts in a dead cell gets its exit immediately', async () => {
  const { pool, started } = createFakePool()
  const cell = await pool.acquireShared('prj_0')
  started[0]?.die()
  await cell.exited
  await new Promise(setImmediate)
  const exit = await new Promise((resolve) => cell.start('task_1', {} as Brief, { onLine: () => {}, onExit: resolve }))
  expect(exit).toMatchObject({ code: 1 })
  expect(await pool.acquireShared('prj_0')).not.toBe(cell)
})

test('a retired cell is killed after its last run has ended', async () => {
  const { pool, started } = createFakePool()
  const cell = await pool.acquireShared('prj_0')
  await pool.acquireShared('prj_0')
  pool.retire(cell)
  expect(await pool.acquireShared('prj_0')).not.toBe(cell)
  await pool.release(cell, 'task_1')
  expect(started[0]?.killed).toBe(false)
  await pool.release(cell, 'task_2')
  expect(started[0]?.killed).toBe(true)
})

test('a failed cell start fails only its own run, and the next run starts another cell', async () => {
  const { pool } = createFakePool(1)
  await expect(pool.acquireShared('prj_0')).rejects.toThrow('before it was ready')
  expect((await pool.acquireShared('prj_0')).activeRuns).toBe(1)
})
