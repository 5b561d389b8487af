import { useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { toCurl } from '../../api/http.ts'
import { connectionsQuery } from '../../api/setup-queries.ts'
import { Button } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/page-states.tsx'
import { Page } from '../../ui/page.tsx'
import { QueryResult } from '../../ui/query-result.tsx'
import { RequireRole } from '../../ui/role.tsx'
import { ConnectDialog } from './connect/lazy-connect-dialog.tsx'
import { ConnectionCard } from './connection-card.tsx'
import { connectionsText } from './text.ts'

/** The external services that agents use, and whether each one works. */
export function ConnectionsPage() {
  const query = useQuery(connectionsQuery)
  const [connecting, setConnecting] = useState(false)
  return (
    <Page
      title={connectionsText.title}
      lead={connectionsText.lead}
      actions={
        <RequireRole minRole="admin">
          <Button variant="primary" icon={<Plus size={14} />} onClick={() => setConnecting(true)}>
            {connectionsText.newConnection}
          </Button>
        </RequireRole>
      }
    >
      <QueryResult query={query}>
        {(connections) =>
          connections.length === 0 ? (
            <NoConnections onNew={() => setConnecting(true)} />
          ) : (
            <ul
              aria-label={connectionsText.title}
              className="grid grid-cols-[repeat(auto-fill,minmax(min(100%,22rem),1fr))] gap-4"
            >
              {connections.map((connection) => (
                <ConnectionCard key={connection.id} connection={connection} />
              ))}
            </ul>
          )
        }
      </QueryResult>
      {connecting && <ConnectDialog start={{}} onClose={() => setConnecting(false)} />}
    </Page>
  )
}

function NoConnections({ onNew }: { onNew: () => void }) {
  const config = { provider: 'postmark', from: 'help@example.com' }
  return (
    <EmptyState
      title={connectionsText.none}
      minRole="admin"
      action={<Button onClick={onNew}>{connectionsText.newConnection}</Button>}
      curl={toCurl('createConnection', { body: { kind: 'email', name: 'mail', config } })}
    >
      {connectionsText.noneHint}
    </EmptyState>
  )
}
