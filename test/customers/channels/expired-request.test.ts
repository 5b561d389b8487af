import { describe, expect, test } from 'vitest'
import { expireDueApprovals } from '../../../src/approvals/lifecycle/expire-approvals.ts'
import { anyStore, eachStore } from '../../app.ts'
import {
  advanceUntilSettled,
  type GatedApp,
  gatedWedgeFiles,
  requestedApprovalId,
  sharedGatedApp,
  startReplica,
  stopReplica,
} from '../../approvals/decisions/gated-app.ts'
import type { StoreKind } from '../../stores.ts'
import { createAndGetId, openPortal } from './channel-app.ts'

const WEDGES = {
  ...gatedWedgeFiles('gate', { task_types: { act: {}, answer: {} } }),
  'gate/rehearsals/answer.json': [
    { call: { tool: 'workflow', input: { name: 'archive_order', args: {} } } },
    { output: { reply: 'Your order is archived.' } },
  ],
}

/** Shorter than a lease, because the tests move the clock of all replicas by this time at once. */
const TTL_MS = 5_000

const NOTICE = /nobody decided in time/

anyStore((store) => {
  describe('a request of a client that nobody decides in time', () => {
    const shared = sharedExpiringApp(store)

    test('the client reads one message in the thread, and the team reads the same', async () => {
      const app = shared()
      const { portal, thread_id, task_id } = await openExpiredRequest(app, 'ada@example.com')
      const { body } = await portal('GET', `threads/${thread_id}`)
      expect(body.messages).toMatchObject([
        { direction: 'inbound', task_id },
        { direction: 'outbound', from: null, task_id, body: expect.stringMatching(NOTICE) },
      ])
      const thread = (await app.call('GET', `/v1/threads/${thread_id}`)).body
      expect(thread.messages.at(-1)).toMatchObject({ task_id, body: body.messages.at(-1).body, to: null })
      expect((await app.call('GET', `/v1/tasks/${task_id}`)).body).toMatchObject({
        status: 'expired',
        error: { reason: 'expired', message: expect.stringContaining('retry the task') },
      })
    })

    test('a retry answers in the same thread', async () => {
      const app = shared()
      const { portal, thread_id, task_id } = await openExpiredRequest(app, 'bo@example.com')
      const retried = await app.call('POST', `/v1/tasks/${task_id}/retry`)
      expect(retried).toMatchObject({ status: 201, body: { retry_of: task_id, thread_id } })
      const approval = await requestedApprovalId(app, retried.body.id)
      await app.call('POST', `/v1/approvals/${approval}/approve`, {})
      expect(await app.finished(retried.body.id)).toMatchObject({ status: 'succeeded' })
      const { messages } = (await portal('GET', `threads/${thread_id}`)).body
      expect(messages.at(-1)).toMatchObject({ direction: 'outbound', body: 'Your order is archived.' })
      expect(messages).toHaveLength(3)
    })

    test('a client whose task was cancelled or rejected gets no such message', async () => {
      const app = shared()
      const { portal, thread_id, task_id } = await openWaitingRequest(app, 'gil@example.com')
      await app.call('POST', `/v1/tasks/${task_id}/cancel`)
      await app.finished(task_id)
      expect((await portal('GET', `threads/${thread_id}`)).body.messages).toHaveLength(1)
    })
  })

  describe('a request of a client whose run is parked', () => {
    const shared = sharedExpiringApp(store, { SVC_PARK_AFTER_S: '1', SVC_APPROVAL_TTL_S: '3600' })

    test('expires with the same message, without a run', async () => {
      const app = shared()
      const { portal, thread_id, task_id } = await openWaitingRequest(app, 'ada@example.com')
      const parked = app.events(task_id, { until: ({ data }) => data.data.state === 'parked' })
      await advanceUntilSettled(app, parked)
      expect((await app.call('GET', `/v1/tasks/${task_id}`)).body.status).toBe('awaiting_approval')
      await expect.poll(() => app.ctx.liveRuns.all()).toEqual([])
      app.clock.jump(3_600_000)
      expect(await advanceUntilSettled(app, app.finished(task_id))).toMatchObject({ status: 'expired' })
      const { messages } = (await portal('GET', `threads/${thread_id}`)).body
      expect(messages.filter(({ body }: { body: string }) => NOTICE.test(body))).toHaveLength(1)
    })
  })

  describe('GET /v1/tasks?expired_since=', () => {
    const shared = sharedExpiringApp(store)

    test('lists tasks that expired since then and were not run again', async () => {
      const app = shared()
      const start = new Date(app.clock.now()).toISOString()
      const first = await openExpiredRequest(app, 'ada@example.com')
      const between = new Date(app.clock.now() + 1).toISOString()
      const second = await openExpiredRequest(app, 'bo@example.com')
      const cancelled = await openWaitingRequest(app, 'cy@example.com')
      await app.call('POST', `/v1/tasks/${cancelled.task_id}/cancel`)
      const list = async (query: string) => {
        const { body } = await app.call('GET', `/v1/tasks?${query}`)
        return body.data.map(({ id }: { id: string }) => id)
      }
      expect(await list(`expired_since=${start}`)).toEqual([second.task_id, first.task_id])
      expect(await list(`expired_since=${between}`)).toEqual([second.task_id])
      expect(await list(`expired_since=${start}&client_id=${first.client_id}`)).toEqual([first.task_id])
      expect(await list(`expired_since=${start}&status=failed`)).toEqual([])
      expect(await list(`expired_since=${start}&wedge=other`)).toEqual([])
      const page = (await app.call('GET', `/v1/tasks?expired_since=${start}&limit=1`)).body
      expect(page.next_cursor).toBe(second.task_id)
      expect(await list(`expired_since=${start}&limit=1&cursor=${page.next_cursor}`)).toEqual([first.task_id])

      const retried = await app.call('POST', `/v1/tasks/${second.task_id}/retry`)
      expect(await list(`expired_since=${start}`)).toEqual([first.task_id])
      await requestedApprovalId(app, retried.body.id)
      app.clock.jump(TTL_MS)
      await advanceUntilSettled(app, app.finished(retried.body.id))
      expect(await list(`expired_since=${start}`)).toEqual([retried.body.id, first.task_id])
    })

    test('a time with an offset is the same moment, and another text is refused', async () => {
      const app = shared()
      const { task_id } = await openExpiredRequest(app, 'di@example.com')
      const { finished_at } = (await app.call('GET', `/v1/tasks/${task_id}`)).body
      const inParis = new Date(Date.parse(finished_at) + 3_600_000).toISOString().replace('Z', '%2B01:00')
      const { body } = await app.call('GET', `/v1/tasks?expired_since=${inParis}`)
      expect(body.data).toMatchObject([{ id: task_id }])
      for (const text of ['', 'yesterday', '2026-01-01']) {
        const refused = await app.call('GET', `/v1/tasks?expired_since=${text}`)
        expect(refused).toMatchObject({ status: 400, body: { error: expect.stringContaining("'expired_since'") } })
      }
    })
  })
})

