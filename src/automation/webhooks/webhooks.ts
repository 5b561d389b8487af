import { z } from 'zod'
import { lockProject } from '../../identity/organisations/project-rows.ts'
import { appendAuditEntry } from '../../audit/append.ts'
import { badRequest, conflict, notFound } from '../../platform/base/problem.ts'
import { type Ctx, inTx, type Tx } from '../../platform/ctx/ctx.ts'
import type { ProjectScope } from '../../platform/ctx/scope.ts'
import { isoNow, toIsoTime } from '../../platform/ctx/world.ts'
import { findUrlProblem } from '../../platform/egress/http-client.ts'
import { WEBHOOK_EVENTS } from '../../work/events/webhook-events.ts'
import type { WebhookDeliveryRow, WebhookRow } from '../../platform/store/tables.ts'
import { updateDeliveryRequeued, updatePendingDeliveriesFailed } from './delivery-rows.ts'
import { countWebhooks, deleteWebhookWithDeliveries, insertWebhook, lockWebhook, updateWebhook } from './rows.ts'
import { createWebhookSecret, keepPreviousSecret, removeWebhookSecrets } from './secrets.ts'
import { parseWebhookEvents } from './view.ts'

export const WebhookInput = z.object({
  url: z.string().min(1).max(2000),
  events: z.array(z.enum(WEBHOOK_EVENTS)).min(1).max(100),
  enabled: z.boolean().optional(),
})
export type WebhookInput = z.infer<typeof WebhookInput>

/** A field that is left out keeps its value. */
export const WebhookChange = WebhookInput.partial()
export type WebhookChange = z.infer<typeof WebhookChange>

/** Per project, because every finished task writes one row for each subscribed webhook. */
const MAX_WEBHOOKS = 20
const SECRET_OVERLAP_MS = 24 * 60 * 60 * 1000

export type WebhookAndSecret = { webhook: WebhookRow; secret: string }

export async function createWebhook(ctx: Ctx, scope: ProjectScope, input: WebhookInput): Promise<WebhookAndSecret> {
  checkWebhookUrl(ctx, input.url)
  const now = isoNow(ctx)
  const webhook: WebhookRow = {
    id: ctx.world.newId('hook'),
    project_id: scope.projectId,
    url: input.url,
    events: stringifyEvents(input.events),
    enabled: input.enabled === false ? 0 : 1,
    previous_until: null,
    created_at: now,
    updated_at: now,
  }
  return inTx(ctx, async (tx) => {
    await lockProject(tx.db, scope.projectId)
    if ((await countWebhooks(tx.db, scope.projectId)) >= MAX_WEBHOOKS)
      throw conflict(`a project has at most ${MAX_WEBHOOKS} webhooks`)
    await insertWebhook(tx.db, webhook)
    const secret = await createWebhookSecret(tx, webhook)
    await auditWebhook(tx, scope, 'webhook.created', webhook)
    return { webhook, secret }
  })
}

/** Changes a webhook. Disabling it fails its pending deliveries; they can be redelivered by request. */
export async function changeWebhook(
  ctx: Ctx,
  scope: ProjectScope,
  { id }: WebhookRow,
  change: WebhookChange,
): Promise<WebhookRow> {
  if (change.url !== undefined) checkWebhookUrl(ctx, change.url)
  return inTx(ctx, async (tx) => {
    const before = await requireLockedWebhook(tx, id)
    const enabled = change.enabled === undefined ? before.enabled : change.enabled ? 1 : 0
    const webhook: WebhookRow = {
      ...before,
      url: change.url ?? before.url,
      events: change.events ? stringifyEvents(change.events) : before.events,
      enabled,
      updated_at: isoNow(tx),
    }
    await updateWebhook(tx.db, webhook)
    if (enabled === 0) await updatePendingDeliveriesFailed(tx.db, id, 'the webhook was disabled')
    await auditWebhook(tx, scope, 'webhook.updated', webhook)
    return webhook
  })
}

export function removeWebhook(ctx: Ctx, scope: ProjectScope, webhook: WebhookRow): Promise<void> {
  return inTx(ctx, async (tx) => {
    if (!(await deleteWebhookWithDeliveries(tx.db, webhook.id))) throw notFound('webhook')
    await removeWebhookSecrets(tx, webhook)
    await auditWebhook(tx, scope, 'webhook.deleted', webhook)
  })
}

/** Creates a new secret. The old one also signs for 24 hours, so that the receiver can switch without a gap. */
export function rotateWebhookSecret(ctx: Ctx, scope: ProjectScope, { id }: WebhookRow): Promise<WebhookAndSecret> {
  return inTx(ctx, async (tx) => {
    const before = await requireLockedWebhook(tx, id)
    const now = tx.world.clock.now()
    const hasPrevious = await keepPreviousSecret(tx, before)
    const previous_until = hasPrevious ? toIsoTime(now + SECRET_OVERLAP_MS) : null
    const webhook: WebhookRow = { ...before, previous_until, updated_at: toIsoTime(now) }
    const secret = await createWebhookSecret(tx, webhook)
    await updateWebhook(tx.db, webhook)
    await auditWebhook(tx, scope, 'webhook.rotated', webhook)
    return { webhook, secret }
  })
}

/** Sends a delivery again, with the same id. */
export function redeliverWebhook(
  ctx: Ctx,
  scope: ProjectScope,
  { id, webhook_id }: WebhookDeliveryRow,
): Promise<WebhookDeliveryRow> {
  return inTx(ctx, async (tx) => {
    const webhook = await requireLockedWebhook(tx, webhook_id)
    if (webhook.enabled === 0) throw conflict('webhook is disabled')
    const delivery = await updateDeliveryRequeued(tx.db, webhook.id, id, isoNow(tx))
    if (!delivery) throw notFound('delivery')
    await appendAuditEntry(tx, webhook.project_id, scope.actor, 'webhook.redelivered', webhook.id, {
      delivery: id,
    })
    return delivery
  })
}

async function requireLockedWebhook(tx: Tx, id: string): Promise<WebhookRow> {
  const webhook = await lockWebhook(tx.db, id)
  if (!webhook) throw notFound('webhook')
  return webhook
}

/** The audit entry names only the host, because the path or query of a webhook url often holds a token. */
async function auditWebhook(tx: Tx, scope: ProjectScope, action: string, webhook: WebhookRow): Promise<void> {
  const data = { host: new URL(webhook.url).host, events: parseWebhookEvents(webhook), enabled: webhook.enabled === 1 }
  await appendAuditEntry(tx, webhook.project_id, scope.actor, action, webhook.id, data)
}

function checkWebhookUrl(ctx: Ctx, url: string): void {
  const problem = findUrlProblem(ctx.config.egressAllow, url)
  if (problem) throw badRequest(`field 'url' cannot be used: ${problem}`)
}

const stringifyEvents = (events: WebhookInput['events']): string => JSON.stringify([...new Set(events)])
