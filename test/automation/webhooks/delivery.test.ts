import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import { inTx } from '../../../src/platform/ctx/ctx.ts'
import { toIsoTime } from '../../../src/platform/ctx/world.ts'
import { queueWebhookDeliveries } from '../../../src/work/events/webhook-events.ts'
import { rotateSecretKey } from '../../../src/identity/vault/rotate-key.ts'
import { createVault } from '../../../src/identity/vault/vault.ts'
import {
  claimDueDeliveries,
  postWebhookDelivery,
  toDeliveryOutcome,
  WEBHOOK_BACKOFF_MS,
} from '../../../src/automation/webhooks/delivery-loop.ts'
import { findWebhookUnscoped } from '../../../src/automation/webhooks/rows.ts'
import { signingSecrets } from '../../../src/automation/webhooks/secrets.ts'
import { eachStore } from '../../app.ts'
import {
  type GatedApp,
  SECRET_KEY,
  sharedGatedApp,
  startReplica,
  stopReplica,
} from '../../approvals/decisions/gated-app.ts'
import { respondJson } from '../../fake-upstream.ts'
import {
  advanceUntil,
  atLaterTime,
  deliveryAbout,
  type ListedDelivery,
  openWebhookReceiver,
  signaturesOf,
  verifySignatures,
  type WebhookReceiver,
} from './webhook-receiver.ts'

const DAY_MS = 86_400_000

test('a delivery is attempted seven times over seven hours with growing pauses, and then fails', () => {
  const waits = [1, 2, 3, 4, 5, 6, 7].map((attempts) => {
    const { status, next_at } = toDeliveryOutcome({ status: 503, error: 'no' }, attempts, 0)
    return [status, next_at && Date.parse(next_at) / 1000]
  })
  const pauses = [5, 30, 120, 600, 3600, 21_600].map((seconds) => ['pending', seconds])
  expect(waits).toEqual([...pauses, ['failed', null]])
})

