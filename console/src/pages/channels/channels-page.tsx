import { useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { type Channel, channelAdaptersQuery, channelsQuery } from '../../api/client-queries.ts'
import { callOperation, toCurl } from '../../api/http.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { Button } from '../../ui/button.tsx'
import { capitalize, humanize } from '../../ui/humanize.ts'
import { MutationButton } from '../../ui/mutation-button.tsx'
import { EmptyState } from '../../ui/page-states.tsx'
import { Page } from '../../ui/page.tsx'
import { QueryResult } from '../../ui/query-result.tsx'
import { RequireRole } from '../../ui/role.tsx'
import { RowActions, Table } from '../../ui/table.tsx'
import { TimeAgo } from '../../ui/time.tsx'
import { adapterNames } from './adapter-text.ts'
import { ChannelForm } from './channel-form.tsx'
import { ChannelSetup } from './channel-setup.tsx'
import { TestMessageForm } from './test-message-form.tsx'
import { channelsText } from './text.ts'

type OpenDialog = { kind: 'new' } | { kind: 'test' | 'setup' | 'edit'; channel: Channel } | null

/** Addresses at which messages arrive, and the task type that each message starts. */
export function ChannelsPage() {
  const query = useQuery(channelsQuery)
  const [open, setOpen] = useState<OpenDialog>(null)
  const close = () => setOpen(null)
  return (
    <Page
      title={channelsText.title}
      lead={channelsText.lead}
      actions={
        <RequireRole minRole="admin">
          <Button variant="primary" icon={<Plus size={14} />} onClick={() => setOpen({ kind: 'new' })}>
            {channelsText.newChannel}
          </Button>
        </RequireRole>
      }
    >
      <QueryResult query={query}>
        {(channels) =>
          channels.length === 0 ? (
            <NoChannels onNew={() => setOpen({ kind: 'new' })} />
          ) : (
            <Table
              label={channelsText.title}
              columns={channelsText.columns}
              actions={{ name: channelsText.actions, minRole: 'operator' }}
            >
              {channels.map((channel) => (
                <ChannelRow
                  key={channel.id}
                  channel={channel}
                  onTest={() => setOpen({ kind: 'test', channel })}
                  onSetup={() => setOpen({ kind: 'setup', channel })}
                  onEdit={() => setOpen({ kind: 'edit', channel })}
                />
              ))}
            </Table>
          )
        }
      </QueryResult>
      {open?.kind === 'new' && (
        <ChannelForm onClose={close} onSaved={(channel) => setOpen({ kind: 'setup', channel })} />
      )}
      {open?.kind === 'edit' && <ChannelForm channel={open.channel} onClose={close} onSaved={close} />}
      {open?.kind === 'test' && <TestMessageForm channel={open.channel} onClose={close} />}
      {open?.kind === 'setup' && (
        <ChannelSetup
          channel={open.channel}
          onEdit={() => setOpen({ kind: 'edit', channel: open.channel })}
          onClose={close}
        />
      )}
    </Page>
  )
}

function ChannelRow({
  channel,
  onTest,
  onSetup,
  onEdit,
}: {
  channel: Channel
  onTest: () => void
  onSetup: () => void
  onEdit: () => void
}) {
  const { id, address, wedge, task_type, adapter, last_received_at } = channel
  const remove = useApiMutation(() => callOperation('deleteChannel', { id }), {
    invalidates: ['channels'],
  })
  const hiddenName = <span className="sr-only"> {address}</span>
  return (
    <tr>
      <td className="font-medium">{address}</td>
      <td>
        {adapter === null ? channelsText.ownServer : (adapterNames[adapter] ?? humanize(adapter))}
        <ChannelProblem channel={channel} />
      </td>
      <td>
        {humanize(task_type)}
        <span className="block text-xs text-muted">{wedge}</span>
      </td>
      <td className="text-muted">
        {last_received_at ? <TimeAgo ts={last_received_at} /> : channelsText.neverReceived}
      </td>
      <RowActions minRole="operator">
        <Button small onClick={onTest}>
          {channelsText.sendTest}
          {hiddenName}
        </Button>
        <Button small onClick={onSetup}>
          {channelsText.setup}
          {hiddenName}
        </Button>
        <RequireRole minRole="admin">
          <Button small onClick={onEdit}>
            {channelsText.edit}
            {hiddenName}
          </Button>
          <MutationButton small variant="danger" mutation={remove} confirmText={channelsText.confirmDelete(address)}>
            {channelsText.delete}
            {hiddenName}
          </MutationButton>
        </RequireRole>
      </RowActions>
    </tr>
  )
}

/** Why the channel receives nothing, if it is known. */
function ChannelProblem({ channel: { adapter, has_secret, last_error } }: { channel: Channel }) {
  const { data: adapters } = useQuery(channelAdaptersQuery)
  const needsSecret = adapters?.find((one) => one.adapter === adapter)?.secret != null && !has_secret
  if (last_error) return <span className="block text-xs text-bad">{capitalize(last_error)}</span>
  return needsSecret ? <span className="block text-xs text-wait">{channelsText.noSecret}</span> : null
}

function NoChannels({ onNew }: { onNew: () => void }) {
  const body = { connection_id: 'conn_…', address: 'help@example.com', wedge: 'inbox-triage', task_type: 'acknowledge' }
  return (
    <EmptyState
      title={channelsText.none}
      minRole="admin"
      action={<Button onClick={onNew}>{channelsText.newChannel}</Button>}
      curl={toCurl('createChannel', { body })}
    >
      {channelsText.noneHint}
    </EmptyState>
  )
}
