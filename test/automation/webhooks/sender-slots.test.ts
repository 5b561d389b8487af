import { expect, onTestFinished, test } from 'vitest'
import { inTx } from '../../../src/platform/ctx/ctx.ts'
import { queueWebhookDeliveries } from '../../../src/work/events/webhook-events.ts'
import { anyStore } from '../../app.ts'
import { gatedWedgeFiles, openGatedApp } from '../../approvals/decisions/gated-app.ts'
import { openFakeUpstream } from '../../fake-upstream.ts'
import { advanceUntil, openWebhookReceiver } from './webhook-receiver.ts'

/** The number of deliveries that are sent to a receiver at once. */
const DELIVERIES_PER_TURN = 8
const SENDER_SLOTS = 64

anyStore((store) => {
  test('more hanging receivers than sender slots delay other receivers by one turn only', async () => {
    const app = await openGatedApp(store, gatedWedgeFiles('gate'))
    const hangingReceiver = await openFakeUpstream()
    hangingReceiver.respond = () => {}
    const receiver = await openWebhookReceiver(app, ['task.finished'])
    onTestFinished(async () => {
      await Promise.all([hangingReceiver.close(), receiver.close(), app.stop(), app.outside.close()])
    })
    const queueDelivery = (project: string, subject: string) =>
      inTx(app.ctx, (tx) => queueWebhookDeliveries(tx, project, 'task.finished', subject))
    const ownProject = (await app.call('GET', '/v1/projects')).body.data[0].id
    const founder = { email: 'a@example.com', password: 'correct horse battery', organisation: 'Other' }
    const key = (await app.call('POST', '/v1/auth/signup', founder)).body.session_token
    const projects: string[] = []
    for (let n = 0; n < 4; n++) {
      const project = (await app.call('POST', '/v1/projects', { name: `p${n}` }, { key })).body.id
      const options = { key, headers: { 'x-svc-project': project } }
      for (let h = 0; h < 20; h++) {
        const hook = { url: `${hangingReceiver.url}/${n}/${h}`, events: ['task.finished'] }
        expect((await app.call('POST', '/v1/webhooks', hook, options)).status).toBe(201)
      }
      projects.push(project)
    }
    for (let n = 0; n < 6 * DELIVERIES_PER_TURN; n++)
      await Promise.all(projects.map((project) => queueDelivery(project, `task_${n}`)))
    await advanceUntil(app, () => new Set(hangingReceiver.received.map(({ url }) => url)).size >= SENDER_SLOTS)
    const before = hangingReceiver.received.length
    await queueDelivery(ownProject, 'task_of_other_project')
    await receiver.arrived('task_of_other_project')
    const requestsAfter = new Map<string, number>()
    for (const { url } of hangingReceiver.received.slice(before))
      requestsAfter.set(url, (requestsAfter.get(url) ?? 0) + 1)
    expect(Math.max(0, ...requestsAfter.values())).toBeLessThanOrEqual(2 * DELIVERIES_PER_TURN)
  })
})
