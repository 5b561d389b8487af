import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { fetchList, pagedQuery } from './paging.ts'

/** Types and queries of webhooks and their deliveries. */
export const WEBHOOK_EVENTS = [
  'approval.requested',
  'approval.expiring',
  'task.finished',
  'connection.failing',
  'schedule.failed',
] as const
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number]

export interface Webhook {
  id: string
  url: string
  events: WebhookEvent[]
  enabled: boolean
  previous_secret_until: string | null
}

export interface WebhookWithSecret extends Webhook {
  secret: string
}

export type DeliveryStatus = 'pending' | 'delivered' | 'failed'

export interface WebhookDelivery {
  id: string
  event: WebhookEvent
  payload: { data: { id: string } }
  status: DeliveryStatus
  attempts: number
  next_at: string | null
  last_status: number | null
  last_error: string | null
  created_at: string
}

export const webhooksQuery = queryOptions({
  queryKey: ['webhooks'],
  queryFn: ({ signal }) => fetchList<Webhook>('/v1/webhooks', { signal }),
})

const POLL_MS = 2_000

/** Keyed under `work`, and polled while a delivery is pending. */
export const deliveriesQuery = (id: string, status: DeliveryStatus | undefined) =>
  infiniteQueryOptions({
    ...pagedQuery<WebhookDelivery>(['work', 'deliveries', id, status ?? 'all'], `/v1/webhooks/${id}/deliveries`, {
      status,
    }),
    refetchInterval: ({ state }) =>
      state.data?.pages.some(({ data }) => data.some((one) => one.status === 'pending')) ? POLL_MS : false,
  })
