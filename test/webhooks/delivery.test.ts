import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import { rotateSecretKey } from '../../src/vault/rotate-key.ts'
import { createVault } from '../../src/vault/vault.ts'
import { inTx } from '../../src/ctx/ctx.ts'
import { toIsoTime } from '../../src/ctx/world.ts'
import { queueWebhookDeliveries } from '../../src/events/webhook-events.ts'
import {
  WEBHOOK_BACKOFF_MS,
  claimDueDeliveries,
  toDeliveryOutcome,
  postWebhookDelivery,
} from '../../src/webhooks/delivery-loop.ts'
import { findWebhookUnscoped } from '../../src/webhooks/rows.ts'
import { signingSecrets } from '../../src/webhooks/secrets.ts'
import { eachStore } from '../app.ts'
import { type GatedApp, sharedGatedApp, startReplica, SECRET_KEY, stopReplica } from '../approvals/gated-app.ts'
import { respondJson } from '../fake-upstream.ts'
import {
  type ListedDelivery,
  deliveryAbout,
  atLaterTime,
  advanceUntil,
  type WebhookReceiver,
  openWebhookReceiver,
  signaturesOf,
  verifySignatures,
} from './webhook-receiver.ts'

const DAY_MS = 86_400_000

test('a notice is tried seven times over seven hours, each time after a longer pause, and then has failed', () => {
  const waits = [1, 2, 3, 4, 5, 6, 7].map((attempts) => {
    const { status, next_at } = toDeliveryOutcome({ status: 503, error: 'no' }, attempts, 0)
    return [status, next_at && Date.parse(next_at) / 1000]
  })
  const pauses = [5, 30, 120, 600, 3600, 21_600].map((seconds) => ['pending', seconds])
  expect(waits).toEqual([...pauses, ['failed', null]])
})

