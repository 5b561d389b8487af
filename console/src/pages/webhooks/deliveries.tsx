import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { callApi, errorMessage } from '../../api/http.ts'
import { deliveriesQuery, type WebhookDelivery, type DeliveryStatus, type Webhook } from '../../api/webhook-queries.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { ErrorMessage, Placeholder } from '../../ui/page-states.tsx'
import { ShowMore } from '../../ui/show-more.tsx'
import { Tag } from '../../ui/status.tsx'
import { RowActions, Table } from '../../ui/table.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { TimeAgo } from '../../ui/time.tsx'
import { MutationButton } from '../../ui/mutation-button.tsx'
import { Section } from '../../ui/page.tsx'
import { formatTime } from '../../ui/format.ts'
import { SubjectLink } from '../subject-link.tsx'

type Shown = DeliveryStatus | 'all'
const TABS: { value: Shown; label: string }[] = [
  { value: 'all', label: 'All' },
  { value: 'pending', label: 'On their way' },
  { value: 'delivered', label: 'Delivered' },
  { value: 'failed', label: 'Failed' },
]

/** What was sent in the last seven days, and what came of it. */
export function Deliveries({ webhook }: { webhook: Webhook }) {
  const [status, setStatus] = useState<Shown>('all')
  const query = useInfiniteQuery(deliveriesQuery(webhook.id, status === 'all' ? undefined : status))
  const deliveries = query.data
  return (
    <Section title="Deliveries" actions={<Tabs label="Deliveries" tabs={TABS} value={status} onChange={setStatus} />}>
      {query.error && <ErrorMessage message={errorMessage(query.error)} />}
      {query.isPending && <Placeholder className="h-64" />}
      {deliveries?.length === 0 && (
        <p className="panel p-4 text-muted">{status === 'all' ? 'Nothing was sent yet.' : 'None.'}</p>
      )}
      {deliveries && deliveries.length > 0 && (
        <Table
          label="Deliveries"
          columns={['Notice', 'Outcome', 'About', 'When']}
          actions={{ name: 'Again', minRole: 'admin' }}
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
  const again = useApiMutation(
    () => callApi(`/v1/webhooks/${webhook.id}/deliveries/${id}/redeliver`, { method: 'POST' }),
    {
      invalidates: ['work'],
    },
  )
  return (
    <tr>
      <td className="font-mono text-xs whitespace-nowrap">{event}</td>
      <td>
        <Tag tone={TONES[status]}>{status === 'pending' ? 'on its way' : status}</Tag>
        <span className="block text-xs text-muted">{attempts(delivery)}</span>
      </td>
      <td className="text-xs whitespace-nowrap">
        <SubjectLink id={payload.data.id}>{aboutOf(payload.data.id)}</SubjectLink>
      </td>
      <td className="text-xs text-muted">
        <TimeAgo ts={created_at} />
      </td>
      <RowActions minRole="admin">
        <MutationButton small disabled={status === 'pending' || !webhook.enabled} mutation={again}>
          Send again<span className="sr-only"> {id}</span>
        </MutationButton>
      </RowActions>
    </tr>
  )
}

function attempts({ attempts, next_at, last_status, last_error }: WebhookDelivery): string {
  const times = attempts === 1 ? '1 attempt' : `${attempts} attempts`
  const next = next_at && attempts > 0 && `next at ${formatTime(next_at)}`
  const said = last_error ?? (last_status !== null && `HTTP ${last_status}`)
  return [times, next, said].filter(Boolean).join(', ')
}

const aboutOf = (id: string) => `${id.split('_')[0]} …${id.slice(-6)}`
