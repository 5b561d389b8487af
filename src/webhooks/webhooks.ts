import { z } from 'zod'
import { lockProject } from '../accounts/project-rows.ts'
import { audit } from '../audit/append.ts'
import { badRequest, conflict, notFound } from '../base/problem.ts'
import { reachOf } from '../connections/addresses.ts'
import { urlProblem } from '../connections/egress.ts'
import { type Ctx, inTx, type Tx } from '../ctx/ctx.ts'
import type { ProjectScope } from '../ctx/scope.ts'
import { isoNow, isoTime } from '../ctx/world.ts'
import { NOTICES } from '../events/notices.ts'
import type { WebhookDeliveries, Webhooks } from '../store/tables.ts'
import { failPending, queueAgain } from './delivery-rows.ts'
import { eventsOf } from './record.ts'
import { countWebhooks, dropWebhook, insertWebhook, lockWebhook, setWebhook } from './rows.ts'
import { dropSecrets, keepAsPrevious, newSecret } from './secrets.ts'

export const WebhookInput = z.object({
  url: z.string().max(2000),
  events: z.array(z.enum(NOTICES)).min(1).max(100),
  enabled: z.boolean().optional(),
})
export type WebhookInput = z.infer<typeof WebhookInput>

/** What is left out stays. */
export const WebhookChange = WebhookInput.partial()
export type WebhookChange = z.infer<typeof WebhookChange>

/** Every task that ends writes a row for each webhook that listens. */
const MOST = 20
const OVERLAP_MS = 24 * 60 * 60 * 1000

export type WithSecret = { webhook: Webhooks; secret: string }

export async function createWebhook(ctx: Ctx, scope: ProjectScope, input: WebhookInput): Promise<WithSecret> {
  checkUrl(ctx, input.url)
  const now = isoNow(ctx)
  const webhook: Webhooks = {
    id: ctx.world.newId('hook'),
    project_id: scope.projectId,
    url: input.url,
    events: eventsText(input.events),
    enabled: input.enabled === false ? 0 : 1,
    previous_until: null,
    created_at: now,
    updated_at: now,
  }
  return inTx(ctx, async (tx) => {
    await lockProject(tx.db, scope.projectId)
    if ((await countWebhooks(tx.db, scope.projectId)) >= MOST) throw conflict(`a project has at most ${MOST} webhooks`)
    await insertWebhook(tx.db, webhook)
    const secret = await newSecret(tx, webhook)
    await tell(tx, scope, 'webhook.created', webhook)
    return { webhook, secret }
  })
}

/** Changes a webhook. What is still on its way when it is switched off has failed, and can be sent again by hand. */
export async function changeWebhook(
  ctx: Ctx,
  scope: ProjectScope,
  { id }: Webhooks,
  change: WebhookChange,
): Promise<Webhooks> {
  if (change.url !== undefined) checkUrl(ctx, change.url)
  return inTx(ctx, async (tx) => {
    const before = await held(tx, id)
    const enabled = change.enabled === undefined ? before.enabled : change.enabled ? 1 : 0
    const webhook: Webhooks = {
      ...before,
      url: change.url ?? before.url,
      events: change.events ? eventsText(change.events) : before.events,
      enabled,
      updated_at: isoNow(tx),
    }
    await setWebhook(tx.db, webhook)
    if (enabled === 0) await failPending(tx.db, id, 'the webhook was disabled')
    await tell(tx, scope, 'webhook.updated', webhook)
    return webhook
  })
}

export function deleteWebhook(ctx: Ctx, scope: ProjectScope, webhook: Webhooks): Promise<void> {
  return inTx(ctx, async (tx) => {
    if (!(await dropWebhook(tx.db, webhook.id))) throw notFound('webhook')
    await dropSecrets(tx, webhook)
    await tell(tx, scope, 'webhook.deleted', webhook)
  })
}

/** A new secret. The old one signs beside it for a day, so that the receiver can change over without losing any. */
export function rotateSecret(ctx: Ctx, scope: ProjectScope, { id }: Webhooks): Promise<WithSecret> {
  return inTx(ctx, async (tx) => {
    const before = await held(tx, id)
    const now = tx.world.clock.now()
    const kept = await keepAsPrevious(tx, before)
    const previous_until = kept ? isoTime(now + OVERLAP_MS) : null
    const webhook: Webhooks = { ...before, previous_until, updated_at: isoTime(now) }
    const secret = await newSecret(tx, webhook)
    await setWebhook(tx.db, webhook)
    await tell(tx, scope, 'webhook.rotated', webhook)
    return { webhook, secret }
  })
}

/** Sends a notice once more, under the id that it had. */
export function redeliver(ctx: Ctx, scope: ProjectScope, found: WebhookDeliveries): Promise<WebhookDeliveries> {
  return inTx(ctx, async (tx) => {
    const webhook = await held(tx, found.webhook_id)
    if (webhook.enabled === 0) throw conflict('webhook is disabled')
    const delivery = await queueAgain(tx.db, webhook.id, found.id, isoNow(tx))
    if (!delivery) throw notFound('delivery')
    await audit(tx, webhook.project_id, scope.actor, 'webhook.redelivered', webhook.id, { delivery: found.id })
    return delivery
  })
}

async function held(tx: Tx, id: string): Promise<Webhooks> {
  const webhook = await lockWebhook(tx.db, id)
  if (!webhook) throw notFound('webhook')
  return webhook
}

/** Paths and queries of such addresses often hold a token, so only the host is told. */
async function tell(tx: Tx, scope: ProjectScope, action: string, webhook: Webhooks): Promise<void> {
  const data = { host: new URL(webhook.url).host, events: eventsOf(webhook), enabled: webhook.enabled === 1 }
  await audit(tx, webhook.project_id, scope.actor, action, webhook.id, data)
}

function checkUrl(ctx: Ctx, url: string): void {
  const problem = urlProblem(reachOf(ctx.config.egressAllow), url)
  if (problem) throw badRequest(`field 'url' cannot be used: ${problem}`)
}

const eventsText = (events: WebhookInput['events']): string => JSON.stringify([...new Set(events)])
