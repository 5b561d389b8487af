import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Db } from '../../src/store/store.ts'
import { waitForEvent, createScriptedTask, createScriptedDeployment } from './scripted-deployment.ts'
import { FAULT_TIMEOUT_MS } from './rounds.ts'
import { createDeployment, type ServiceProcess } from './service-process.ts'
import { SCRIPTED_AGENT } from '../tasks/scripted-agent.ts'

const SECOND = 1_000
const HOUR = 3_600_000
const SKEWS = { 'ten minutes ahead': 600_000, 'an hour behind': -HOUR }
const JUMPS = { 'an hour forward': HOUR, 'an hour back': -HOUR }

/** What the process takes for the machine's clock is wrong by so much. */
const skewed = (ms: number) => preloaded(`const now = Date.now; Date.now = () => now() + ${ms}`)

/** It is right until a file of this name lies where the process was started. */
const jumping = (ms: number) =>
  preloaded(`
    import { existsSync } from 'node:fs'
    const now = Date.now
    Date.now = () => now() + (existsSync('jumped') ? ${ms} : 0)`)

const preloaded = (code: string) => ({ NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` })

async function created(service: ServiceProcess, wedge: string, task_type: string, input: unknown) {
  const { status, body } = await service.call('POST', '/v1/tasks', { wedge, task_type, input })
  expect(status).toBe(201)
  return body
}

/** A task that the service takes in now has the time of the database, which is the one of this process. */
async function expectRightTime(taking: () => Promise<{ created_at: string }>): Promise<void> {
  const before = Date.now()
  const { created_at } = await taking()
  expect(Date.parse(created_at)).toBeGreaterThan(before - SECOND)
  expect(Date.parse(created_at)).toBeLessThan(Date.now() + SECOND)
}

/** Both replicas have looked for lost runs more than once since, and tell about the same time. */
async function bothBeat(db: Db): Promise<void> {
  const seen = async () => (await db.selectFrom('replicas').select('seen_at').execute()).map((row) => row.seen_at)
  const first = (await seen()).toSorted().at(-1) ?? ''
  for (let rows = await seen(); rows.length < 2 || rows.some((at) => at <= first); rows = await seen()) {
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  const beats = await seen()
  expect(Math.abs(Date.parse(beats[0] ?? '') - Date.parse(beats[1] ?? ''))).toBeLessThan(60_000)
}

test.each(Object.entries(SKEWS))(
  'a replica whose clock is %s ends nobody early, and writes the time of the database',
  async (_how, skew) => {
    const place = await createDeployment('postgres')
    const right = await place.start({ ...SCRIPTED_AGENT, SVC_DATA_DIR: 'right', SVC_MAX_CONCURRENT_TASKS: '4' })
    const { id } = await created(right, 'echo', 'say', ['hang'])
    await right.events(id, ({ event }) => event === 'task.created')
    const db = await place.openRows()
    const wrong = await place.start({ ...skewed(skew), SVC_DATA_DIR: 'wrong', SVC_MAX_CONCURRENT_TASKS: '4' })
    await expectRightTime(async () => {
      const task = await created(wrong, 'desk', 'idle', null)
      // Ids tell the order too.
      expect(task.id > id).toBe(true)
      return task
    })
    await bothBeat(db)
    expect((await wrong.call('GET', `/v1/tasks/${id}`)).body.status).toBe('running')
    expect((await right.call('POST', `/v1/tasks/${id}/cancel`)).status).toBe(200)
  },
  FAULT_TIMEOUT_MS,
)

test.each(Object.entries(JUMPS))(
  'a replica whose clock jumps %s while it works ends nobody early, and notices in time who is gone',
  async (_how, jump) => {
    const place = await createScriptedDeployment('postgres')
    const db = await place.openRows()
    const right = await place.open({ SVC_DATA_DIR: 'right', SVC_MAX_CONCURRENT_TASKS: '1' })
    const theirs = await createScriptedTask(right, ['hang'])
    await waitForEvent(right, theirs, 'task.created')
    const jumped = await place.start({ ...jumping(jump), SVC_DATA_DIR: 'other', SVC_MAX_CONCURRENT_TASKS: '4' })
    const own = await createScriptedTask(jumped, ['hang'])
    await waitForEvent(jumped, own, 'task.created')
    const asking = await createScriptedTask(jumped, [{ act: 'send_note' }, { output: 'sent' }])
    const approval = await waitForEvent(jumped, asking, 'approval.requested')

    writeFileSync(join(place.dir, 'jumped'), '')
    await expectRightTime(
      async () => (await jumped.call('GET', `/v1/tasks/${await createScriptedTask(jumped, ['hang'])}`)).body,
    )
    await bothBeat(db)
    const statusOf = async (id: string) => (await jumped.call('GET', `/v1/tasks/${id}`)).body.status
    expect([await statusOf(theirs), await statusOf(own), await statusOf(asking)]).toEqual([
      'running',
      'running',
      'awaiting_approval',
    ])
    expect((await jumped.call('POST', `/v1/approvals/${approval}/approve`, {})).status).toBe(200)
    expect((await jumped.events(asking)).at(-1)?.data.data.status).toBe('succeeded')

    await right.kill()
    const last = (await jumped.events(theirs)).at(-1)
    expect(last?.data.data).toMatchObject({ status: 'failed', error: { reason: 'interrupted' } })
    expect(await statusOf(own)).toBe('running')
  },
  FAULT_TIMEOUT_MS,
)