eachStore((store) => {
  describe('on the way', () => {
    const shared = sharedGatedApp(store)
    const open: WebhookReceiver[] = []
    let subjects = 0
    afterEach(async () => {
      for (const hook of open.splice(0)) {
        await hook.close()
        await shared().call('DELETE', `/v1/webhooks/${hook.id}`)
      }
    })
    const listen = async (): Promise<WebhookReceiver> => {
      const hook = await openWebhookReceiver(shared(), ['task.finished'])
      open.push(hook)
      return hook
    }
    /** A notice about something new. */
    const tell = async (): Promise<string> => {
      const subject = `task_${++subjects}`
      await inTx(shared().ctx, async (tx) =>
        queueWebhookDeliveries(tx, await projectOf(shared()), 'task.finished', subject),
      )
      return subject
    }

    test('what the receiver refuses comes again under the same id, after the pauses of the backoff', async () => {
      const desk = shared()
      const hook = await listen()
      hook.respond = (_seen, response) => respondJson(response, [501, 502][hook.received.length - 1] ?? 200, {})
      const subject = await tell()
      const waits: (number | null)[] = []
      for (const attempts of [1, 2]) {
        const answered = 500 + attempts
        const failed = await deliveryAbout(desk, hook, subject, ({ last_status }) => last_status === answered)
        const last_error = `the receiver answered ${answered}`
        expect(failed).toMatchObject({ status: 'pending', attempts, last_error })
        expect(hook.received).toHaveLength(attempts)
        waits.push(Date.parse(failed.next_at ?? '') / 1000)
        await advanceUntil(desk, () => toIsoTime(desk.clock.now()) >= (failed.next_at ?? ''))
      }
      const seen = await hook.arrived(subject, 3)
      expect(new Set(seen.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
      const times = seen.map(({ headers }) => Number(headers['webhook-timestamp']))
      expect(times[1]).toBeGreaterThanOrEqual(Math.floor(waits[0] ?? 0))
      expect(times[2]).toBeGreaterThanOrEqual(Math.floor(waits[1] ?? 0))
      expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual((WEBHOOK_BACKOFF_MS[0] ?? 0) / 1000)
      expect((times[2] ?? 0) - (times[1] ?? 0)).toBeGreaterThanOrEqual((WEBHOOK_BACKOFF_MS[1] ?? 0) / 1000)
      expect(seen.map((one) => verifySignatures(one, [hook.secret])[0])).toEqual([true, true, true])
      const { id } = await deliveryAbout(
        desk,
        hook,
        subject,
        ({ status, attempts }) => status === 'delivered' && attempts === 3,
      )
      expect(loggedOf(desk, id)).toEqual([
        ['notice not delivered, will be tried again', 'the receiver answered 501'],
        ['notice not delivered, will be tried again', 'the receiver answered 502'],
        ['notice delivered', undefined],
      ])
    })

    test('after the last attempt it has failed, and can be sent again by hand', async () => {
      const desk = shared()
      const hook = await listen()
      hook.respond = (_seen, response) => respondJson(response, 500, {})
      const subject = await tell()
      await inTx(desk.ctx, (tx) =>
        tx.db
          .updateTable('webhook_deliveries')
          .set({ attempts: WEBHOOK_BACKOFF_MS.length })
          .where('subject', '=', subject)
          .execute(),
      )
      const failed = await deliveryAbout(desk, hook, subject, ({ status }) => status === 'failed')
      expect(failed).toMatchObject({ attempts: 7, last_status: 500, next_at: null })
      expect(loggedOf(desk, failed.id)).toEqual([['notice not delivered, given up', 'the receiver answered 500']])
      expect((await hook.deliveries('?status=failed')).map(({ id }) => id)).toEqual([failed.id])
      hook.respond = (_seen, response) => respondJson(response, 200, {})
      const again = await desk.call('POST', `/v1/webhooks/${hook.id}/deliveries/${failed.id}/redeliver`)
      expect(again).toMatchObject({ status: 200, body: { id: failed.id, status: 'pending', attempts: 0 } })
      const [first, second] = await hook.arrived(subject, 2)
      expect(second?.body).toBe(first?.body)
      const arrived = await deliveryAbout(desk, hook, subject, ({ status }) => status === 'delivered')
      expect(arrived).toMatchObject({ id: failed.id, attempts: 1 })
      await desk.call('POST', `/v1/webhooks/${hook.id}/deliveries/${failed.id}/redeliver`)
      expect(await hook.arrived(subject, 3)).toHaveLength(3)
    })

    test('whoever dies between claim and outcome leaves a notice that another sends again under its id', async () => {
      const desk = shared()
      const hook = await listen()
      const subject = await tell()
      const [claimed] = await claimDueDeliveries(desk.ctx, hook.id)
      const webhook = await findWebhookUnscoped(desk.ctx.db, hook.id)
      if (!claimed || !webhook) throw new Error('nothing to claim')
      await postWebhookDelivery(desk.ctx, webhook, claimed)
      expect(await claimDueDeliveries(desk.ctx, hook.id)).toEqual([])
      const [first, second] = await hook.arrived(subject, 2)
      expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id'])
      const sent = await deliveryAbout(desk, hook, subject, ({ status }) => status === 'delivered')
      expect(sent).toMatchObject({ id: claimed.id, attempts: 2 })
    })

    test('of many that claim at once, each notice goes to one', async () => {
      const desk = shared()
      const hook = await listen()
      const told = [await tell(), await tell(), await tell()]
      const claims = await Promise.all(Array.from({ length: 8 }, () => claimDueDeliveries(desk.ctx, hook.id)))
      expect(
        claims
          .flat()
          .map(({ subject }) => subject)
          .toSorted(),
      ).toEqual(told.toSorted())
    })

    test('a receiver that hangs delays neither a task nor another receiver', async () => {
      const desk = shared()
      const [hanging, quick] = [await listen(), await listen()]
      hanging.respond = () => {}
      const task = await desk.createTask({ wedge: 'gate', task_type: 'tool', input: { name: 'look_up', args: {} } })
      await hanging.arrived(task.id)
      const next = await desk.createTask({ wedge: 'gate', task_type: 'tool', input: { name: 'look_up', args: {} } })
      await desk.finished(next.id)
      await quick.arrived(next.id)
      const timedOut = await deliveryAbout(desk, hanging, task.id, ({ last_error }) => last_error !== null)
      expect(timedOut).toMatchObject({ last_error: 'the server did not respond in time', last_status: null })
    })

    test('a handful of notices goes out at once, and a backlog is worked off', async () => {
      const desk = shared()
      const hook = await listen()
      const told: string[] = []
      for (let n = 0; n < 30; n++) told.push(await tell())
      await advanceUntil(desk, () => hook.received.length >= told.length)
      expect(subjectsOf(hook)).toEqual(told.toSorted())
    })

    test('redirects are not followed, and what is not there is said without its address', async () => {
      const desk = shared()
      const hook = await listen()
      hook.respond = (_seen, response) => void response.writeHead(302, { location: `${hook.url}/elsewhere` }).end()
      const redirected = await deliveryAbout(desk, hook, await tell(), ({ last_status }) => last_status !== null)
      expect(redirected).toMatchObject({ status: 'pending', last_status: 302 })
      expect(hook.received.map(({ url }) => url)).toEqual(['/in?token=t0ken'])
      await hook.close()
      const lost = await deliveryAbout(desk, hook, await tell(), ({ last_error }) => last_error !== null)
      expect(lost.last_error).toBe('the server cannot be reached (ECONNREFUSED)')
    })

    test('for a day after a rotation both secrets sign, then only the new one', async () => {
      const desk = shared()
      const hook = await listen()
      const rotated = await desk.call('POST', `/v1/webhooks/${hook.id}/rotate`)
      expect(rotated.status).toBe(200)
      const secrets = [hook.secret, rotated.body.secret]
      expect(Date.parse(rotated.body.previous_secret_until)).toBe(desk.clock.now() + DAY_MS)
      const [during] = await hook.arrived(await tell())
      expect(during && verifySignatures(during, secrets)).toEqual([true, true])
      const subject = await tell()
      await atLaterTime(desk, DAY_MS + 1_000, () => hook.arrived(subject))
      const after = hook.received.at(-1)
      expect(after && verifySignatures(after, secrets)).toEqual([false, true])
      expect(signaturesOf(after?.headers ?? {})).toHaveLength(1)
    })

    test('a new key of the vault seals the secrets of webhooks anew', async () => {
      const desk = shared()
      const hook = await listen()
      const { secret } = (await desk.call('POST', `/v1/webhooks/${hook.id}/rotate`)).body
      const webhook = await findWebhookUnscoped(desk.ctx.db, hook.id)
      const rekeyed = { ...desk.ctx, vault: createVault(Buffer.alloc(32, 9)) }
      expect((await rotateSecretKey(rekeyed, SECRET_KEY)).unreadable).toEqual([])
      expect(webhook && (await signingSecrets(rekeyed, webhook))).toEqual([secret, hook.secret])
      await rotateSecretKey(desk.ctx, Buffer.alloc(32, 9).toString('base64'))
    })

    test('a webhook that is disabled gets nothing, and nothing late when it is enabled again', async () => {
      const desk = shared()
      const hook = await listen()
      hook.respond = (_seen, response) => respondJson(response, 500, {})
      const before = await tell()
      await deliveryAbout(desk, hook, before, ({ last_status }) => last_status === 500)
      const seen = hook.received.length
      expect((await desk.call('PUT', `/v1/webhooks/${hook.id}`, { enabled: false })).body.enabled).toBe(false)
      const [given] = await hook.deliveries()
      expect(given).toMatchObject({ status: 'failed', last_error: 'the webhook was disabled' })
      await tell()
      const refused = await desk.call('POST', `/v1/webhooks/${hook.id}/deliveries/${given?.id}/redeliver`)
      expect(refused).toMatchObject({ status: 409, body: { error: 'webhook is disabled' } })
      hook.respond = (_seen, response) => respondJson(response, 200, {})
      await desk.call('PUT', `/v1/webhooks/${hook.id}`, { enabled: true })
      const after = await tell()
      await hook.arrived(after)
      expect(hook.received).toHaveLength(seen + 1)
    })

    test('a webhook that is deleted gets nothing more, also not what was waiting', async () => {
      const desk = shared()
      const hook = await listen()
      hook.respond = (_seen, response) => respondJson(response, 500, {})
      const subject = await tell()
      await deliveryAbout(desk, hook, subject, ({ last_status }) => last_status === 500)
      expect((await desk.call('DELETE', `/v1/webhooks/${hook.id}`)).status).toBe(204)
      const witness = await listen()
      await desk.clock.advance(60_000)
      await witness.arrived(await tell())
      expect(hook.received).toHaveLength(1)
      for (const table of ['webhook_deliveries', 'vault'] as const) {
        const rows = await desk.ctx.db.selectFrom(table).selectAll().execute()
        expect(JSON.stringify(rows)).not.toContain(hook.id)
      }
    })

    test.skipIf(store === 'sqlite')('with two replicas every notice goes out once', async () => {
      const desk = shared()
      const other = await startReplica(desk)
      onTestFinished(() => stopReplica(desk, other))
      const hook = await listen()
      const told: string[] = []
      for (let n = 0; n < 40; n++) told.push(await tell())
      const done = ({ status }: ListedDelivery) => status === 'delivered'
      await advanceUntil(desk, async () => (await hook.deliveries('?limit=200')).filter(done).length === told.length)
      expect(subjectsOf(hook)).toEqual(told.toSorted())
    })
  })
})

const subjectsOf = ({ received }: WebhookReceiver): string[] =>
  received.map(({ body }): string => JSON.parse(body).data.id).toSorted()

async function projectOf(desk: GatedApp): Promise<string> {
  return (await desk.call('GET', '/v1/projects')).body.data[0].id
}

/** What the log says about a delivery, and why. */
function loggedOf({ logged }: GatedApp, delivery: string): [string, string | undefined][] {
  const lines = logged.filter((line) => line.includes(delivery)).map((line) => JSON.parse(line))
  return lines.map(({ msg, why }) => [msg, why])
}
