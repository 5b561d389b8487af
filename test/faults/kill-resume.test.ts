import { describe, expect, test } from 'vitest'
import { addConnections } from '../approvals/decisions/gated-app.ts'
import { respondJson } from '../fake-upstream.ts'
import { createResumableDeployment, createResumableTask, expectUndisturbed } from './resumable-deployment.ts'
import type { StoreKind } from '../stores.ts'
import { FAULT_TIMEOUT_MS } from './rounds.ts'
import { onlyInMatrix } from '../matrix.ts'

async function killAfterEveryEvent(store: StoreKind): Promise<void> {
  const { outside, deployment } = await createResumableDeployment(store)
  let service = await deployment.start()
  await addConnections(service, outside.url)
  const undisturbed = await service.events(await createResumableTask(service))
  for (let number = 1; number < undisturbed.length; number++) {
    const id = await createResumableTask(service)
    await service.events(id, ({ id: seq }) => Number(seq) === number)
    await service.kill()
    service = await deployment.start()
    await expectUndisturbed(service, outside, id, undisturbed)
  }
  expect((await service.call('GET', '/v1/audit/verify')).body.ok).toBe(true)
}

describe('kill -9 of resumable runs', () => {
  onlyInMatrix(() => {
    test(
      'after every event, on SQLite: the run ends as an undisturbed one, and no action is sent twice',
      () => killAfterEveryEvent('sqlite'),
      FAULT_TIMEOUT_MS,
    )

    test(
      'after every event, on PostgreSQL: the run ends as an undisturbed one, and no action is sent twice',
      () => killAfterEveryEvent('postgres'),
      3 * FAULT_TIMEOUT_MS,
    )
  })

  test(
    'at different steps, on PostgreSQL: another replica ends the runs as undisturbed ones, and no action is sent twice',
    async () => {
      const { outside, deployment } = await createResumableDeployment('postgres')
      const first = await deployment.start({ SVC_DATA_DIR: 'first' })
      await addConnections(first, outside.url)
      const undisturbed = await first.events(await createResumableTask(first))
      // Each run gets no response to its first, second or third action, so all are killed at a known step.
      const unanswered = new Map<unknown, number>()
      outside.respond = ({ body }, response) => {
        const { text } = JSON.parse(body)
        const calls = (unanswered.get(text) ?? 0) + 1
        unanswered.set(text, calls)
        if (calls <= Number(text) % 3) respondJson(response, 200, { done: true })
      }
      const ids: string[] = []
      for (let n = 0; n < 6; n++) ids.push(await createResumableTask(first, { text: String(n) }))
      await expect
        .poll(() => [...unanswered].map(([text, calls]) => calls - (Number(text) % 3)))
        .toEqual([1, 1, 1, 1, 1, 1])
      await first.kill()
      outside.respond = (_request, response) => respondJson(response, 200, { done: true })
      const second = await deployment.start({ SVC_DATA_DIR: 'second' })
      for (const id of ids) await expectUndisturbed(second, outside, id, undisturbed)
      expect((await second.call('GET', '/v1/audit/verify')).body.ok).toBe(true)
    },
    FAULT_TIMEOUT_MS,
  )
})
