import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { fetchList, pagedQuery } from './paging.ts'
import type { Schemas } from './types.ts'

/** Types and queries of webhooks and their deliveries. */
export type Webhook = Schemas.Webhook

export type WebhookEvent = Webhook['events'][number]

export const WEBHOOK_EVENTS = [
  'approval.requested',
  'approval.expiring',
  'task.finished',
  'connection.failing',
  'connection.tools_changed',
  'schedule.failed',
] as const satisfies WebhookEvent[]

export type WebhookWithSecret = Schemas.WebhookWithSecret

export type WebhookDelivery = Schemas.WebhookDelivery
export type DeliveryStatus = WebhookDelivery['status']

export const webhooksQuery = queryOptions({
  queryKey: ['webhooks'],
  queryFn: ({ signal }) => fetchList('listWebhooks', {}, { signal }),
})

const POLL_MS = 2_000

/** Keyed under `work`, and polled while a delivery is pending. */
export const deliveriesQuery = (id: string, status: DeliveryStatus | undefined) =>
  infiniteQueryOptions({
    ...pagedQuery(['work', 'deliveries', id, status ?? 'all'], 'listWebhookDeliveries', { id, status }),
    refetchInterval: ({ state }) =>
      state.data?.pages.some(({ data }) => data.some((one) => one.status === 'pending')) ? POLL_MS : false,
  })
