import { z } from 'zod'
import { notFound } from '../base/problem.ts'
import type { Scope } from '../ctx/scope.ts'
import { page, pageById, pageOf } from '../http/page.ts'
import { created, type Finding, inScope, noContent, read, write, nameRoutes } from '../http/route.ts'
import type { WebhookDeliveries } from '../store/tables.ts'
import { findDelivery, listDeliveries } from './delivery-rows.ts'
import {
  DELIVERY_STATUSES,
  DeliveryRecord,
  showDelivery,
  showWebhook,
  WebhookRecord,
  WebhookWithSecret,
} from './record.ts'
import { findWebhook, listWebhooks } from './rows.ts'
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  redeliver,
  rotateSecret,
  WebhookChange,
  WebhookInput,
  type WithSecret,
} from './webhooks.ts'

const webhookInScope = inScope('webhook', findWebhook)

async function deliveryInScope({ ctx, scope, params }: Finding<Scope>): Promise<WebhookDeliveries> {
  const delivery = await findDelivery(ctx.db, scope.projectIds, params.id ?? '', params.delivery ?? '')
  if (!delivery) throw notFound('delivery')
  return delivery
}

const withSecret = ({ webhook, secret }: WithSecret) => ({ ...showWebhook(webhook), secret })

export const webhookRoutes = nameRoutes({
  listWebhooks: read('/v1/webhooks', {
    summary: 'List webhooks, newest first',
    query: z.object(pageById('hook')),
    answers: { 200: pageOf(WebhookRecord) },
    async handle({ ctx, scope, query }) {
      return page(await listWebhooks(ctx.db, scope.projectIds, query), query.limit, (row) => row.id, showWebhook)
    },
  }),

  createWebhook: write('POST', '/v1/webhooks', {
    summary: 'Have notices sent to a url, signed with the secret that this answers once',
    role: 'admin',
    body: WebhookInput,
    answers: { 201: WebhookWithSecret },
    async handle({ ctx, scope, body }) {
      const made = await createWebhook(ctx, scope, body)
      return created(`/v1/webhooks/${made.webhook.id}`, withSecret(made))
    },
  }),

  getWebhook: read('/v1/webhooks/:id', {
    summary: 'Read a webhook',
    answers: { 200: WebhookRecord },
    find: webhookInScope,
    handle: async ({ subject }) => showWebhook(subject),
  }),

  updateWebhook: write('PUT', '/v1/webhooks/:id', {
    summary: 'Change a webhook; what is left out stays',
    role: 'admin',
    body: WebhookChange,
    answers: { 200: WebhookRecord },
    find: webhookInScope,
    handle: async ({ ctx, scope, subject, body }) => showWebhook(await changeWebhook(ctx, scope, subject, body)),
  }),

  deleteWebhook: write('DELETE', '/v1/webhooks/:id', {
    summary: 'Delete a webhook with all that is on its way to it',
    role: 'admin',
    answers: { 204: z.null() },
    find: webhookInScope,
    async handle({ ctx, scope, subject }) {
      await deleteWebhook(ctx, scope, subject)
      return noContent()
    },
  }),

  rotateWebhookSecret: write('POST', '/v1/webhooks/:id/rotate', {
    summary: 'Give a webhook a new secret; the old one signs beside it for a day',
    role: 'admin',
    answers: { 200: WebhookWithSecret },
    find: webhookInScope,
    handle: async ({ ctx, scope, subject }) => withSecret(await rotateSecret(ctx, scope, subject)),
  }),

  listWebhookDeliveries: read('/v1/webhooks/:id/deliveries', {
    summary: 'What was sent to a webhook of late, newest first',
    query: z.object({ status: z.enum(DELIVERY_STATUSES).optional(), ...pageById('dlv') }),
    answers: { 200: pageOf(DeliveryRecord) },
    find: webhookInScope,
    async handle({ ctx, subject, query }) {
      return page(await listDeliveries(ctx.db, subject.id, query), query.limit, (row) => row.id, showDelivery)
    },
  }),

  redeliverWebhook: write('POST', '/v1/webhooks/:id/deliveries/:delivery/redeliver', {
    summary: 'Send a notice once more, under the same webhook-id',
    role: 'admin',
    answers: { 200: DeliveryRecord },
    find: deliveryInScope,
    handle: async ({ ctx, scope, subject }) => showDelivery(await redeliver(ctx, scope, subject)),
  }),
})
