import { describe, expect, onTestFinished, test } from 'vitest'
import { startApp } from '../../src/server/app.ts'
import { countByStatus } from '../identity/accounts/members.ts'
import { eachStore } from '../app.ts'
import {
  type GatedApp,
  sharedGatedApp,
  advanceUntilSettled,
  gatedWedgeFiles,
} from '../approvals/decisions/gated-app.ts'
import { type ApiResponse, callApi } from '../http.ts'
import { attemptNumbers } from './rounds.ts'

const REQUESTS = 50
const WEDGES = gatedWedgeFiles('gate', { cases: { stages: ['new', 'done'], initial: 'new' } })

/** The addresses of the replicas: one with SQLite, three with PostgreSQL. */
async function startReplicas(app: GatedApp): Promise<string[]> {
  if (app.ctx.store.kind === 'sqlite') return [app.url]
  const others = await Promise.all([1, 2].map(() => startApp(app.ctx.config, app.ctx.world)))
  for (const other of others) onTestFinished(() => advanceUntilSettled(app, other.stop()))
  return [app.url, ...others.map(({ url }) => url)]
}

eachStore((store) => {
  describe('fifty identical concurrent requests', () => {
    const shared = sharedGatedApp(store, { wedges: WEDGES })

    /** Sends the same request fifty times at once, spread over all replicas. */
    async function sendAll(
      urls: string[],
      method: string,
      path: string,
      body?: object,
      headers = {},
    ): Promise<ApiResponse[]> {
      const one = (i: number) => callApi(urls[i % urls.length] ?? '', shared().key, method, path, body, { headers })
      return Promise.all(Array.from({ length: REQUESTS }, (_, i) => one(i)))
    }

    test.each(attemptNumbers(1))(
      'create one task per idempotency key and one record, and cancel, delete and close once (%d)',
      async (round) => {
        const app = shared()
        const urls = await startReplicas(app)
        const action = {
          wedge: 'gate',
          task_type: 'act',
          input: { connection: 'crm', action: 'send_note', payload: {} },
        }
        const created = await sendAll(urls, 'POST', '/v1/tasks', action, { 'idempotency-key': `concurrent ${round}` })
        expect(countByStatus(created)).toEqual({ 201: REQUESTS })
        expect(new Set(created.map(({ body }) => body.id)).size).toBe(1)
        expect(created.filter(({ headers }) => headers.get('idempotency-replayed') === null)).toHaveLength(1)
        const { id: taskId } = created[0]?.body ?? {}
        await app.events(taskId, { until: ({ event }) => event === 'approval.requested' })
        expect(countByStatus(await sendAll(urls, 'POST', `/v1/tasks/${taskId}/cancel`))).toEqual({
          200: 1,
          409: REQUESTS - 1,
        })

        const entry = { wedge: 'gate', collection: 'concurrent', key: `r${round}`, value: round }
        const put = await sendAll(urls, 'POST', '/v1/records', entry)
        expect(countByStatus(put)).toEqual({ 200: REQUESTS - 1, 201: 1 })
        expect(new Set(put.map(({ body }) => body.version)).size).toBe(REQUESTS)
        const record = put[0]?.body.id
        expect(countByStatus(await sendAll(urls, 'DELETE', `/v1/records/${record}`))).toEqual({
          204: 1,
          404: REQUESTS - 1,
        })
        expect(countByStatus(await sendAll(urls, 'POST', '/v1/records', { ...entry, version: 0 }))).toEqual({
          201: 1,
          409: REQUESTS - 1,
        })

        const opened = (await app.call('POST', '/v1/cases', { wedge: 'gate' })).body
        expect(countByStatus(await sendAll(urls, 'PUT', `/v1/cases/${opened.id}`, { status: 'closed' }))).toEqual({
          200: REQUESTS,
        })
        const { body: closed } = await app.call('GET', `/v1/cases/${opened.id}`)
        expect(closed.history.map(({ note }: { note: string }) => note)).toEqual([null, 'closed'])
        expect((await app.call('GET', '/v1/audit/verify')).body).toMatchObject({ ok: true })
      },
    )
  })
})
