import { useQuery } from '@tanstack/react-query'
import { Plug, Plus } from 'lucide-react'
import { useState } from 'react'
import { toCurl } from '../../api/http.ts'
import { type Connection, connectionsQuery } from '../../api/setup-queries.ts'
import { Button } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/page-states.tsx'
import { QueryResult } from '../../ui/query-result.tsx'
import { RequireRole } from '../../ui/role.tsx'
import { Page } from '../../ui/page.tsx'
import { BrokerDialog } from './broker.tsx'
import { ConnectionCard } from './card.tsx'
import { ConnectionForm } from './form.tsx'
import { SecretForm } from './secret.tsx'

type Open = { what: 'new' | 'broker' } | { what: 'change' | 'secret'; connection: Connection } | null

/** The doors to the outside: what agents act and read through, and whether each works. */
export function Connections() {
  const query = useQuery(connectionsQuery)
  const [open, setOpen] = useState<Open>(null)
  const close = () => setOpen(null)
  return (
    <Page
      title="Connections"
      lead="What agents act and read through. They never see a secret."
      actions={
        <RequireRole minRole="admin">
          <Button icon={<Plug size={14} />} onClick={() => setOpen({ what: 'broker' })}>
            Connect an app
          </Button>
          <Button variant="primary" icon={<Plus size={14} />} onClick={() => setOpen({ what: 'new' })}>
            New connection
          </Button>
        </RequireRole>
      }
    >
      <QueryResult query={query}>
        {(connections) =>
          connections.length === 0 ? (
            <NoConnections />
          ) : (
            <ul
              aria-label="Connections"
              className="grid grid-cols-[repeat(auto-fill,minmax(min(100%,22rem),1fr))] gap-4"
            >
              {connections.map((connection) => (
                <ConnectionCard
                  key={connection.id}
                  connection={connection}
                  onSecret={() => setOpen({ what: 'secret', connection })}
                  onChange={() => setOpen({ what: 'change', connection })}
                />
              ))}
            </ul>
          )
        }
      </QueryResult>
      {open?.what === 'new' && (
        <ConnectionForm
          onClose={close}
          onMade={(connection) => setOpen(connection.status === 'needs_secret' ? { what: 'secret', connection } : null)}
        />
      )}
      {open?.what === 'change' && <ConnectionForm connection={open.connection} onClose={close} onMade={close} />}
      {open?.what === 'secret' && <SecretForm connection={open.connection} onClose={close} />}
      {open?.what === 'broker' && <BrokerDialog onClose={close} />}
    </Page>
  )
}

function NoConnections() {
  const body = { kind: 'email', name: 'mail', config: { api_url: 'https://mail.example.com/v1/messages' } }
  return (
    <EmptyState
      title="There is no connection yet"
      minRole="admin"
      curl={toCurl('/v1/connections', { method: 'POST', body })}
    >
      A wedge names the connections it needs; register them here under these names.
    </EmptyState>
  )
}
