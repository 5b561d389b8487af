import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { inTx } from '../../../src/platform/ctx/ctx.ts'
import { queueWebhookDeliveries } from '../../../src/work/events/webhook-events.ts'
import { eachStore } from '../../app.ts'
import {
  type GatedApp,
  gatedWedgeFiles,
  moveClock,
  requestedApprovalId,
  sharedGatedApp,
  startAction,
} from '../../approvals/decisions/gated-app.ts'
import { respondJson } from '../../fake-upstream.ts'
import {
  advanceUntil,
  deliveryAbout,
  openWebhookReceiver,
  verifySignatures,
  type WebhookReceiver,
} from './webhook-receiver.ts'

const GONE = {
  'gone/wedge.json': { wedge: 'gone', task_types: { say: {} } },
  'gone/rehearsals/say.json': [{ output: 'here' }],
}

const SLOW = { approvals: [{ action: 'slow', ttl_s: 2 * 86_400 }] }

eachStore((store) => {
  describe('webhook events', () => {
    const shared = sharedGatedApp(store, { wedges: { ...gatedWedgeFiles('gate', SLOW), ...GONE } })
    const receivers: WebhookReceiver[] = []
    afterEach(async () => {
      for (const hook of receivers.splice(0)) {
        await shared().call('DELETE', `/v1/webhooks/${hook.id}`)
        await hook.close()
      }
    })
    const addReceiver = async (events: string[]): Promise<WebhookReceiver> => {
      const hook = await openWebhookReceiver(shared(), events)
      receivers.push(hook)
      return hook
    }

    test('a finished task sends a delivery with ids only, signed by Standard Webhooks', async () => {
      const app = shared()
      const hook = await addReceiver(['task.finished'])
      const task = await app.createTask({ wedge: 'gone', task_type: 'say' })
      const [request, ...others] = await hook.arrived(task.id)
      if (!request) throw new Error('no delivery arrived')
      expect(others).toEqual([])
      expect(request).toMatchObject({ method: 'POST', url: '/in?token=t0ken' })
      expect(request.headers['content-type']).toBe('application/json')
      const payload = JSON.parse(request.body)
      expect(payload).toEqual({
        id: expect.stringMatching(/^dlv_[0-9a-z]{26}$/),
        type: 'task.finished',
        created_at: expect.stringMatching(/^\d{4}-.+Z$/),
        data: { id: task.id },
      })
      expect(request.headers['webhook-id']).toBe(payload.id)
      expect(Math.abs(Number(request.headers['webhook-timestamp']) * 1000 - app.clock.now())).toBeLessThan(60_000)
      expect(hook.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
      expect(verifySignatures(request, [hook.secret, `whsec_${Buffer.alloc(32).toString('base64')}`])).toEqual([
        true,
        false,
      ])
      expect(
        verifySignatures({ ...request, body: request.body.replace('finished', 'started') }, [hook.secret]),
      ).toEqual([false])
      const sent = await deliveryAbout(app, hook, task.id, ({ status }) => status === 'delivered')
      expect(sent).toMatchObject({ id: payload.id, attempts: 1, last_status: 200, last_error: null, next_at: null })
      expect(sent.payload).toEqual(payload)
    })

    test('an approval sends approval.requested, and approval.expiring a minute before its expiry, once each', async () => {
      const app = shared()
      const hook = await addReceiver(['approval.requested', 'approval.expiring'])
      const task = await startAction(app)
      const id = await requestedApprovalId(app, task.id)
      const types = async (n: number) => (await hook.arrived(id, n)).map(({ body }) => JSON.parse(body).type)
      expect(await types(1)).toEqual(['approval.requested'])
      const { expires_at } = (await app.call('GET', `/v1/approvals/${id}`)).body
      await app.clock.advance(Date.parse(expires_at) - 62_000 - app.clock.now())
      expect(await types(1)).toEqual(['approval.requested'])
      expect(await types(2)).toEqual(['approval.requested', 'approval.expiring'])
      expect(Date.parse(expires_at) - app.clock.now()).toBeGreaterThan(55_000)
      await app.clock.advance(20_000)
      expect(await hook.deliveries()).toHaveLength(2)
      await app.call('POST', `/v1/approvals/${id}/approve`, {})
      await app.finished(task.id)
    })

    test('an approval that lives two days sends approval.expiring an hour before its expiry', async () => {
      const app = shared()
      const hook = await addReceiver(['approval.expiring'])
      const task = await startAction(app, { action: 'slow' })
      const id = await requestedApprovalId(app, task.id)
      await moveClock(app, 47 * 3600 - 10)
      await app.clock.advance(5_000)
      expect(await hook.deliveries()).toHaveLength(0)
      expect((await hook.arrived(id)).map(({ body }) => JSON.parse(body).type)).toEqual(['approval.expiring'])
      await app.call('POST', `/v1/approvals/${id}/approve`, {})
      expect(await app.finished(task.id)).toMatchObject({ status: 'succeeded' })
    })

    test('a connection that starts to fail sends one connection.failing, and another after a success', async () => {
      const app = shared()
      const hook = await addReceiver(['connection.failing'])
      const { data } = (await app.call('GET', '/v1/connections')).body
      const { id } = data.find(({ name }: { name: string }) => name === 'crm')
      const testConnection = (status: number) => {
        app.outside.respond = (_request, response) => respondJson(response, status, {})
        return app.call('POST', `/v1/connections/${id}/test`)
      }
      await Promise.all([testConnection(500), testConnection(500), testConnection(500)])
      await testConnection(500)
      await hook.arrived(id)
      expect(await hook.deliveries()).toHaveLength(1)
      await testConnection(200)
      await testConnection(500)
      expect(await hook.arrived(id, 2)).toHaveLength(2)
      await testConnection(200)
    })

    test('a schedule with a new error sends schedule.failed', async () => {
      const app = shared()
      const hook = await addReceiver(['schedule.failed'])
      const cadence = { kind: 'every', seconds: 60 }
      const created = await app.call('POST', '/v1/schedules', { name: 'n', wedge: 'gone', task_type: 'say', cadence })
      rmSync(join(app.dir, 'wedges', 'gone'), { recursive: true })
      await advanceUntil(app, () => app.ctx.wedges.get('gone') === undefined)
      await app.clock.advance(60_000)
      await hook.arrived(created.body.id)
      await app.clock.advance(60_000)
      await app.clock.advance(60_000)
      expect(await hook.deliveries()).toHaveLength(1)
      await app.call('DELETE', `/v1/schedules/${created.body.id}`)
    })

    test('a webhook gets only its subscribed events, and all subscribers get the same delivery id', async () => {
      const app = shared()
      const [one, two, other] = [
        await addReceiver(['task.finished']),
        await addReceiver(['task.finished', 'schedule.failed']),
        await addReceiver(['schedule.failed']),
      ]
      const task = await startAction(app)
      await app.call('POST', `/v1/approvals/${await requestedApprovalId(app, task.id)}/reject`, {})
      const [first] = await one.arrived(task.id)
      const [second] = await two.arrived(task.id)
      expect(second?.body).toBe(first?.body)
      expect(verifySignatures(first ?? noRequest, [one.secret, two.secret])).toEqual([true, false])
      expect(await other.deliveries()).toEqual([])
    })

    test('a change that is rolled back sends nothing', async () => {
      const app = shared()
      const hook = await addReceiver(['task.finished'])
      const [project] = (await app.call('GET', '/v1/projects')).body.data
      const failing = inTx(app.ctx, async (tx) => {
        await queueWebhookDeliveries(tx, project.id, 'task.finished', 'task_never')
        throw new Error('the transaction failed')
      })
      await expect(failing).rejects.toThrow('the transaction failed')
      expect(await hook.deliveries()).toEqual([])
      await inTx(app.ctx, (tx) => queueWebhookDeliveries(tx, project.id, 'task.finished', 'task_once'))
      expect(await hook.arrived('task_once')).toHaveLength(1)
    })
  })
})

const noRequest = { method: '', url: '', headers: {}, body: '' } satisfies ReturnType<
  () => GatedApp['outside']['received'][0]
>
