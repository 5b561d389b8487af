import { expect, onTestFinished, test } from 'vitest'
import { inTx } from '../../src/ctx/ctx.ts'
import { queueWebhookDeliveries } from '../../src/events/webhook-events.ts'
import { eachStore } from '../app.ts'
import { gatedWedgeFiles, openGatedApp } from '../approvals/gated-app.ts'
import { openFakeUpstream } from '../fake-upstream.ts'
import { advanceUntil, openWebhookReceiver } from './webhook-receiver.ts'

/** The number of deliveries that are sent to a receiver at once. */
const DELIVERIES_PER_TURN = 8
const SENDER_SLOTS = 64

eachStore((store) => {
  test('more hanging receivers than sender slots delay other receivers by one turn only', async () => {
    const app = await openGatedApp(store, gatedWedgeFiles('gate'))
    const hole = await openFakeUpstream()
    hole.respond = () => {}
    const good = await openWebhookReceiver(app, ['task.finished'])
    onTestFinished(async () => {
      await Promise.all([hole.close(), good.close(), app.stop(), app.outside.close()])
    })
    const tell = (project: string, subject: string) =>
      inTx(app.ctx, (tx) => queueWebhookDeliveries(tx, project, 'task.finished', subject))
    const own = (await app.call('GET', '/v1/projects')).body.data[0].id
    const founder = { email: 'a@example.com', password: 'correct horse battery', organisation: 'Other' }
    const key = (await app.call('POST', '/v1/auth/signup', founder)).body.session_token
    const projects: string[] = []
    for (let n = 0; n < 4; n++) {
      const project = (await app.call('POST', '/v1/projects', { name: `p${n}` }, { key })).body.id
      const as = { key, headers: { 'x-svc-project': project } }
      for (let h = 0; h < 20; h++) {
        const hook = { url: `${hole.url}/${n}/${h}`, events: ['task.finished'] }
        expect((await app.call('POST', '/v1/webhooks', hook, as)).status).toBe(201)
      }
      projects.push(project)
    }
    for (let n = 0; n < 6 * DELIVERIES_PER_TURN; n++)
      await Promise.all(projects.map((project) => tell(project, `task_${n}`)))
    await advanceUntil(app, () => new Set(hole.received.map(({ url }) => url)).size >= SENDER_SLOTS)
    const before = hole.received.length
    await tell(own, 'task_of_somebody_else')
    await good.arrived('task_of_somebody_else')
    const since = new Map<string, number>()
    for (const { url } of hole.received.slice(before)) since.set(url, (since.get(url) ?? 0) + 1)
    expect(Math.max(0, ...since.values())).toBeLessThanOrEqual(2 * DELIVERIES_PER_TURN)
  })
})
