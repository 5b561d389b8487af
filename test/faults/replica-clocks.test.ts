import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Db } from '../../src/platform/store/store.ts'
import { waitForEvent, createScriptedTask, createScriptedDeployment } from './scripted-deployment.ts'
import { FAULT_TIMEOUT_MS } from './rounds.ts'
import { createDeployment, type ServiceProcess, SHORT_LEASE } from './service-process.ts'
import { SCRIPTED_AGENT } from '../work/tasks/scripted-agent.ts'
import { inMatrix } from '../matrix.ts'

const SECOND = 1_000
const HOUR = 3_600_000
const SKEWS = { 'ten minutes ahead': 600_000, 'an hour behind': -HOUR }
const JUMPS = { 'an hour forward': HOUR, 'an hour back': -HOUR }

/** Settings that make the clock of the process wrong by `ms`. */
const skewedClock = (ms: number) => preload(`const now = Date.now; Date.now = () => now() + ${ms}`)

/** Settings that make the clock wrong by `ms` once a file `jumped` exists in the working directory. */
const jumpingClock = (ms: number) =>
  preload(`
    import { existsSync } from 'node:fs'
    const now = Date.now
    Date.now = () => now() + (existsSync('jumped') ? ${ms} : 0)`)

const preload = (code: string) => ({ NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` })

async function createTask(service: ServiceProcess, wedge: string, task_type: string, input: unknown) {
  const { status, body } = await service.call('POST', '/v1/tasks', { wedge, task_type, input })
  expect(status).toBe(201)
  return body
}

/** Checks that a new task has the time of the database, which uses the same clock as this process. */
async function expectRightTime(create: () => Promise<{ created_at: string }>): Promise<void> {
  const before = Date.now()
  const { created_at } = await create()
  expect(Date.parse(created_at)).toBeGreaterThan(before - SECOND)
  expect(Date.parse(created_at)).toBeLessThan(Date.now() + SECOND)
}

/** Waits until both replicas have sent another heartbeat, and checks that their times differ by less than a minute. */
async function expectHeartbeats(db: Db): Promise<void> {
  const seen = async () => (await db.selectFrom('replicas').select('seen_at').execute()).map((row) => row.seen_at)
  const first = (await seen()).toSorted().at(-1) ?? ''
  for (let rows = await seen(); rows.length < 2 || rows.some((at) => at <= first); rows = await seen()) {
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  const beats = await seen()
  expect(Math.abs(Date.parse(beats[0] ?? '') - Date.parse(beats[1] ?? ''))).toBeLessThan(60_000)
}

test.each(inMatrix(Object.entries(SKEWS), [['an hour behind', -HOUR]]))(
  'a replica whose clock is %s interrupts no run of another replica, and writes the time of the database',
  async (_name, skew) => {
    const deployment = await createDeployment('postgres')
    const right = await deployment.start({ ...SCRIPTED_AGENT, SVC_DATA_DIR: 'right', SVC_MAX_CONCURRENT_TASKS: '4' })
    const { id } = await createTask(right, 'echo', 'say', ['hang'])
    await right.events(id, ({ event }) => event === 'task.created')
    const db = await deployment.openRows()
    const wrong = await deployment.start({ ...skewedClock(skew), SVC_DATA_DIR: 'wrong', SVC_MAX_CONCURRENT_TASKS: '4' })
    await expectRightTime(async () => {
      const task = await createTask(wrong, 'desk', 'idle', null)
      // Ids sort by time, too.
      expect(task.id > id).toBe(true)
      return task
    })
    await expectHeartbeats(db)
    expect((await wrong.call('GET', `/v1/tasks/${id}`)).body.status).toBe('running')
    expect((await right.call('POST', `/v1/tasks/${id}/cancel`)).status).toBe(200)
  },
  FAULT_TIMEOUT_MS,
)

test.each(inMatrix(Object.entries(JUMPS), [['an hour forward', HOUR]]))(
  'a replica whose clock jumps %s interrupts no run of a live replica, and still notices a dead one',
  async (_name, jump) => {
    const deployment = await createScriptedDeployment('postgres', SHORT_LEASE)
    const db = await deployment.openRows()
    const right = await deployment.open({ SVC_DATA_DIR: 'right', SVC_MAX_CONCURRENT_TASKS: '1' })
    const otherTask = await createScriptedTask(right, ['hang'])
    await waitForEvent(right, otherTask, 'task.created')
    const jumped = await deployment.start({
      ...jumpingClock(jump),
      SVC_DATA_DIR: 'other',
      SVC_MAX_CONCURRENT_TASKS: '4',
    })
    const ownTask = await createScriptedTask(jumped, ['hang'])
    await waitForEvent(jumped, ownTask, 'task.created')
    const gatedTask = await createScriptedTask(jumped, [{ act: 'send_note' }, { output: 'sent' }])
    const approval = await waitForEvent(jumped, gatedTask, 'approval.requested')

    writeFileSync(join(deployment.dir, 'jumped'), '')
    await expectRightTime(
      async () => (await jumped.call('GET', `/v1/tasks/${await createScriptedTask(jumped, ['hang'])}`)).body,
    )
    await expectHeartbeats(db)
    const statusOf = async (id: string) => (await jumped.call('GET', `/v1/tasks/${id}`)).body.status
    expect([await statusOf(otherTask), await statusOf(ownTask), await statusOf(gatedTask)]).toEqual([
      'running',
      'running',
      'awaiting_approval',
    ])
    expect((await jumped.call('POST', `/v1/approvals/${approval}/approve`, {})).status).toBe(200)
    expect((await jumped.events(gatedTask)).at(-1)?.data.data.status).toBe('succeeded')

    await right.kill()
    const last = (await jumped.events(otherTask)).at(-1)
    expect(last?.data.data).toMatchObject({ status: 'failed', error: { reason: 'interrupted' } })
    expect(await statusOf(ownTask)).toBe('running')
  },
  FAULT_TIMEOUT_MS,
)
