import { useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { type Channel, channelsQuery } from '../../api/client-queries.ts'
import { toCurl, callApi } from '../../api/http.ts'
import { connectionsQuery } from '../../api/setup-queries.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { Button } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/page-states.tsx'
import { humanize } from '../../ui/humanize.ts'
import { QueryResult } from '../../ui/query-result.tsx'
import { RequireRole } from '../../ui/role.tsx'
import { Page } from '../../ui/page.tsx'
import { RowActions, Table } from '../../ui/table.tsx'
import { MutationButton } from '../../ui/mutation-button.tsx'
import { ChannelForm } from './form.tsx'
import { HandOver } from './hand-over.tsx'
import { TryForm } from './try.tsx'

type Open = { what: 'new' } | { what: 'try' | 'how'; channel: Channel } | null

/** Where work comes in by itself: an address, and the task that each of its messages asks for. */
export function Channels() {
  const query = useQuery(channelsQuery)
  const [open, setOpen] = useState<Open>(null)
  const close = () => setOpen(null)
  return (
    <Page
      title="Channels"
      lead="Where messages come in, and the work that each of them asks for."
      actions={
        <RequireRole minRole="admin">
          <Button variant="primary" icon={<Plus size={14} />} onClick={() => setOpen({ what: 'new' })}>
            New channel
          </Button>
        </RequireRole>
      }
    >
      <QueryResult query={query}>
        {(channels) =>
          channels.length === 0 ? (
            <NoChannels />
          ) : (
            <Table
              label="Channels"
              columns={['Address', 'A message becomes', 'Answered through']}
              actions={{ name: 'Do', minRole: 'operator' }}
            >
              {channels.map((channel) => (
                <ChannelRow
                  key={channel.id}
                  channel={channel}
                  onTry={() => setOpen({ what: 'try', channel })}
                  onHow={() => setOpen({ what: 'how', channel })}
                />
              ))}
            </Table>
          )
        }
      </QueryResult>
      {open?.what === 'new' && <ChannelForm onClose={close} onMade={(channel) => setOpen({ what: 'how', channel })} />}
      {open?.what === 'try' && <TryForm channel={open.channel} onClose={close} />}
      {open?.what === 'how' && <HandOver channel={open.channel} onClose={close} />}
    </Page>
  )
}

function ChannelRow({ channel, onTry, onHow }: { channel: Channel; onTry: () => void; onHow: () => void }) {
  const { id, address, wedge, task_type, connection_id } = channel
  const { data: connections } = useQuery(connectionsQuery)
  const remove = useApiMutation(() => callApi(`/v1/channels/${id}`, { method: 'DELETE' }), {
    invalidates: ['channels'],
  })
  const named = <span className="sr-only"> {address}</span>
  return (
    <tr>
      <td className="font-medium">{address}</td>
      <td>
        {humanize(task_type)}
        <span className="block text-xs text-muted">{wedge}</span>
      </td>
      <td className="text-muted">{connections?.find((one) => one.id === connection_id)?.name ?? ' '}</td>
      <RowActions minRole="operator">
        <Button small onClick={onTry}>
          Try it{named}
        </Button>
        <Button small onClick={onHow}>
          How to send{named}
        </Button>
        <RequireRole minRole="admin">
          <MutationButton
            small
            variant="danger"
            mutation={remove}
            confirmText={`Delete ${address}? Its conversations and tasks stay.`}
          >
            Delete{named}
          </MutationButton>
        </RequireRole>
      </RowActions>
    </tr>
  )
}

function NoChannels() {
  const body = { connection_id: 'conn_…', address: 'help@example.com', wedge: 'inbox-triage', task_type: 'acknowledge' }
  return (
    <EmptyState
      title="Nothing comes in by itself yet"
      minRole="admin"
      curl={toCurl('/v1/channels', { method: 'POST', body })}
    >
      Bind an address to a task type. Whoever writes there becomes a client with a conversation, and each message a
      task.
    </EmptyState>
  )
}
