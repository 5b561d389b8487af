import { expect, test } from 'vitest'
import { doing, doingPlace } from './doing.ts'
import { expectTruth } from './oracle.ts'
import { PATIENCE, tries } from './rounds.ts'

const RUNTIME = { constraints: { max_runtime_s: 2 } }

test.each(tries(1))(
  'agents that are halted all at once fail when their time is up, and leave their places to others (%d)',
  async () => {
    const place = await doingPlace('sqlite', { SVC_MAX_CONCURRENT_TASKS: '4' })
    const service = await place.open()
    const halted = await Promise.all(Array.from({ length: 4 }, () => doing(service, ['stop', { output: 1 }], RUNTIME)))
    const after = await Promise.all(Array.from({ length: 4 }, () => doing(service, [{ output: 2 }])))
    const ended = await expectTruth(service, await place.rows(), { tasks: [...halted, ...after] })
    for (const id of halted) expect(ended.get(id)).toMatchObject({ error: { reason: 'runtime_exceeded' } })
    for (const id of after) expect(ended.get(id)).toMatchObject({ status: 'succeeded', output: 2 })
  },
  PATIENCE,
)
