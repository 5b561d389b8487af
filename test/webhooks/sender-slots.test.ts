import { expect, onTestFinished, test } from 'vitest'
import { inTx } from '../../src/ctx/ctx.ts'
import { queueWebhookDeliveries } from '../../src/events/webhook-events.ts'
import { eachStore } from '../app.ts'
import { openGatedApp, gatedWedgeFiles } from '../approvals/gated-app.ts'
import { openFakeUpstream } from '../fake-upstream.ts'
import { advanceUntil, openWebhookReceiver } from './webhook-receiver.ts'

/** What goes to a receiver at once. */
const HANDFUL = 8
const SEATS = 64

eachStore((store) => {
  test('more receivers than there are seats hang, and keep others waiting for one turn only', async () => {
    const desk = await openGatedApp(store, gatedWedgeFiles('gate'))
    const hole = await openFakeUpstream()
    hole.respond = () => {}
    const good = await openWebhookReceiver(desk, ['task.finished'])
    onTestFinished(async () => {
      await Promise.all([hole.close(), good.close(), desk.stop(), desk.outside.close()])
    })
    const tell = (project: string, subject: string) =>
      inTx(desk.ctx, (tx) => queueWebhookDeliveries(tx, project, 'task.finished', subject))
    const own = (await desk.call('GET', '/v1/projects')).body.data[0].id
    const founder = { email: 'a@example.com', password: 'correct horse battery', organisation: 'Other' }
    const key = (await desk.call('POST', '/v1/auth/signup', founder)).body.session_token
    const projects: string[] = []
    for (let n = 0; n < 4; n++) {
      const project = (await desk.call('POST', '/v1/projects', { name: `p${n}` }, { key })).body.id
      const as = { key, headers: { 'x-svc-project': project } }
      for (let h = 0; h < 20; h++) {
        const hook = { url: `${hole.url}/${n}/${h}`, events: ['task.finished'] }
        expect((await desk.call('POST', '/v1/webhooks', hook, as)).status).toBe(201)
      }
      projects.push(project)
    }
    for (let n = 0; n < 6 * HANDFUL; n++) await Promise.all(projects.map((project) => tell(project, `task_${n}`)))
    await advanceUntil(desk, () => new Set(hole.received.map(({ url }) => url)).size >= SEATS)
    const before = hole.received.length
    await tell(own, 'task_of_somebody_else')
    await good.arrived('task_of_somebody_else')
    const since = new Map<string, number>()
    for (const { url } of hole.received.slice(before)) since.set(url, (since.get(url) ?? 0) + 1)
    expect(Math.max(0, ...since.values())).toBeLessThanOrEqual(2 * HANDFUL)
  })
})
