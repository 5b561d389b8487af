import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call, messageOf } from '../../api/http.ts'
import { deliveriesQuery, type Delivery, type DeliveryStatus, type Webhook } from '../../api/webhooks.ts'
import { useWrite } from '../../api/write.ts'
import { Failure, Waiting } from '../../ui/empty.tsx'
import { More } from '../../ui/more.tsx'
import { Tag } from '../../ui/status.tsx'
import { Acts, Section, Table } from '../../ui/table.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { Ago, clockTime } from '../../ui/time.tsx'
import { WriteButton } from '../../ui/write-button.tsx'
import { Subject } from '../subject.tsx'

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
      {query.error && <Failure message={messageOf(query.error)} />}
      {query.isPending && <Waiting className="h-64" />}
      {deliveries?.length === 0 && (
        <p className="panel p-4 text-muted">{status === 'all' ? 'Nothing was sent yet.' : 'None.'}</p>
      )}
      {deliveries && deliveries.length > 0 && (
        <Table
          label="Deliveries"
          head={['Notice', 'Outcome', 'About', 'When']}
          acts={{ name: 'Again', least: 'admin' }}
        >
          {deliveries.map((delivery) => (
            <DeliveryRow key={delivery.id} webhook={webhook} delivery={delivery} />
          ))}
        </Table>
      )}
      <More query={query} />
    </Section>
  )
}

const TONES = { pending: 'run', delivered: 'ok', failed: 'bad' } as const

function DeliveryRow({ webhook, delivery }: { webhook: Webhook; delivery: Delivery }) {
  const { id, event, payload, status, created_at } = delivery
  const again = useWrite(() => call(`/v1/webhooks/${webhook.id}/deliveries/${id}/redeliver`, { method: 'POST' }), {
    stale: ['work'],
  })
  return (
    <tr>
      <td className="font-mono text-xs whitespace-nowrap">{event}</td>
      <td>
        <Tag tone={TONES[status]}>{status === 'pending' ? 'on its way' : status}</Tag>
        <span className="block text-xs text-muted">{attempts(delivery)}</span>
      </td>
      <td className="text-xs whitespace-nowrap">
        <Subject id={payload.data.id}>{aboutOf(payload.data.id)}</Subject>
      </td>
      <td className="text-xs text-muted">
        <Ago ts={created_at} />
      </td>
      <Acts least="admin">
        <WriteButton small disabled={status === 'pending' || !webhook.enabled} write={again}>
          Send again<span className="sr-only"> {id}</span>
        </WriteButton>
      </Acts>
    </tr>
  )
}

function attempts({ attempts, next_at, last_status, last_error }: Delivery): string {
  const times = attempts === 1 ? '1 attempt' : `${attempts} attempts`
  const next = next_at && attempts > 0 && `next at ${clockTime(next_at)}`
  const said = last_error ?? (last_status !== null && `HTTP ${last_status}`)
  return [times, next, said].filter(Boolean).join(', ')
}

const aboutOf = (id: string) => `${id.split('_')[0]} …${id.slice(-6)}`
