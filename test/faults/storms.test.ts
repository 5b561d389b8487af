import { describe, expect, onTestFinished, test } from 'vitest'
import { startApp } from '../../src/app.ts'
import { tally } from '../accounts/people.ts'
import { eachStore } from '../app.ts'
import { type Desk, desks, passing, wedgeFiles } from '../approvals/desk.ts'
import { type Answered, call } from '../http.ts'
import { tries } from './rounds.ts'

const STORM = 50
const WEDGES = wedgeFiles('gate', { cases: { stages: ['new', 'done'], initial: 'new' } })

/** The doors of the deployment: three replicas where there can be more than one. */
async function doors(desk: Desk): Promise<string[]> {
  if (desk.ctx.store.kind === 'sqlite') return [desk.url]
  const others = await Promise.all([1, 2].map(() => startApp(desk.ctx.config, desk.ctx.world)))
  for (const app of others) onTestFinished(() => passing(desk, app.stop()))
  return [desk.url, ...others.map(({ url }) => url)]
}

eachStore((store) => {
  describe('fifty times the same request at once', () => {
    const shared = desks(store, { wedges: WEDGES })

    /** The same request, through all doors. */
    async function storm(
      urls: string[],
      method: string,
      path: string,
      body?: object,
      headers = {},
    ): Promise<Answered[]> {
      const one = (i: number) => call(urls[i % urls.length] ?? '', shared().key, method, path, body, { headers })
      return Promise.all(Array.from({ length: STORM }, (_, i) => one(i)))
    }

    test.each(tries(1))('makes one task with one key, one record, one end of each thing (%d)', async (round) => {
      const desk = shared()
      const urls = await doors(desk)
      const say = { wedge: 'gate', task_type: 'act', input: { connection: 'crm', action: 'send_note', payload: {} } }
      const made = await storm(urls, 'POST', '/v1/tasks', say, { 'idempotency-key': `storm ${round}` })
      expect(tally(made)).toEqual({ 201: STORM })
      expect(new Set(made.map(({ body }) => body.id)).size).toBe(1)
      expect(made.filter(({ headers }) => headers.get('idempotency-replayed') === null)).toHaveLength(1)
      const { id: taskId } = made[0]?.body ?? {}
      await desk.events(taskId, { until: ({ event }) => event === 'approval.requested' })
      expect(tally(await storm(urls, 'POST', `/v1/tasks/${taskId}/cancel`))).toEqual({ 200: 1, 409: STORM - 1 })

      const entry = { wedge: 'gate', collection: 'storm', key: `r${round}`, value: round }
      const put = await storm(urls, 'POST', '/v1/records', entry)
      expect(tally(put)).toEqual({ 200: STORM - 1, 201: 1 })
      expect(new Set(put.map(({ body }) => body.version)).size).toBe(STORM)
      const record = put[0]?.body.id
      expect(tally(await storm(urls, 'DELETE', `/v1/records/${record}`))).toEqual({ 204: 1, 404: STORM - 1 })
      expect(tally(await storm(urls, 'POST', '/v1/records', { ...entry, version: 0 }))).toEqual({
        201: 1,
        409: STORM - 1,
      })

      const opened = (await desk.call('POST', '/v1/cases', { wedge: 'gate' })).body
      expect(tally(await storm(urls, 'PUT', `/v1/cases/${opened.id}`, { status: 'closed' }))).toEqual({ 200: STORM })
      const { body: closed } = await desk.call('GET', `/v1/cases/${opened.id}`)
      expect(closed.history.map(({ note }: { note: string }) => note)).toEqual([null, 'closed'])
      expect((await desk.call('GET', '/v1/audit/verify')).body).toMatchObject({ ok: true })
    })
  })
})
