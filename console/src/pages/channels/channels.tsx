import { useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { type Channel, channelsQuery } from '../../api/customers.ts'
import { asCurl, call } from '../../api/http.ts'
import { connectionsQuery } from '../../api/setup.ts'
import { useWrite } from '../../api/write.ts'
import { Button } from '../../ui/button.tsx'
import { Empty } from '../../ui/empty.tsx'
import { humanize } from '../../ui/json.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { May } from '../../ui/may.tsx'
import { Page } from '../../ui/page.tsx'
import { Acts, Table } from '../../ui/table.tsx'
import { WriteButton } from '../../ui/write-button.tsx'
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
        <May least="admin">
          <Button look="primary" icon={<Plus size={14} />} onClick={() => setOpen({ what: 'new' })}>
            New channel
          </Button>
        </May>
      }
    >
      <Loaded query={query}>
        {(channels) =>
          channels.length === 0 ? (
            <NoChannels />
          ) : (
            <Table
              label="Channels"
              head={['Address', 'A message becomes', 'Answered through']}
              acts={{ name: 'Do', least: 'operator' }}
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
      </Loaded>
      {open?.what === 'new' && <ChannelForm onClose={close} onMade={(channel) => setOpen({ what: 'how', channel })} />}
      {open?.what === 'try' && <TryForm channel={open.channel} onClose={close} />}
      {open?.what === 'how' && <HandOver channel={open.channel} onClose={close} />}
    </Page>
  )
}

function ChannelRow({ channel, onTry, onHow }: { channel: Channel; onTry: () => void; onHow: () => void }) {
  const { id, address, wedge, task_type, connection_id } = channel
  const { data: connections } = useQuery(connectionsQuery)
  const remove = useWrite(() => call(`/v1/channels/${id}`, { method: 'DELETE' }), { stale: ['channels'] })
  const named = <span className="sr-only"> {address}</span>
  return (
    <tr>
      <td className="font-medium">{address}</td>
      <td>
        {humanize(task_type)}
        <span className="block text-xs text-muted">{wedge}</span>
      </td>
      <td className="text-muted">{connections?.find((one) => one.id === connection_id)?.name ?? ' '}</td>
      <Acts least="operator">
        <Button small onClick={onTry}>
          Try it{named}
        </Button>
        <Button small onClick={onHow}>
          How to send{named}
        </Button>
        <May least="admin">
          <WriteButton small look="danger" write={remove} sure={`Delete ${address}? Its conversations and tasks stay.`}>
            Delete{named}
          </WriteButton>
        </May>
      </Acts>
    </tr>
  )
}

function NoChannels() {
  const body = { connection_id: 'conn_…', address: 'help@example.com', wedge: 'inbox-triage', task_type: 'acknowledge' }
  return (
    <Empty title="Nothing comes in by itself yet" least="admin" curl={asCurl('/v1/channels', { method: 'POST', body })}>
      Bind an address to a task type. Whoever writes there becomes a client with a conversation, and each message a
      task.
    </Empty>
  )
}
