import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { toText } from '../../api/json.ts'
import type { Connection } from '../../api/setup-queries.ts'
import { capitalize } from '../../ui/humanize.ts'
import { RequireRole } from '../../ui/role.tsx'
import { Tag } from '../../ui/status.tsx'
import { TimeAgo } from '../../ui/time.tsx'
import { ConnectDialog } from './connect/lazy-connect-dialog.tsx'
import { RepairButton, TestButton } from './connection-actions.tsx'
import { ConnectionForm } from './connection-form.tsx'
import { connectionsText } from './text.ts'

/** A connection in the list: whether it works and, if not, the button that repairs it. The name opens its page. */
export function ConnectionCard({ connection }: { connection: Connection }) {
  const { id, name, kind, config, status, client_id, last_error } = connection
  const [connecting, setConnecting] = useState(false)
  const [editing, setEditing] = useState(false)
  const url = [config['api_url'], config['base_url'], config['url'], config['toolkit'], config['host']].find(Boolean)
  return (
    <li className="panel relative flex flex-col gap-3 p-4 hover:border-line-strong">
      <div className="flex items-center gap-2">
        <h2 className="truncate font-semibold">
          <Link
            to="/connections/$connectionId"
            params={{ connectionId: id }}
            className="after:absolute after:inset-0 hover:underline"
          >
            {name}
          </Link>
        </h2>
        <Tag>{connectionsText.kinds[kind]}</Tag>
        <span className="ml-auto">
          <StatusTag connection={connection} />
        </span>
      </div>
      <p className="truncate font-mono text-xs text-muted">{toText(url) || connectionsText.noUrl}</p>
      {client_id && <p className="text-xs text-muted">{connectionsText.clientOwned(client_id)}</p>}
      <LastUse connection={connection} />
      <RequireRole minRole="admin">
        {/* Above the link that covers the card. */}
        <div className="relative mt-auto flex flex-wrap gap-2 self-start">
          <TestButton connection={connection} />
          {(status !== 'connected' || last_error !== null) && (
            <RepairButton
              connection={connection}
              onConnect={() => setConnecting(true)}
              onEdit={() => setEditing(true)}
            />
          )}
        </div>
      </RequireRole>
      {connecting && <ConnectDialog start={{ connection, name }} onClose={() => setConnecting(false)} />}
      {editing && <ConnectionForm connection={connection} onClose={() => setEditing(false)} />}
    </li>
  )
}

export function StatusTag({ connection: { status, last_error, last_ok_at } }: { connection: Connection }) {
  if (status === 'connected' && last_error !== null) return <Tag tone="bad">{connectionsText.failing}</Tag>
  if (status === 'connected' && last_ok_at === null) return <Tag>{connectionsText.notTested}</Tag>
  return <Tag tone={status === 'connected' ? 'ok' : 'wait'}>{connectionsText.status[status]}</Tag>
}

function LastUse({ connection: { last_ok_at, last_error } }: { connection: Connection }) {
  if (last_error) return <p className="line-clamp-2 text-xs break-words text-bad">{capitalize(last_error)}</p>
  if (!last_ok_at) return <p className="text-xs text-muted">{connectionsText.notUsed}</p>
  return (
    <p className="text-xs text-muted">
      {connectionsText.lastSuccess} <TimeAgo ts={last_ok_at} />
    </p>
  )
}
