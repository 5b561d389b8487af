import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { inTx } from '../../src/ctx/ctx.ts'
import { queueWebhookDeliveries } from '../../src/events/webhook-events.ts'
import { eachStore } from '../app.ts'
import {
  type GatedApp,
  gatedWedgeFiles,
  requestedApprovalId,
  sharedGatedApp,
  startAction,
} from '../approvals/gated-app.ts'
import { respondJson } from '../fake-upstream.ts'
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

eachStore((store) => {
  describe('webhook events', () => {
    const shared = sharedGatedApp(store, { wedges: { ...gatedWedgeFiles('gate'), ...GONE } })
    const open: WebhookReceiver[] = []
    afterEach(async () => {
      for (const hook of open.splice(0)) {
        await shared().call('DELETE', `/v1/webhooks/${hook.id}`)
        await hook.close()
      }
    })
    const listen = async (events: string[]): Promise<WebhookReceiver> => {
      const hook = await openWebhookReceiver(shared(), events)
      open.push(hook)
      return hook
    }

    test('a finished task sends a delivery with ids only, signed by Standard Webhooks', async () => {
      const app = shared()
      const hook = await listen(['task.finished'])
      const task = await app.createTask({ wedge: 'gone', task_type: 'say' })
      const [seen, ...more] = await hook.arrived(task.id)
      if (!seen) throw new Error('nothing came')
      expect(more).toEqual([])
      expect(seen).toMatchObject({ method: 'POST', url: '/in?token=t0ken' })
      expect(seen.headers['content-type']).toBe('application/json')
      const said = JSON.parse(seen.body)
      expect(said).toEqual({
        id: expect.stringMatching(/^dlv_[0-9a-z]{26}$/),
        type: 'task.finished',
        created_at: expect.stringMatching(/^\d{4}-.+Z$/),
        data: { id: task.id },
      })
      expect(seen.headers['webhook-id']).toBe(said.id)
      expect(Math.abs(Number(seen.headers['webhook-timestamp']) * 1000 - app.clock.now())).toBeLessThan(60_000)
      expect(hook.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
      expect(verifySignatures(seen, [hook.secret, `whsec_${Buffer.alloc(32).toString('base64')}`])).toEqual([
        true,
        false,
      ])
      expect(verifySignatures({ ...seen, body: seen.body.replace('finished', 'started') }, [hook.secret])).toEqual([
        false,
      ])
      const sent = await deliveryAbout(app, hook, task.id, ({ status }) => status === 'delivered')
      expect(sent).toMatchObject({ id: said.id, attempts: 1, last_status: 200, last_error: null, next_at: null })
      expect(sent.payload).toEqual(said)
    })

    test('an approval sends approval.requested, and approval.expiring a minute before its expiry, once each', async () => {
      const app = shared()
      const hook = await listen(['approval.requested', 'approval.expiring'])
      const task = await startAction(app)
      const id = await requestedApprovalId(app, task.id)
      const types = async (n: number) => (await hook.arrived(id, n)).map(({ body }) => JSON.parse(body).type)
      expect(await types(1)).toEqual(['approval.requested'])
      const { expires_at } = (await app.call('GET', `/v1/approvals/${id}`)).body
      app.clock.jump(Date.parse(expires_at) - 62_000 - app.clock.now())
      expect(await types(1)).toEqual(['approval.requested'])
      expect(await types(2)).toEqual(['approval.requested', 'approval.expiring'])
      expect(Date.parse(expires_at) - app.clock.now()).toBeGreaterThan(55_000)
      await app.clock.advance(20_000)
      expect(await hook.deliveries()).toHaveLength(2)
      await app.call('POST', `/v1/approvals/${id}/approve`, {})
      await app.finished(task.id)
    })

    test('a connection that starts to fail sends one connection.failing, and another after a success', async () => {
      const app = shared()
      const hook = await listen(['connection.failing'])
      const { data } = (await app.call('GET', '/v1/connections')).body
      const { id } = data.find(({ name }: { name: string }) => name === 'crm')
      const tried = (status: number) => {
        app.outside.respond = (_seen, response) => respondJson(response, status, {})
        return app.call('POST', `/v1/connections/${id}/test`)
      }
      await Promise.all([tried(500), tried(500), tried(500)])
      await tried(500)
      await hook.arrived(id)
      expect(await hook.deliveries()).toHaveLength(1)
      await tried(200)
      await tried(500)
      expect(await hook.arrived(id, 2)).toHaveLength(2)
      await tried(200)
    })

    test('a schedule with a new error sends schedule.failed', async () => {
      const app = shared()
      const hook = await listen(['schedule.failed'])
      const cadence = { kind: 'every', seconds: 60 }
      const made = await app.call('POST', '/v1/schedules', { name: 'n', wedge: 'gone', task_type: 'say', cadence })
      rmSync(join(app.dir, 'wedges', 'gone'), { recursive: true })
      await advanceUntil(app, () => app.ctx.wedges.get('gone') === undefined)
      await app.clock.advance(60_000)
      await hook.arrived(made.body.id)
      await app.clock.advance(60_000)
      await app.clock.advance(60_000)
      expect(await hook.deliveries()).toHaveLength(1)
      await app.call('DELETE', `/v1/schedules/${made.body.id}`)
    })

    test('a webhook gets only its subscribed events, and all subscribers get the same delivery id', async () => {
      const app = shared()
      const [one, two, other] = [
        await listen(['task.finished']),
        await listen(['task.finished', 'schedule.failed']),
        await listen(['schedule.failed']),
      ]
      const task = await startAction(app)
      await app.call('POST', `/v1/approvals/${await requestedApprovalId(app, task.id)}/reject`, {})
      const [first] = await one.arrived(task.id)
      const [second] = await two.arrived(task.id)
      expect(second?.body).toBe(first?.body)
      expect(verifySignatures(first ?? nothing, [one.secret, two.secret])).toEqual([true, false])
      expect(await other.deliveries()).toEqual([])
    })

    test('a change that is rolled back sends nothing', async () => {
      const app = shared()
      const hook = await listen(['task.finished'])
      const [project] = (await app.call('GET', '/v1/projects')).body.data
      const failing = inTx(app.ctx, async (tx) => {
        await queueWebhookDeliveries(tx, project.id, 'task.finished', 'task_never')
        throw new Error('the rest went wrong')
      })
      await expect(failing).rejects.toThrow('the rest went wrong')
      expect(await hook.deliveries()).toEqual([])
      await inTx(app.ctx, (tx) => queueWebhookDeliveries(tx, project.id, 'task.finished', 'task_once'))
      expect(await hook.arrived('task_once')).toHaveLength(1)
    })
  })
})

const nothing = { method: '', url: '', headers: {}, body: '' } satisfies ReturnType<
  () => GatedApp['outside']['received'][0]
>