eachStore((store) => {
  describe('a request of a client that nobody decides in time', () => {
    const shared = sharedExpiringApp(store)

    test('several sweeps at once write the message once', async () => {
      const app = shared()
      const replicas = store === 'postgres' ? [await startReplica(app), await startReplica(app)] : []
      const sweeps = [app.ctx, app.ctx, ...replicas.map(({ ctx }) => ctx)]
      const requests = await Promise.all(
        ['cy', 'di', 'ed', 'flo'].map((name) => openWaitingRequest(app, `${name}@example.com`)),
      )
      app.clock.jump(TTL_MS)
      await Promise.all(sweeps.map(expireDueApprovals))
      for (const { portal, thread_id, task_id } of requests) {
        expect(await advanceUntilSettled(app, app.finished(task_id))).toMatchObject({ status: 'expired' })
        const { messages } = (await portal('GET', `threads/${thread_id}`)).body
        expect(messages.filter(({ body }: { body: string }) => NOTICE.test(body))).toHaveLength(1)
      }
      for (const replica of replicas) await stopReplica(app, replica)
    })
  })
})

const sharedExpiringApp = (store: StoreKind, env: Record<string, string> = {}) =>
  sharedGatedApp(store, { wedges: WEDGES, env: { SVC_APPROVAL_TTL_S: String(TTL_MS / 1000), ...env } })

/** A client with a portal session whose message started a task that waits for an approval. */
async function openWaitingRequest(app: GatedApp, handle: string) {
  const request = await openPortal({ ...app, channel: await requireChannel(app) }, handle)
  await requestedApprovalId(app, request.task_id)
  return request
}

async function openExpiredRequest(app: GatedApp, handle: string) {
  const request = await openWaitingRequest(app, handle)
  app.clock.jump(TTL_MS)
  expect(await advanceUntilSettled(app, app.finished(request.task_id))).toMatchObject({ status: 'expired' })
  return request
}

async function requireChannel(app: GatedApp): Promise<string> {
  const [channel] = (await app.call('GET', '/v1/channels')).body.data
  if (channel) return channel.id
  const connections = (await app.call('GET', '/v1/connections')).body.data
  const { id: connection_id } = connections.find(({ name }: { name: string }) => name === 'mail')
  const binding = { connection_id, address: 'help@desk.example', wedge: 'gate', task_type: 'answer' }
  return createAndGetId(app, '/v1/channels', binding)
}
