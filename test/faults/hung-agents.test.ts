import { expect, test } from 'vitest'
import { createScriptedTask, createScriptedDeployment } from './scripted-deployment.ts'
import { expectInvariants } from './invariants.ts'
import { FAULT_TIMEOUT_MS, attemptNumbers } from './rounds.ts'

const RUNTIME = { constraints: { max_runtime_s: 2 } }

test.each(attemptNumbers(1))(
  'agents that are halted all at once fail when their time is up, and leave their places to others (%d)',
  async () => {
    const place = await createScriptedDeployment('sqlite', { SVC_MAX_CONCURRENT_TASKS: '4' })
    const service = await place.open()
    const halted = await Promise.all(
      Array.from({ length: 4 }, () => createScriptedTask(service, ['stop', { output: 1 }], RUNTIME)),
    )
    const after = await Promise.all(Array.from({ length: 4 }, () => createScriptedTask(service, [{ output: 2 }])))
    const ended = await expectInvariants(service, await place.openRows(), { tasks: [...halted, ...after] })
    for (const id of halted) expect(ended.get(id)).toMatchObject({ error: { reason: 'runtime_exceeded' } })
    for (const id of after) expect(ended.get(id)).toMatchObject({ status: 'succeeded', output: 2 })
  },
  FAULT_TIMEOUT_MS,
)
