import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ChannelAdapter } from '../../api/client-queries.ts'
import { wedgesQuery } from '../../api/queries.ts'
import { type Connection, connectionsQuery } from '../../api/setup-queries.ts'
import { declaredNames } from '../../ui/declared-connections.ts'
import { Select } from '../../ui/form-fields.tsx'
import { adapterConnections } from './adapter-text.ts'
import { findOwnServerAction } from './takes-messages.ts'
import { channelsText } from './text.ts'

interface ReplyConnections {
  fitting: Connection[]
  /** The id of the connection to start with; empty if a person has to choose. */
  suggested: string
  isLoaded: boolean
  /** The action of a reply on a channel without a service; null: replies need no approval. */
  ownServerAction: string | null
}

/** The connections through which a service can send replies. */
export function useReplyConnections(service: ChannelAdapter | null, wedge: string): ReplyConnections {
  const { data: connections = [], isSuccess } = useQuery(connectionsQuery)
  const { data: wedges = [] } = useQuery(wedgesQuery)
  const needed = service?.connection
  const fitting = connections.filter(
    ({ kind, config }) =>
      !needed || (kind === needed.kind && (needed.provider === null || config['provider'] === needed.provider)),
  )
  const manifest = wedges.find((one) => one.wedge === wedge)?.manifest
  const declared = manifest ? declaredNames(manifest) : []
  const suggested = suggestConnection(service, fitting, declared)?.id ?? ''
  return { fitting, suggested, isLoaded: isSuccess, ownServerAction: manifest ? findOwnServerAction(manifest) : null }
}

/** One of several APIs may carry no messages at all, such as a payment provider, so it has to be chosen. */
function suggestConnection(
  service: ChannelAdapter | null,
  fitting: Connection[],
  declared: readonly string[],
): Connection | undefined {
  const ofService = fitting.find(({ name, config }) =>
    [name.toLowerCase(), config['provider']].includes(service?.adapter ?? ''),
  )
  if (ofService) return ofService
  if (service?.connection?.kind === 'custom') return undefined
  const ofWedge = fitting.find(({ name }) => declared.includes(name))
  const mail = fitting.find(({ kind }) => kind === 'email')
  return service ? (ofWedge ?? mail ?? fitting[0]) : mail
}

/** The connection that sends the replies, and how rules call them. It is not asked for where the service sends nothing. */
export function ReplyConnectionField({
  service,
  connections: { fitting, isLoaded, ownServerAction },
  value,
  onChange,
}: {
  service: ChannelAdapter | null
  connections: ReplyConnections
  value: string
  onChange: (id: string) => void
}) {
  const needed = service?.connection
  if (isLoaded && fitting.length === 0)
    return (
      <p className="text-wait">
        {needed ? channelsText.noFittingConnection(needed.kind, needed.provider) : channelsText.noConnections}{' '}
        <Link to="/connections" className="underline">
          {channelsText.createConnection}
        </Link>
      </p>
    )
  if (service && !needed)
    return (
      <p className="text-xs text-muted">
        {channelsText.shownInChat} {channelsText.replyAction(`${service.adapter}:reply`)}
      </p>
    )
  const name = fitting.find(({ id }) => id === value)?.name
  const hint = service
    ? [
        adapterConnections[service.adapter] ?? channelsText.replyThroughIt,
        name && channelsText.replyAction(`${name}:reply`),
      ]
        .filter(Boolean)
        .join(' ')
    : ownServerHint(ownServerAction)
  return (
    <Select
      required
      label={channelsText.replyConnection}
      hint={hint}
      value={value}
      options={[
        ...(value === '' ? [['', channelsText.choose] satisfies [string, string]] : []),
        ...fitting.map(({ id, name }): [string, string] => [id, name]),
      ]}
      onChange={onChange}
    />
  )
}

function ownServerHint(action: string | null): string {
  if (action === null) return channelsText.shownAtOnce
  const how = action === 'portal:reply' ? channelsText.shownInPortal : channelsText.sentByAgent
  return `${how} ${channelsText.replyAction(action)}`
}
