import { z } from 'zod'
import { notFound } from '../../platform/base/problem.ts'
import type { Scope } from '../../platform/ctx/scope.ts'
import { pageQueryById, pageSchema, toPage } from '../../platform/http/page.ts'
import {
  createdResponse,
  defineRead,
  defineWrite,
  type FindInput,
  findInScope,
  nameRoutes,
  noContentResponse,
} from '../../platform/http/route.ts'
import type { WebhookDeliveryRow } from '../../platform/store/tables.ts'
import { findDelivery, listDeliveries } from './delivery-rows.ts'
import { findWebhook, listWebhooks } from './rows.ts'
import {
  DELIVERY_STATUSES,
  DeliveryView,
  toDeliveryView,
  toWebhookView,
  WebhookView,
  WebhookWithSecretView,
} from './view.ts'
import {
  changeWebhook,
  createWebhook,
  redeliverWebhook,
  removeWebhook,
  rotateWebhookSecret,
  type WebhookAndSecret,
  WebhookChange,
  WebhookInput,
} from './webhooks.ts'

const webhookInScope = findInScope('webhook', findWebhook)

async function deliveryInScope({ ctx, scope, params }: FindInput<Scope>): Promise<WebhookDeliveryRow> {
  const delivery = await findDelivery(ctx.db, scope.projectIds, params.id ?? '', params.delivery ?? '')
  if (!delivery) throw notFound('delivery')
  return delivery
}

const toWebhookWithSecretView = ({ webhook, secret }: WebhookAndSecret) => ({ ...toWebhookView(webhook), secret })

export const webhookRoutes = nameRoutes({
  listWebhooks: defineRead('/v1/webhooks', {
    summary: 'List webhooks, newest first',
    description: 'Without their secrets, which are shown only when a webhook is created or its secret is rotated.',
    query: z.object(pageQueryById('hook')),
    longRead: true,
    responses: { 200: pageSchema(WebhookView) },
    async handle({ ctx, scope, query }) {
      return toPage(await listWebhooks(ctx.db, scope.projectIds, query), query.limit, (row) => row.id, toWebhookView)
    },
  }),

  createWebhook: defineWrite('POST', '/v1/webhooks', {
    summary: 'Create a webhook',
    description: 'Events are posted to the URL, signed with a secret that is shown only in this response.',
    role: 'admin',
    body: WebhookInput,
    responses: { 201: WebhookWithSecretView },
    async handle({ ctx, scope, body }) {
      const created = await createWebhook(ctx, scope, body)
      return createdResponse(`/v1/webhooks/${created.webhook.id}`, toWebhookWithSecretView(created))
    },
  }),

  getWebhook: defineRead('/v1/webhooks/:id', {
    summary: 'Read a webhook',
    description: 'Without its secret. `GET /v1/webhooks/{id}/deliveries` says whether its receiver answers.',
    responses: { 200: WebhookView },
    find: webhookInScope,
    handle: async ({ subject }) => toWebhookView(subject),
  }),

  updateWebhook: defineWrite('PUT', '/v1/webhooks/:id', {
    summary: 'Update a webhook',
    description: 'Fields that are left out keep their value.',
    role: 'admin',
    body: WebhookChange,
    responses: { 200: WebhookView },
    find: webhookInScope,
    handle: async ({ ctx, scope, subject, body }) => toWebhookView(await changeWebhook(ctx, scope, subject, body)),
  }),

  deleteWebhook: defineWrite('DELETE', '/v1/webhooks/:id', {
    summary: 'Delete a webhook',
    description: 'Pending deliveries are dropped.',
    role: 'admin',
    responses: { 204: z.null() },
    find: webhookInScope,
    async handle({ ctx, scope, subject }) {
      await removeWebhook(ctx, scope, subject)
      return noContentResponse()
    },
  }),

  rotateWebhookSecret: defineWrite('POST', '/v1/webhooks/:id/rotate', {
    summary: 'Rotate the secret of a webhook',
    description: 'The old secret stays valid for 24 hours.',
    role: 'admin',
    responses: { 200: WebhookWithSecretView },
    find: webhookInScope,
    handle: async ({ ctx, scope, subject }) => toWebhookWithSecretView(await rotateWebhookSecret(ctx, scope, subject)),
  }),

  listWebhookDeliveries: defineRead('/v1/webhooks/:id/deliveries', {
    summary: 'List recent webhook deliveries, newest first',
    description:
      'The deliveries of the last seven days, with the attempts and the last answer of your server. `status=failed` lists those that were given up and can be sent again.',
    query: z.object({ status: z.enum(DELIVERY_STATUSES).optional(), ...pageQueryById('dlv') }),
    longRead: true,
    responses: { 200: pageSchema(DeliveryView) },
    find: webhookInScope,
    async handle({ ctx, subject, query }) {
      return toPage(await listDeliveries(ctx.db, subject.id, query), query.limit, (row) => row.id, toDeliveryView)
    },
  }),

  redeliverWebhook: defineWrite('POST', '/v1/webhooks/:id/deliveries/:delivery/redeliver', {
    summary: 'Redeliver a webhook event',
    description: 'It keeps its `webhook-id`.',
    role: 'admin',
    responses: { 200: DeliveryView },
    find: deliveryInScope,
    handle: async ({ ctx, scope, subject }) => toDeliveryView(await redeliverWebhook(ctx, scope, subject)),
  }),
})
