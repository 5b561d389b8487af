import { expect, test } from 'vitest'
import { createScriptedTask, createScriptedDeployment } from './scripted-deployment.ts'
import { expectInvariants } from './invariants.ts'
import { FAULT_TIMEOUT_MS, attemptNumbers } from './rounds.ts'

const RUNTIME = { constraints: { max_runtime_s: 2 } }

test.each(attemptNumbers(1))(
  'agents that are suspended at the same time fail at their runtime limit, and their run slots become free (%d)',
  async () => {
    const deployment = await createScriptedDeployment('sqlite', { SVC_MAX_CONCURRENT_TASKS: '4' })
    const service = await deployment.open()
    const suspended = await Promise.all(
      Array.from({ length: 4 }, () => createScriptedTask(service, ['stop', { output: 1 }], RUNTIME)),
    )
    const after = await Promise.all(Array.from({ length: 4 }, () => createScriptedTask(service, [{ output: 2 }])))
    const ended = await expectInvariants(service, await deployment.openRows(), { tasks: [...suspended, ...after] })
    for (const id of suspended) expect(ended.get(id)).toMatchObject({ error: { reason: 'runtime_exceeded' } })
    for (const id of after) expect(ended.get(id)).toMatchObject({ status: 'succeeded', output: 2 })
  },
  FAULT_TIMEOUT_MS,
)
