import { describe, expect, onTestFinished, test } from 'vitest'
import { startApp } from '../../src/app.ts'
import { countByStatus } from '../accounts/members.ts'
import { eachStore } from '../app.ts'
import { type GatedApp, sharedGatedApp, advanceUntilSettled, gatedWedgeFiles } from '../approvals/gated-app.ts'
import { type ApiResponse, callApi } from '../http.ts'
import { attemptNumbers } from './rounds.ts'

const STORM = 50
const WEDGES = gatedWedgeFiles('gate', { cases: { stages: ['new', 'done'], initial: 'new' } })

/** The doors of the deployment: three replicas where there can be more than one. */
async function doors(desk: GatedApp): Promise<string[]> {
  if (desk.ctx.store.kind === 'sqlite') return [desk.url]
  const others = await Promise.all([1, 2].map(() => startApp(desk.ctx.config, desk.ctx.world)))
  for (const app of others) onTestFinished(() => advanceUntilSettled(desk, app.stop()))
  return [desk.url, ...others.map(({ url }) => url)]
}

eachStore((store) => {
  describe('fifty times the same request at once', () => {
    const shared = sharedGatedApp(store, { wedges: WEDGES })

    /** The same request, through all doors. */
    async function storm(
      urls: string[],
      method: string,
      path: string,
      body?: object,
      headers = {},
    ): Promise<ApiResponse[]> {
      const one = (i: number) => callApi(urls[i % urls.length] ?? '', shared().key, method, path, body, { headers })
      return Promise.all(Array.from({ length: STORM }, (_, i) => one(i)))
    }

    test.each(attemptNumbers(1))(
      'makes one task with one key, one record, one end of each thing (%d)',
      async (round) => {
        const desk = shared()
        const urls = await doors(desk)
        const say = { wedge: 'gate', task_type: 'act', input: { connection: 'crm', action: 'send_note', payload: {} } }
        const made = await storm(urls, 'POST', '/v1/tasks', say, { 'idempotency-key': `storm ${round}` })
        expect(countByStatus(made)).toEqual({ 201: STORM })
        expect(new Set(made.map(({ body }) => body.id)).size).toBe(1)
        expect(made.filter(({ headers }) => headers.get('idempotency-replayed') === null)).toHaveLength(1)
        const { id: taskId } = made[0]?.body ?? {}
        await desk.events(taskId, { until: ({ event }) => event === 'approval.requested' })
        expect(countByStatus(await storm(urls, 'POST', `/v1/tasks/${taskId}/cancel`))).toEqual({
          200: 1,
          409: STORM - 1,
        })

        const entry = { wedge: 'gate', collection: 'storm', key: `r${round}`, value: round }
        const put = await storm(urls, 'POST', '/v1/records', entry)
        expect(countByStatus(put)).toEqual({ 200: STORM - 1, 201: 1 })
        expect(new Set(put.map(({ body }) => body.version)).size).toBe(STORM)
        const record = put[0]?.body.id
        expect(countByStatus(await storm(urls, 'DELETE', `/v1/records/${record}`))).toEqual({ 204: 1, 404: STORM - 1 })
        expect(countByStatus(await storm(urls, 'POST', '/v1/records', { ...entry, version: 0 }))).toEqual({
          201: 1,
          409: STORM - 1,
        })

        const opened = (await desk.call('POST', '/v1/cases', { wedge: 'gate' })).body
        expect(countByStatus(await storm(urls, 'PUT', `/v1/cases/${opened.id}`, { status: 'closed' }))).toEqual({
          200: STORM,
        })
        const { body: closed } = await desk.call('GET', `/v1/cases/${opened.id}`)
        expect(closed.history.map(({ note }: { note: string }) => note)).toEqual([null, 'closed'])
        expect((await desk.call('GET', '/v1/audit/verify')).body).toMatchObject({ ok: true })
      },
    )
  })
})
