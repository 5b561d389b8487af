import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { callOperation, errorMessage } from '../../api/http.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { deliveriesQuery, type DeliveryStatus, type Webhook, type WebhookDelivery } from '../../api/webhook-queries.ts'
import { formatTime } from '../../ui/format.ts'
import { MutationButton } from '../../ui/mutation-button.tsx'
import { ErrorMessage, Placeholder } from '../../ui/page-states.tsx'
import { Section } from '../../ui/page.tsx'
import { ShowMore } from '../../ui/show-more.tsx'
import { Tag } from '../../ui/status.tsx'
import { RowActions, Table } from '../../ui/table.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { TimeAgo } from '../../ui/time.tsx'
import { SubjectLink } from '../subject-link.tsx'
import { webhooksText } from './text.ts'

type StatusFilter = DeliveryStatus | 'all'
const TABS: { value: StatusFilter; label: string }[] = [
  { value: 'all', label: webhooksText.allDeliveries },
  { value: 'pending', label: webhooksText.deliveryStatus.pending },
  { value: 'delivered', label: webhooksText.deliveryStatus.delivered },
  { value: 'failed', label: webhooksText.deliveryStatus.failed },
]

/** The deliveries of the last seven days, with their attempts and outcome. */
export function DeliveryList({ webhook }: { webhook: Webhook }) {
  const [status, setStatus] = useState<StatusFilter>('all')
  const query = useInfiniteQuery(deliveriesQuery(webhook.id, status === 'all' ? undefined : status))
  const deliveries = query.data
  return (
    <Section
      title={webhooksText.deliveries}
      actions={<Tabs label={webhooksText.deliveries} tabs={TABS} value={status} onChange={setStatus} />}
    >
      {query.error && <ErrorMessage message={errorMessage(query.error)} />}
      {query.isPending && <Placeholder className="h-64" />}
      {deliveries?.length === 0 && (
        <p className="panel p-4 text-muted">{status === 'all' ? webhooksText.noDeliveries : webhooksText.noMatch}</p>
      )}
      {deliveries && deliveries.length > 0 && (
        <Table
          label={webhooksText.deliveries}
          columns={webhooksText.columns}
          actions={{ name: webhooksText.actions, minRole: 'admin' }}
        >
          {deliveries.map((delivery) => (
            <DeliveryRow key={delivery.id} webhook={webhook} delivery={delivery} />
          ))}
        </Table>
      )}
      <ShowMore query={query} />
    </Section>
  )
}

const TONES = { pending: 'run', delivered: 'ok', failed: 'bad' } as const

function DeliveryRow({ webhook, delivery }: { webhook: Webhook; delivery: WebhookDelivery }) {
  const { id, event, payload, status, created_at } = delivery
  const retry = useApiMutation(() => callOperation('redeliverWebhook', { id: webhook.id, delivery: id }), {
    invalidates: ['work'],
  })
  return (
    <tr>
      <td className="font-mono text-xs whitespace-nowrap">{event}</td>
      <td>
        <Tag tone={TONES[status]}>{webhooksText.deliveryStatus[status]}</Tag>
        <span className="block text-xs text-muted">{describeAttempts(delivery)}</span>
      </td>
      <td className="text-xs whitespace-nowrap">
        <SubjectLink id={payload.data.id}>{shortId(payload.data.id)}</SubjectLink>
      </td>
      <td className="text-xs text-muted">
        <TimeAgo ts={created_at} />
      </td>
      <RowActions minRole="admin">
        <MutationButton small disabled={status === 'pending' || !webhook.enabled} mutation={retry}>
          {webhooksText.retry}
          <span className="sr-only"> {id}</span>
        </MutationButton>
      </RowActions>
    </tr>
  )
}

function describeAttempts({ attempts, next_at, last_status, last_error }: WebhookDelivery): string {
  const next = next_at && attempts > 0 && webhooksText.nextAttempt(formatTime(next_at))
  const result = last_error ?? (last_status !== null && webhooksText.httpStatus(last_status))
  return [webhooksText.attempts(attempts), next, result].filter(Boolean).join(', ')
}

const shortId = (id: string) => `${id.split('_')[0]} …${id.slice(-6)}`
