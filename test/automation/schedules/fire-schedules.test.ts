import * as fc from 'fast-check'
import pino from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { createId } from '../../../src/platform/base/ids.ts'
import { loadConfig } from '../../../src/platform/config/config.ts'
import { type Wedge, type WedgeLibrary, WedgeManifest } from '../../../src/platform/contract/wedge/wedge-manifest.ts'
import type { Ctx } from '../../../src/platform/ctx/ctx.ts'
import { createMemoryState } from '../../../src/platform/ctx/memory.ts'
import { createRandomPool } from '../../../src/platform/ctx/system-world.ts'
import { type Cadence, nextRunTime } from '../../../src/platform/base/cadence.ts'
import { fireDueSchedules } from '../../../src/automation/schedules/fire-schedules.ts'
import { insertSchedule } from '../../../src/automation/schedules/rows.ts'
import { planSchedule } from '../../../src/automation/schedules/schedules.ts'
import type { Store } from '../../../src/platform/store/store.ts'
import { openVault } from '../../../src/identity/vault/vault.ts'
import { emptyStore } from '../../work/records/empty-store.ts'
import { eachStore } from '../../stores.ts'

const DAY = 86_400_000
const START = Date.parse('2027-12-31T22:10:00.000Z')

const hour = fc.nat({ max: 23 })
const minute = fc.nat({ max: 59 })
const cadences: fc.Arbitrary<Cadence[]> = fc.tuple(
  fc.record({ kind: fc.constant('every' as const), seconds: fc.integer({ min: 5 * 86_400, max: 30 * 86_400 }) }),
  fc.record({ kind: fc.constant('daily' as const), hour, minute }),
  fc.record({ kind: fc.constant('monthly' as const), day: fc.integer({ min: 28, max: 31 }), hour, minute }),
)

eachStore((kind) => {
  test('over 400 days each due time fires exactly once, with three callers at a time', async () => {
    const { store, remove } = await emptyStore(kind)
    onTestFinished(remove)
    const clock = { time: START, now: () => clock.time, after: () => () => {} }
    const ctx = await bareContext(store, clock)
    const [chosen = []] = fc.sample(cadences, { numRuns: 1 })
    const schedules = chosen.map((cadence) => ({ cadence, row: planSchedule(ctx, 'prj_1', scheduleInput(cadence)) }))
    for (const { row } of schedules) await store.transact((db) => insertSchedule(db, row))
    // The clock moves from one due time to the next, so that none is missed.
    for (const moment of new Set(dueTimes(chosen))) {
      clock.time = moment
      await Promise.all([fireDueSchedules(ctx), fireDueSchedules(ctx), fireDueSchedules(ctx)])
    }
    for (const { cadence, row } of schedules) expect(await firedAt(store, row.id)).toEqual(dueTimes([cadence]))
    const slots = await store.db.selectFrom('schedule_slots').selectAll().execute()
    expect(slots.length).toBeLessThanOrEqual(2 * schedules.length)
  })
})

const scheduleInput = (cadence: Cadence) => ({ name: 'S', wedge: 'echo', task_type: 'say', cadence })

function dueTimes(cadences: Cadence[]): number[] {
  const times: number[] = []
  for (const cadence of cadences) {
    for (let at = nextRunTime(cadence, START, START); at <= START + 400 * DAY; at = nextRunTime(cadence, at, START)) {
      times.push(at)
    }
  }
  return times.toSorted((a, b) => a - b)
}

async function firedAt(store: Store, id: string): Promise<number[]> {
  const tasks = await store.db.selectFrom('tasks').select('created_at').where('schedule_id', '=', id).execute()
  return tasks.map((task) => Date.parse(task.created_at)).toSorted((a, b) => a - b)
}

/** A replica without servers and runner: the tasks stay in the queue. */
async function bareContext(store: Store, clock: Ctx['world']['clock']): Promise<Ctx> {
  await store.transact(async (db) => {
    const at = '2026-01-01T00:00:00.000Z'
    await db.insertInto('organisations').values({ id: 'org_1', name: 'O', created_at: at, founding: null }).execute()
    const project = {
      id: 'prj_1',
      org_id: 'org_1',
      slug: 'p',
      name: 'P',
      tier: 'default',
      wedges: null,
      created_at: at,
    }
    await db.insertInto('projects').values(project).execute()
  })
  const random = createRandomPool()
  const world: Ctx['world'] = {
    clock,
    random,
    newId: (prefix) => createId(prefix, clock.now(), random),
    passwordCost: { N: 1024, r: 8, p: 1 },
    log: pino({ level: 'silent' }),
    env: () => undefined,
  }
  return {
    config: loadConfig({}),
    store,
    db: store.db,
    world,
    ...createMemoryState(),
    wedges: library,
    vault: openVault(world),
    replica: 'rep_test',
  }
}

const echo: Wedge = {
  slug: 'echo',
  title: 'Echo',
  dir: '/nowhere',
  manifest: WedgeManifest.parse({ wedge: 'echo', task_types: { say: {} } }),
  source: {},
  skills: [],
  skillFolders: [],
  knowledge: [],
  rehearsals: {},
  examples: {},
  code: { digest: '', files: {} },
  agents: {},
}
const library: WedgeLibrary = {
  get: () => echo,
  find: async () => echo,
  all: () => [echo],
  problems: () => [],
}
