import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type Served, serve } from '../../approvals/effects/served-process.ts'
import { anyStore, FOUNDER_KEY, writeFiles } from '../../app.ts'
import { openFakeUpstream, respondJson } from '../../fake-upstream.ts'
import { readEventStream } from '../../http.ts'
import { createMigratedDatabase, releaseMigratedDatabase, type StoreKind } from '../../stores.ts'
import { addConversationChannel, CONVERSATION_WEDGE, conversationCalls } from './conversation-app.ts'
import { inMatrix, onlyInMatrix } from '../../matrix.ts'

/** A service that is started again with the same data after it was killed. */
async function openKilledService(store: StoreKind, env: Record<string, string> = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'svc-conversation-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  writeFiles(join(dir, 'wedges'), CONVERSATION_WEDGE)
  mkdirSync(join(dir, 'blueprints'))
  const database = store === 'postgres' ? { DATABASE_URL: await createMigratedDatabase() } : null
  if (database) onTestFinished(() => releaseMigratedDatabase(database.DATABASE_URL))
  const provider = await openFakeUpstream()
  onTestFinished(() => provider.close())
  return { provider, start: () => serve(dir, { ...database, ...env }) }
}

async function kill({ child }: Served): Promise<void> {
  child.kill('SIGKILL')
  await once(child, 'exit')
}

const answered = (service: Served, taskId: string) =>
  readEventStream(`${service.url}/v1/tasks/${taskId}/events`, FOUNDER_KEY, 0)

anyStore((store) => {
  test('killed between receipt and answer: the provider delivers again, and nothing is lost or doubled', async () => {
    const { provider, start } = await openKilledService(store)
    let service = await start()
    const { channel } = await addConversationChannel(service, provider, { wedge: 'desk', task_type: 'answer' })
    const rounds = inMatrix([0, 2, 4, 6, 8, 12, 20, 40], [2, 12])
    for (const [round, delayMs] of rounds.entries()) {
      const { deliver } = conversationCalls(service, provider, channel)
      const interrupted = deliver(7, `Message ${round}`, round + 1).catch(() => null)
      await new Promise((resolve) => setTimeout(resolve, delayMs))
      await kill(service)
      await interrupted
      service = await start()
      const again = await conversationCalls(service, provider, channel).deliver(7, `Message ${round}`, round + 1)
      expect(again).toMatchObject({ status: 200, body: { ok: true } })
    }
    const { thread } = conversationCalls(service, provider, channel)
    const [{ id }, ...others] = (await service.call('GET', '/v1/threads')).body.data
    expect(others).toEqual([])
    const { messages, tasks } = await thread(id)
    const inbound = messages.filter(({ direction }: { direction: string }) => direction === 'inbound')
    expect(inbound.map(({ body }: { body: string }) => body)).toEqual(rounds.map((_, n) => `Message ${n}`))
    expect(new Set(inbound.map(({ task_id }: { task_id: string }) => task_id)).size).toBe(rounds.length)
    expect(tasks).toHaveLength(rounds.length)
    expect((await service.call('GET', '/v1/audit/verify')).body.ok).toBe(true)
  })

  test('killed between send and outcome: the reply is not sent again, and the team sees that its outcome is unknown', async () => {
    const { provider, start } = await openKilledService(store)
    const first = await start()
    const calls = await addConversationChannel(first, provider, { wedge: 'open', task_type: 'answer' })
    const arrived = new Promise<void>((resolve) => {
      provider.respond = () => resolve()
    })
    const { task_id, thread_id } = (await calls.deliver(7, 'Hello')).body
    await arrived
    await kill(first)
    provider.respond = (_, response) => respondJson(response, 200, { ok: true, result: { message_id: 5 } })
    const second = await start()
    await answered(second, task_id)
    const { thread, deliver, sentTexts } = conversationCalls(second, provider, calls.channel)
    await expect.poll(async () => (await thread(thread_id)).messages.at(-1)?.delivery).toBe('unknown')
    expect(await thread(thread_id)).toMatchObject({ unanswered: { reason: 'not_delivered', task_id } })
    expect(sentTexts()).toEqual(['You wrote: Hello'])
    const next = (await deliver(7, 'Still there?', 2)).body
    await answered(second, next.task_id)
    expect(sentTexts()).toEqual(['You wrote: Hello', 'You wrote: Still there?'])
    expect((await thread(thread_id)).unanswered).toBeNull()
  })

  onlyInMatrix(() => {
    test("killed while a member's answer is sent: it is not sent again, and its outcome is unknown", async () => {
      const { provider, start } = await openKilledService(store)
      const first = await start()
      const calls = await addConversationChannel(first, provider, { wedge: 'desk', task_type: 'fail' })
      const { thread_id } = (await calls.deliver(7, 'Hello')).body
      const arrived = new Promise<void>((resolve) => {
        provider.respond = () => resolve()
      })
      const answering = first.call('POST', `/v1/threads/${thread_id}/messages`, { body: 'On my way' }).catch(() => null)
      await arrived
      await kill(first)
      await answering
      const second = await start()
      const { thread, sentTexts } = conversationCalls(second, provider, calls.channel)
      await expect.poll(async () => (await thread(thread_id)).messages.at(-1)?.delivery).toBe('unknown')
      expect((await thread(thread_id)).unanswered).not.toBeNull()
      expect(sentTexts()).toEqual(['On my way'])
      expect((await second.call('GET', '/v1/audit/verify')).body.ok).toBe(true)
    })

    test('killed while a reply waits at the gate: it is sent once after the decision', async () => {
      const { provider, start } = await openKilledService(store)
      const first = await start()
      const calls = await addConversationChannel(first, provider, { wedge: 'desk', task_type: 'answer' })
      provider.respond = (_, response) => respondJson(response, 200, { ok: true, result: { message_id: 5 } })
      const { task_id, thread_id } = (await calls.deliver(7, 'Hello')).body
      const approval = await calls.pendingApproval(thread_id)
      await kill(first)
      const second = await start()
      const { thread, sentTexts } = conversationCalls(second, provider, calls.channel)
      expect((await thread(thread_id)).pending).toEqual([approval])
      await second.call('POST', `/v1/approvals/${approval}/approve`, { edited: { text: 'Welcome' } })
      const log = await answered(second, task_id)
      expect(log.at(-1)?.data.data.status).toBe('succeeded')
      expect(sentTexts()).toEqual(['Welcome'])
      const { body } = await second.call('GET', `/v1/tasks/${task_id}`)
      expect(body.output).toEqual({ reply: 'Welcome' })
    })
  })
})