eachStore((store) => {
  describe('deliveries', () => {
    const shared = sharedGatedApp(store)
    const receivers: WebhookReceiver[] = []
    let subjects = 0
    afterEach(async () => {
      for (const hook of receivers.splice(0)) {
        await hook.close()
        await shared().call('DELETE', `/v1/webhooks/${hook.id}`)
      }
    })
    const addReceiver = async (): Promise<WebhookReceiver> => {
      const hook = await openWebhookReceiver(shared(), ['task.finished'])
      receivers.push(hook)
      return hook
    }
    /** Queues a delivery about a new subject. */
    const queueDelivery = async (): Promise<string> => {
      const subject = `task_${++subjects}`
      const project = await projectId(shared())
      await inTx(shared().ctx, (tx) => queueWebhookDeliveries(tx, project, 'task.finished', subject))
      return subject
    }

    test('a delivery that the receiver refuses is sent again with the same id, after the backoff', async () => {
      const app = shared()
      const hook = await addReceiver()
      hook.respond = (_request, response) => respondJson(response, [501, 502][hook.received.length - 1] ?? 200, {})
      const subject = await queueDelivery()
      const waits: (number | null)[] = []
      for (const attempts of [1, 2]) {
        const responseStatus = 500 + attempts
        const failed = await deliveryAbout(app, hook, subject, ({ last_status }) => last_status === responseStatus)
        const last_error = `the receiver responded with ${responseStatus}`
        expect(failed).toMatchObject({ status: 'pending', attempts, last_error })
        expect(hook.received).toHaveLength(attempts)
        waits.push(Date.parse(failed.next_at ?? '') / 1000)
        await advanceUntil(app, () => toIsoTime(app.clock.now()) >= (failed.next_at ?? ''))
      }
      const requests = await hook.arrived(subject, 3)
      expect(new Set(requests.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
      const times = requests.map(({ headers }) => Number(headers['webhook-timestamp']))
      expect(times[1]).toBeGreaterThanOrEqual(Math.floor(waits[0] ?? 0))
      expect(times[2]).toBeGreaterThanOrEqual(Math.floor(waits[1] ?? 0))
      expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual((WEBHOOK_BACKOFF_MS[0] ?? 0) / 1000)
      expect((times[2] ?? 0) - (times[1] ?? 0)).toBeGreaterThanOrEqual((WEBHOOK_BACKOFF_MS[1] ?? 0) / 1000)
      expect(requests.map((request) => verifySignatures(request, [hook.secret])[0])).toEqual([true, true, true])
      const { id } = await deliveryAbout(
        app,
        hook,
        subject,
        ({ status, attempts }) => status === 'delivered' && attempts === 3,
      )
      expect(loggedMessages(app, id)).toEqual([
        ['webhook not delivered, will retry', 'the receiver responded with 501'],
        ['webhook not delivered, will retry', 'the receiver responded with 502'],
        ['webhook delivered', undefined],
      ])
    })

    test('a delivery fails after the last attempt and can be redelivered', async () => {
      const app = shared()
      const hook = await addReceiver()
      hook.respond = (_request, response) => respondJson(response, 500, {})
      const subject = await queueDelivery()
      await inTx(app.ctx, (tx) =>
        tx.db
          .updateTable('webhook_deliveries')
          .set({ attempts: WEBHOOK_BACKOFF_MS.length })
          .where('subject', '=', subject)
          .execute(),
      )
      const failed = await deliveryAbout(app, hook, subject, ({ status }) => status === 'failed')
      expect(failed).toMatchObject({ attempts: 7, last_status: 500, next_at: null })
      expect(loggedMessages(app, failed.id)).toEqual([
        ['webhook not delivered, gave up', 'the receiver responded with 500'],
      ])
      expect((await hook.deliveries('?status=failed')).map(({ id }) => id)).toEqual([failed.id])
      hook.respond = (_request, response) => respondJson(response, 200, {})
      const again = await app.call('POST', `/v1/webhooks/${hook.id}/deliveries/${failed.id}/redeliver`)
      expect(again).toMatchObject({ status: 200, body: { id: failed.id, status: 'pending', attempts: 0 } })
      const [first, second] = await hook.arrived(subject, 2)
      expect(second?.body).toBe(first?.body)
      const arrived = await deliveryAbout(app, hook, subject, ({ status }) => status === 'delivered')
      expect(arrived).toMatchObject({ id: failed.id, attempts: 1 })
      await app.call('POST', `/v1/webhooks/${hook.id}/deliveries/${failed.id}/redeliver`)
      expect(await hook.arrived(subject, 3)).toHaveLength(3)
    })

    test('a delivery whose sender dies between claim and outcome is sent again with the same id', async () => {
      const app = shared()
      const hook = await addReceiver()
      const subject = await queueDelivery()
      const [claimed] = await claimDueDeliveries(app.ctx, hook.id)
      const webhook = await findWebhookUnscoped(app.ctx.db, hook.id)
      if (!claimed || !webhook) throw new Error('nothing to claim')
      await postWebhookDelivery(app.ctx, webhook, claimed)
      expect(await claimDueDeliveries(app.ctx, hook.id)).toEqual([])
      const [first, second] = await hook.arrived(subject, 2)
      expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id'])
      const sent = await deliveryAbout(app, hook, subject, ({ status }) => status === 'delivered')
      expect(sent).toMatchObject({ id: claimed.id, attempts: 2 })
    })

    test('concurrent claims get each delivery once', async () => {
      const app = shared()
      const hook = await addReceiver()
      const queued = [await queueDelivery(), await queueDelivery(), await queueDelivery()]
      const claims = await Promise.all(Array.from({ length: 8 }, () => claimDueDeliveries(app.ctx, hook.id)))
      expect(
        claims
          .flat()
          .map(({ subject }) => subject)
          .toSorted(),
      ).toEqual(queued.toSorted())
    })

    test('a receiver that hangs delays neither tasks nor other receivers', async () => {
      const app = shared()
      const [hanging, quick] = [await addReceiver(), await addReceiver()]
      hanging.respond = () => {}
      const task = await app.createTask({ wedge: 'gate', task_type: 'tool', input: { name: 'look_up', args: {} } })
      await hanging.arrived(task.id)
      const next = await app.createTask({ wedge: 'gate', task_type: 'tool', input: { name: 'look_up', args: {} } })
      await app.finished(next.id)
      await quick.arrived(next.id)
      const timedOut = await deliveryAbout(app, hanging, task.id, ({ last_error }) => last_error !== null)
      expect(timedOut).toMatchObject({ last_error: 'the server did not respond in time', last_status: null })
    })

    test('several deliveries are sent at once, and a backlog is worked off', async () => {
      const app = shared()
      const hook = await addReceiver()
      const queued: string[] = []
      for (let n = 0; n < 30; n++) queued.push(await queueDelivery())
      await advanceUntil(app, () => hook.received.length >= queued.length)
      expect(subjectsOf(hook)).toEqual(queued.toSorted())
    })

    test('redirects are not followed, and the error of an unreachable receiver has no address', async () => {
      const app = shared()
      const hook = await addReceiver()
      hook.respond = (_request, response) => void response.writeHead(302, { location: `${hook.url}/elsewhere` }).end()
      const redirected = await deliveryAbout(
        app,
        hook,
        await queueDelivery(),
        ({ last_status }) => last_status !== null,
      )
      expect(redirected).toMatchObject({ status: 'pending', last_status: 302 })
      expect(hook.received.map(({ url }) => url)).toEqual(['/in?token=t0ken'])
      await hook.close()
      const unreachable = await deliveryAbout(app, hook, await queueDelivery(), ({ last_error }) => last_error !== null)
      expect(unreachable.last_error).toBe('the server cannot be reached (ECONNREFUSED)')
    })

    test('both secrets sign for 24 hours after a rotation, then only the new one', async () => {
      const app = shared()
      const hook = await addReceiver()
      const rotated = await app.call('POST', `/v1/webhooks/${hook.id}/rotate`)
      expect(rotated.status).toBe(200)
      const secrets = [hook.secret, rotated.body.secret]
      expect(Date.parse(rotated.body.previous_secret_until)).toBe(app.clock.now() + DAY_MS)
      const [during] = await hook.arrived(await queueDelivery())
      expect(during && verifySignatures(during, secrets)).toEqual([true, true])
      const subject = await queueDelivery()
      await atLaterTime(app, DAY_MS + 1_000, () => hook.arrived(subject))
      const after = hook.received.at(-1)
      expect(after && verifySignatures(after, secrets)).toEqual([false, true])
      expect(signaturesOf(after?.headers ?? {})).toHaveLength(1)
    })

    test('a rotation of the vault key re-encrypts webhook secrets', async () => {
      const app = shared()
      const hook = await addReceiver()
      const { secret } = (await app.call('POST', `/v1/webhooks/${hook.id}/rotate`)).body
      const webhook = await findWebhookUnscoped(app.ctx.db, hook.id)
      const rekeyed = { ...app.ctx, vault: createVault(Buffer.alloc(32, 9)) }
      expect((await rotateSecretKey(rekeyed, SECRET_KEY)).unreadable).toEqual([])
      expect(webhook && (await signingSecrets(rekeyed, webhook))).toEqual([secret, hook.secret])
      await rotateSecretKey(app.ctx, Buffer.alloc(32, 9).toString('base64'))
    })

    test('a disabled webhook gets nothing, and no late deliveries when it is enabled again', async () => {
      const app = shared()
      const hook = await addReceiver()
      hook.respond = (_request, response) => respondJson(response, 500, {})
      const before = await queueDelivery()
      await deliveryAbout(app, hook, before, ({ last_status }) => last_status === 500)
      const requests = hook.received.length
      expect((await app.call('PUT', `/v1/webhooks/${hook.id}`, { enabled: false })).body.enabled).toBe(false)
      const [disabled] = await hook.deliveries()
      expect(disabled).toMatchObject({ status: 'failed', last_error: 'the webhook was disabled' })
      await queueDelivery()
      const refused = await app.call('POST', `/v1/webhooks/${hook.id}/deliveries/${disabled?.id}/redeliver`)
      expect(refused).toMatchObject({ status: 409, body: { error: 'webhook is disabled' } })
      hook.respond = (_request, response) => respondJson(response, 200, {})
      await app.call('PUT', `/v1/webhooks/${hook.id}`, { enabled: true })
      const after = await queueDelivery()
      await hook.arrived(after)
      expect(hook.received).toHaveLength(requests + 1)
    })

    test('a deleted webhook gets nothing more, not even pending deliveries', async () => {
      const app = shared()
      const hook = await addReceiver()
      hook.respond = (_request, response) => respondJson(response, 500, {})
      const subject = await queueDelivery()
      await deliveryAbout(app, hook, subject, ({ last_status }) => last_status === 500)
      expect((await app.call('DELETE', `/v1/webhooks/${hook.id}`)).status).toBe(204)
      const otherReceiver = await addReceiver()
      await app.clock.advance(60_000)
      await otherReceiver.arrived(await queueDelivery())
      expect(hook.received).toHaveLength(1)
      for (const table of ['webhook_deliveries', 'vault'] as const) {
        const rows = await app.ctx.db.selectFrom(table).selectAll().execute()
        expect(JSON.stringify(rows)).not.toContain(hook.id)
      }
    })

    test.skipIf(store === 'sqlite')('two replicas send every delivery once', async () => {
      const app = shared()
      const other = await startReplica(app)
      onTestFinished(() => stopReplica(app, other))
      const hook = await addReceiver()
      const queued: string[] = []
      for (let n = 0; n < 40; n++) queued.push(await queueDelivery())
      const isDelivered = ({ status }: ListedDelivery) => status === 'delivered'
      await advanceUntil(
        app,
        async () => (await hook.deliveries('?limit=200')).filter(isDelivered).length === queued.length,
      )
      expect(subjectsOf(hook)).toEqual(queued.toSorted())
    })
  })
})

const subjectsOf = ({ received }: WebhookReceiver): string[] =>
  received.map(({ body }): string => JSON.parse(body).data.id).toSorted()

async function projectId(app: GatedApp): Promise<string> {
  return (await app.call('GET', '/v1/projects')).body.data[0].id
}

/** The log messages about a delivery, each with its reason. */
function loggedMessages({ logged }: GatedApp, delivery: string): [string, string | undefined][] {
  const lines = logged.filter((line) => line.includes(delivery)).map((line) => JSON.parse(line))
  return lines.map(({ msg, why }) => [msg, why])
}
