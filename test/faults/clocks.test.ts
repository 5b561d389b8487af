import { expect, test } from 'vitest'
import { PATIENCE } from './rounds.ts'
import { placeOn, type Service } from './service.ts'
import { SCRIPTED } from '../tasks/scripted.ts'

const SECOND = 1_000
const SKEWS = { 'ten minutes ahead': 600_000, 'an hour behind': -3_600_000 }

/** What the process takes for the machine's clock is wrong by so much. */
const skewed = (ms: number) => ({
  NODE_OPTIONS: `--import=data:text/javascript,const%20now=Date.now;Date.now=()=>now()+${ms}`,
})

async function created(service: Service, wedge: string, task_type: string, input: unknown) {
  const { status, body } = await service.call('POST', '/v1/tasks', { wedge, task_type, input })
  expect(status).toBe(201)
  return body
}

test.each(Object.entries(SKEWS))(
  'a replica whose clock is %s ends nobody early, and writes the time of the database',
  async (_how, skew) => {
    const place = await placeOn('postgres')
    const right = await place.start({ ...SCRIPTED, SVC_DATA_DIR: 'right', SVC_MAX_CONCURRENT_TASKS: '4' })
    const { id } = await created(right, 'echo', 'say', ['hang'])
    await right.events(id, ({ event }) => event === 'task.created')
    const db = await place.rows()
    const wrong = await place.start({ ...skewed(skew), SVC_DATA_DIR: 'wrong', SVC_MAX_CONCURRENT_TASKS: '4' })
    const before = Date.now()
    const task = await created(wrong, 'desk', 'idle', null)
    expect(Date.parse(task.created_at)).toBeGreaterThan(before - SECOND)
    expect(Date.parse(task.created_at)).toBeLessThan(Date.now() + SECOND)
    // Ids tell the order too.
    expect(task.id > id).toBe(true)
    // Both have looked for lost runs more than once since both are there.
    const seen = async () =>
      (await db.selectFrom('replicas').select(['id', 'seen_at']).execute()).map((row) => row.seen_at)
    const first = (await seen()).toSorted().at(-1) ?? ''
    for (let rows = await seen(); rows.length < 2 || rows.some((at) => at <= first); rows = await seen()) {
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    const beats = await seen()
    expect(Math.abs(Date.parse(beats[0] ?? '') - Date.parse(beats[1] ?? ''))).toBeLessThan(60_000)
    expect((await wrong.call('GET', `/v1/tasks/${id}`)).body.status).toBe('running')
    expect((await right.call('POST', `/v1/tasks/${id}/cancel`)).status).toBe(200)
  },
  PATIENCE,
)
