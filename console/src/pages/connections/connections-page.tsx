import { useQuery } from '@tanstack/react-query'
import { Plug, Plus } from 'lucide-react'
import { useState } from 'react'
import { toCurl } from '../../api/http.ts'
import { metaQuery } from '../../api/queries.ts'
import { type Connection, connectionsQuery } from '../../api/setup-queries.ts'
import { Button } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/page-states.tsx'
import { Page } from '../../ui/page.tsx'
import { QueryResult } from '../../ui/query-result.tsx'
import { RequireRole } from '../../ui/role.tsx'
import { ConnectAppDialog } from './connect-app.tsx'
import { ConnectionCard } from './connection-card.tsx'
import { ConnectionForm } from './connection-form.tsx'
import { SecretForm } from './secret-form.tsx'
import { connectionsText } from './text.ts'

type OpenDialog = { kind: 'new' | 'app' } | { kind: 'edit' | 'secret'; connection: Connection } | null

/** The external services that agents use, and whether each one works. */
export function ConnectionsPage() {
  const query = useQuery(connectionsQuery)
  const { data: meta } = useQuery(metaQuery)
  const [open, setOpen] = useState<OpenDialog>(null)
  const close = () => setOpen(null)
  return (
    <Page
      title={connectionsText.title}
      lead={connectionsText.lead}
      actions={
        <RequireRole minRole="admin">
          {meta?.broker.configured && (
            <Button icon={<Plug size={14} />} onClick={() => setOpen({ kind: 'app' })}>
              {connectionsText.connectApp}
            </Button>
          )}
          <Button variant="primary" icon={<Plus size={14} />} onClick={() => setOpen({ kind: 'new' })}>
            {connectionsText.newConnection}
          </Button>
        </RequireRole>
      }
    >
      <QueryResult query={query}>
        {(connections) =>
          connections.length === 0 ? (
            <NoConnections onNew={() => setOpen({ kind: 'new' })} />
          ) : (
            <ul
              aria-label={connectionsText.title}
              className="grid grid-cols-[repeat(auto-fill,minmax(min(100%,22rem),1fr))] gap-4"
            >
              {connections.map((connection) => (
                <ConnectionCard
                  key={connection.id}
                  connection={connection}
                  onSecret={() => setOpen({ kind: 'secret', connection })}
                  onEdit={() => setOpen({ kind: 'edit', connection })}
                />
              ))}
            </ul>
          )
        }
      </QueryResult>
      {open?.kind === 'new' && (
        <ConnectionForm
          onClose={close}
          onSaved={(connection) =>
            setOpen(connection.status === 'needs_secret' ? { kind: 'secret', connection } : null)
          }
        />
      )}
      {open?.kind === 'edit' && <ConnectionForm connection={open.connection} onClose={close} onSaved={close} />}
      {open?.kind === 'secret' && <SecretForm connection={open.connection} onClose={close} />}
      {open?.kind === 'app' && <ConnectAppDialog onClose={close} />}
    </Page>
  )
}

function NoConnections({ onNew }: { onNew: () => void }) {
  const body = { kind: 'email', name: 'mail', config: { provider: 'postmark', from: 'help@example.com' } }
  return (
    <EmptyState
      title={connectionsText.none}
      minRole="admin"
      action={<Button onClick={onNew}>{connectionsText.newConnection}</Button>}
      curl={toCurl('/v1/connections', { method: 'POST', body })}
    >
      {connectionsText.noneHint}
    </EmptyState>
  )
}
