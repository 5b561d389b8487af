import { expect, test } from 'vitest'
import { type ProcessOwner, type PooledProcess, WorkflowPool } from '../../../src/execution/workflows/workflow-pool.ts'
import type { WorkflowProcess } from '../../../src/execution/workflows/workflow-process.ts'
import { TestClock } from '../../test-clock.ts'

const SECOND = 1000

/** A pool of fake processes with a test clock. `exits[n]` ends process n. */
function fakeProcessPool() {
  const clock = new TestClock(0)
  const killed: string[] = []
  const exits: (() => void)[] = []
  const start = async ({ projectId, wedge, code }: ProcessOwner): Promise<WorkflowProcess> => {
    let exit = () => {}
    const exited = new Promise<void>((resolve) => void (exit = resolve))
    exits.push(exit)
    const kill = async () => {
      killed.push(`${projectId} ${wedge} ${code.digest}`)
      exit()
    }
    return { call: async () => ({ kind: 'crashed' }), kill, exited }
  }
  return { pool: new WorkflowPool(clock, start), clock, killed, exits }
}

const owner = (projectId: string, wedge = 'desk', digest = '1'): ProcessOwner => ({
  projectId,
  wedge,
  code: { digest, files: {} },
})

async function acquireMany(
  pool: WorkflowPool,
  count: number,
  ownerOf: (n: number) => ProcessOwner,
): Promise<PooledProcess[]> {
  const acquired = await Promise.all(Array.from({ length: count }, (_, n) => pool.acquire(ownerOf(n), SECOND)))
  return acquired.filter((pooled) => pooled !== null)
}

test('a free process is reused only by the same project and wedge', async () => {
  const { pool } = fakeProcessPool()
  const [first] = await acquireMany(pool, 1, () => owner('a'))
  pool.release(first!, true)
  expect(await pool.acquire(owner('b'), SECOND)).not.toBe(first)
  expect(await pool.acquire(owner('a', 'inbox'), SECOND)).not.toBe(first)
  expect(await pool.acquire(owner('a'), SECOND)).toBe(first)
})

test('processes of two versions of a wedge stay pool, and an idle one is ended when the other version needs more', async () => {
  const { pool, killed } = fakeProcessPool()
  const [old] = await acquireMany(pool, 1, () => owner('a'))
  pool.release(old!, true)
  const [fresh] = await acquireMany(pool, 1, () => owner('a', 'desk', '2'))
  pool.release(fresh!, true)
  expect(await pool.acquire(owner('a'), SECOND)).toBe(old)
  expect(await pool.acquire(owner('a', 'desk', '2'), SECOND)).toBe(fresh)
  pool.release(old!, true)
  await acquireMany(pool, 3, () => owner('a', 'desk', '2'))
  await nextTurn()
  expect([pool.size, killed]).toEqual([4, ['a desk 1']])
})

test('a wedge has at most four processes, and further calls wait in order', async () => {
  const { pool } = fakeProcessPool()
  const [first, second] = await acquireMany(pool, 4, () => owner('a'))
  const order: string[] = []
  const waiting = ['fifth', 'sixth'].map(async (name) => {
    const pooled = await pool.acquire(owner('a'), SECOND)
    order.push(name)
    return pooled
  })
  await nextTurn()
  expect([pool.size, order]).toEqual([4, []])
  pool.release(first!, true)
  pool.release(second!, false)
  expect((await Promise.all(waiting))[0]).toBe(first)
  expect(order).toEqual(['fifth', 'sixth'])
  expect(pool.size).toBe(4)
})

test('a call that waits too long or whose run ends gets no process', async () => {
  const { pool, clock } = fakeProcessPool()
  const [first] = await acquireMany(pool, 4, () => owner('a'))
  const stop = new AbortController()
  const timedOut = pool.acquire(owner('a'), SECOND)
  const aborted = pool.acquire(owner('a'), 9 * SECOND, stop.signal)
  clock.jump(SECOND)
  stop.abort()
  expect(await Promise.all([timedOut, aborted])).toEqual([null, null])
  pool.release(first!, true)
  expect(await pool.acquire(owner('a'), SECOND)).toBe(first)
})

test('a project has at most eight processes and the pool sixteen, and the one that was idle longest is replaced', async () => {
  const { pool, killed, clock } = fakeProcessPool()
  const ofA = await acquireMany(pool, 8, (n) => owner('a', `wedge${n}`))
  expect([ofA.length, pool.size]).toEqual([8, 8])
  const ninth = pool.acquire(owner('a', 'wedge9'), SECOND)
  await nextTurn()
  expect(pool.size).toBe(8)
  pool.release(ofA[3]!, true)
  expect(await ninth).toMatchObject({ wedge: 'wedge9' })

  const ofOthers = await acquireMany(pool, 8, (n) => owner(`b${n}`))
  for (const pooled of [ofOthers[5]!, ofOthers[2]!]) {
    clock.jump(1)
    pool.release(pooled, true)
  }
  expect(await pool.acquire(owner('c'), SECOND)).toMatchObject({ projectId: 'c' })
  await nextTurn()
  expect([pool.size, killed]).toEqual([16, ['a wedge3 1', 'b5 desk 1']])
})

test('a process ends after a minute without calls', async () => {
  const { pool, clock, killed } = fakeProcessPool()
  const [idle, used] = await acquireMany(pool, 2, (n) => owner(`p${n}`))
  pool.release(idle!, true)
  pool.release(used!, true)
  clock.jump(40 * SECOND)
  pool.release((await pool.acquire(owner('p1'), SECOND))!, true)
  clock.jump(40 * SECOND)
  await nextTurn()
  expect([pool.size, killed]).toEqual([1, ['p0 desk 1']])
})

test('a process that exited is removed from the pool', async () => {
  const { pool, exits } = fakeProcessPool()
  const [first] = await acquireMany(pool, 4, () => owner('a'))
  const fifth = pool.acquire(owner('a'), SECOND)
  exits[0]?.()
  expect(await fifth).not.toBe(first)
  expect(pool.size).toBe(4)
})

test('a closed pool ends its processes and starts none', async () => {
  const { pool, killed } = fakeProcessPool()
  await acquireMany(pool, 4, () => owner('a'))
  const fifth = pool.acquire(owner('a'), SECOND)
  await pool.close()
  expect([await fifth, await pool.acquire(owner('b'), SECOND), pool.size, killed.length]).toEqual([null, null, 0, 4])
})

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))
