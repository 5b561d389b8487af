import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { Brief } from '../../src/contract/agent-protocol.ts'
import { CellPool } from '../../src/runs/cell-pool.ts'
import type { SandboxCell, CellExit, SandboxDriver } from '../../src/sandbox/driver.ts'
import { sharedApp } from '../app.ts'

const app = sharedApp({ store: 'sqlite' })

interface FakeCell extends SandboxCell {
  killed: boolean
  die(): void
}

/** A pool over cells that are no processes; `broken` starts fail first. */
function poolOf(broken = 0): { pool: CellPool; started: FakeCell[] } {
  const started: FakeCell[] = []
  const driver: SandboxDriver = {
    ...app().app.driver,
    createSocketFolder: () => mkdtempSync(join(tmpdir(), 'svc-fake-')),
    prepareSocket: () => {},
    start() {
      const cell = fakeCell(started.length < broken)
      started.push(cell)
      return cell
    },
  }
  const maker = { ctx: app().ctx, driver, agentDir: app().dir, onRequest: () => {}, cellIds: new WeakMap() }
  const pool = new CellPool(maker)
  onTestFinished(() => pool.close())
  return { pool, started }
}

function fakeCell(stillborn: boolean): FakeCell {
  let exit: (exit: CellExit) => void = () => {}
  const exited = new Promise<CellExit>((resolve) => {
    exit = resolve
  })
  const cell: FakeCell = {
    pid: 0,
    killed: false,
    write: () => true,
    whenDrained: (call) => call(),
    closeInput: () => {},
    onLine: (handler) => (stillborn ? cell.die() : queueMicrotask(() => handler('{"ready":true}'))),
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

test('a project gets its cell however many others are busy', async () => {
  const { pool, started } = poolOf()
  for (const project of projects(20)) await pool.acquireShared(project)
  expect(started).toHaveLength(20)
  expect(started.filter(({ killed }) => killed)).toEqual([])
})

test('of more than sixteen cells, those that were idle for longest give way', async () => {
  const { pool, started } = poolOf()
  const shared = []
  for (const project of projects(16)) shared.push(await pool.acquireShared(project))
  for (const [i, cell] of shared.entries()) await pool.release(cell, `task_${i}`)
  await pool.release(await pool.acquireShared('prj_0'), 'task_again')
  await pool.acquireShared('prj_new')
  expect(started.map(({ killed }) => killed).indexOf(true)).toBe(1)
  expect(started.filter(({ killed }) => killed)).toHaveLength(1)
})

test('runs that begin together wait for the same cell', async () => {
  const { pool, started } = poolOf()
  const cells = await Promise.all([
    pool.acquireShared('prj_0'),
    pool.acquireShared('prj_0'),
    pool.acquireShared('prj_0'),
  ])
  expect(new Set(cells).size).toBe(1)
  expect(cells[0]?.activeRuns).toBe(3)
  expect(started).toHaveLength(1)
})

test('a run that is put into a cell that has died hears of it at once', async () => {
  const { pool, started } = poolOf()
  const cell = await pool.acquireShared('prj_0')
  started[0]?.die()
  await cell.exited
  await new Promise(setImmediate)
  const exit = await new Promise((resolve) => cell.start('task_1', {} as Brief, { onLine: () => {}, onExit: resolve }))
  expect(exit).toMatchObject({ code: 1 })
  expect(await pool.acquireShared('prj_0')).not.toBe(cell)
})

test('a retired cell lives until its last run has left', async () => {
  const { pool, started } = poolOf()
  const cell = await pool.acquireShared('prj_0')
  await pool.acquireShared('prj_0')
  pool.retire(cell)
  expect(await pool.acquireShared('prj_0')).not.toBe(cell)
  await pool.release(cell, 'task_1')
  expect(started[0]?.killed).toBe(false)
  await pool.release(cell, 'task_2')
  expect(started[0]?.killed).toBe(true)
})

test('a start that fails is told to its run alone: the next tries again', async () => {
  const { pool } = poolOf(1)
  await expect(pool.acquireShared('prj_0')).rejects.toThrow('before it was ready')
  expect((await pool.acquireShared('prj_0')).activeRuns).toBe(1)
})
