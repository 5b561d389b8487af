import { expect, test } from 'vitest'
import { type ProcessOwner, type PooledProcess, WorkflowPool } from '../../src/workflows/workflow-pool.ts'
import type { WorkflowProcess } from '../../src/workflows/workflow-process.ts'
import { TestClock } from '../test-clock.ts'

const SECOND = 1000

/** A pool of fake processes, with a clock that moves only when told. */
function pool() {
  const clock = new TestClock(0)
  const killed: string[] = []
  const dying: (() => void)[] = []
  const start = async ({ projectId, wedge, code }: ProcessOwner): Promise<WorkflowProcess> => {
    let die = () => {}
    const gone = new Promise<void>((resolve) => void (die = resolve))
    dying.push(die)
    const kill = async () => {
      killed.push(`${projectId} ${wedge} ${code.digest}`)
      die()
    }
    return { call: async () => ({ kind: 'crashed' }), kill, exited: gone }
  }
  return { pool: new WorkflowPool(clock, start), clock, killed, dying }
}

const owner = (projectId: string, wedge = 'desk', digest = '1'): ProcessOwner => ({
  projectId,
  wedge,
  code: { digest, files: {} },
})

async function acquireMany(
  from: WorkflowPool,
  count: number,
  of: (n: number) => ProcessOwner,
): Promise<PooledProcess[]> {
  const taken = await Promise.all(Array.from({ length: count }, (_, n) => from.acquire(of(n), SECOND)))
  return taken.filter((pooled) => pooled !== null)
}

test('a free process is reused only by the same project and wedge', async () => {
  const { pool: warm } = pool()
  const [first] = await acquireMany(warm, 1, () => owner('a'))
  warm.release(first!, true)
  expect(await warm.acquire(owner('b'), SECOND)).not.toBe(first)
  expect(await warm.acquire(owner('a', 'inbox'), SECOND)).not.toBe(first)
  expect(await warm.acquire(owner('a'), SECOND)).toBe(first)
})

test('processes of two versions of a wedge stay warm, and an idle one is ended when the other version needs more', async () => {
  const { pool: warm, killed } = pool()
  const [old] = await acquireMany(warm, 1, () => owner('a'))
  warm.release(old!, true)
  const [fresh] = await acquireMany(warm, 1, () => owner('a', 'desk', '2'))
  warm.release(fresh!, true)
  expect(await warm.acquire(owner('a'), SECOND)).toBe(old)
  expect(await warm.acquire(owner('a', 'desk', '2'), SECOND)).toBe(fresh)
  warm.release(old!, true)
  await acquireMany(warm, 3, () => owner('a', 'desk', '2'))
  await turn()
  expect([warm.size, killed]).toEqual([4, ['a desk 1']])
})

test('a wedge has at most four processes, and further calls wait in order', async () => {
  const { pool: warm } = pool()
  const [first, second] = await acquireMany(warm, 4, () => owner('a'))
  const order: string[] = []
  const waiting = ['fifth', 'sixth'].map(async (word) => {
    const pooled = await warm.acquire(owner('a'), SECOND)
    order.push(word)
    return pooled
  })
  await turn()
  expect([warm.size, order]).toEqual([4, []])
  warm.release(first!, true)
  warm.release(second!, false)
  expect((await Promise.all(waiting))[0]).toBe(first)
  expect(order).toEqual(['fifth', 'sixth'])
  expect(warm.size).toBe(4)
})

test('a call that waits too long or whose run ends gets no process', async () => {
  const { pool: warm, clock } = pool()
  const [first] = await acquireMany(warm, 4, () => owner('a'))
  const stop = new AbortController()
  const late = warm.acquire(owner('a'), SECOND)
  const ended = warm.acquire(owner('a'), 9 * SECOND, stop.signal)
  clock.jump(SECOND)
  stop.abort()
  expect(await Promise.all([late, ended])).toEqual([null, null])
  warm.release(first!, true)
  expect(await warm.acquire(owner('a'), SECOND)).toBe(first)
})

test('a project has at most eight processes and the pool sixteen, and the one that was idle longest is replaced', async () => {
  const { pool: warm, killed, clock } = pool()
  const ofA = await acquireMany(warm, 8, (n) => owner('a', `wedge${n}`))
  expect([ofA.length, warm.size]).toEqual([8, 8])
  const ninth = warm.acquire(owner('a', 'wedge9'), SECOND)
  await turn()
  expect(warm.size).toBe(8)
  warm.release(ofA[3]!, true)
  expect(await ninth).toMatchObject({ wedge: 'wedge9' })

  const ofOthers = await acquireMany(warm, 8, (n) => owner(`b${n}`))
  for (const pooled of [ofOthers[5]!, ofOthers[2]!]) {
    clock.jump(1)
    warm.release(pooled, true)
  }
  expect(await warm.acquire(owner('c'), SECOND)).toMatchObject({ projectId: 'c' })
  await turn()
  expect([warm.size, killed]).toEqual([16, ['a wedge3 1', 'b5 desk 1']])
})

test('a process ends after a minute without calls', async () => {
  const { pool: warm, clock, killed } = pool()
  const [idle, used] = await acquireMany(warm, 2, (n) => owner(`p${n}`))
  warm.release(idle!, true)
  warm.release(used!, true)
  clock.jump(40 * SECOND)
  warm.release((await warm.acquire(owner('p1'), SECOND))!, true)
  clock.jump(40 * SECOND)
  await turn()
  expect([warm.size, killed]).toEqual([1, ['p0 desk 1']])
})

test('a process that exited is removed from the pool', async () => {
  const { pool: warm, dying } = pool()
  const [first] = await acquireMany(warm, 4, () => owner('a'))
  const fifth = warm.acquire(owner('a'), SECOND)
  dying[0]?.()
  expect(await fifth).not.toBe(first)
  expect(warm.size).toBe(4)
})

test('a closed pool ends its processes and starts none', async () => {
  const { pool: warm, killed } = pool()
  await acquireMany(warm, 4, () => owner('a'))
  const fifth = warm.acquire(owner('a'), SECOND)
  await warm.close()
  expect([await fifth, await warm.acquire(owner('b'), SECOND), warm.size, killed.length]).toEqual([null, null, 0, 4])
})

const turn = () => new Promise((resolve) => setImmediate(resolve))
