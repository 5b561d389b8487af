import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useDeferredValue, useState } from 'react'
import { clientsQuery, threadsQuery } from '../../api/client-queries.ts'
import { toCurl } from '../../api/http.ts'
import { Button } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/page-states.tsx'
import { QueryResult } from '../../ui/query-result.tsx'
import { RequireRole } from '../../ui/role.tsx'
import { Page, Section } from '../../ui/page.tsx'
import { Table } from '../../ui/table.tsx'
import { TimeAgo } from '../../ui/time.tsx'
import { ClientForm } from './form.tsx'
import { ThreadRows } from './thread-rows.tsx'

/** Whom the work is for, and what was last said. */
export function Clients() {
  const [handle, setHandle] = useState('')
  const [open, setOpen] = useState(false)
  const clients = useQuery(clientsQuery(useDeferredValue(handle.trim())))
  const threads = useQuery(threadsQuery())
  return (
    <Page
      title="Clients"
      lead="Whom the work is for. They come by themselves with their first message."
      actions={
        <>
          <input
            aria-label="Find by handle"
            placeholder="name@example.com"
            className="field h-8 w-48"
            value={handle}
            onChange={(event) => setHandle(event.target.value)}
          />
          <RequireRole minRole="operator">
            <Button variant="primary" icon={<Plus size={14} />} onClick={() => setOpen(true)}>
              New client
            </Button>
          </RequireRole>
        </>
      }
    >
      <QueryResult query={clients}>
        {(list) =>
          list.length === 0 ? (
            <NoClients sought={handle !== ''} />
          ) : (
            <Table label="Clients" columns={['Name', 'Handles', 'Since']}>
              {list.map(({ id, display_name, handles, created_at }) => (
                <tr key={id}>
                  <td className="font-medium">
                    <Link to="/clients/$clientId" params={{ clientId: id }} className="text-accent underline">
                      {display_name || handles[0] || 'without a name'}
                    </Link>
                  </td>
                  <td className="text-muted">{handles.join(', ')}</td>
                  <td className="text-muted">
                    <TimeAgo ts={created_at} />
                  </td>
                </tr>
              ))}
            </Table>
          )
        }
      </QueryResult>
      {clients.data && (
        <Section title="Latest conversations">
          <QueryResult query={threads}>{(list) => <ThreadRows threads={list} />}</QueryResult>
        </Section>
      )}
      {open && <ClientForm onClose={() => setOpen(false)} />}
    </Page>
  )
}

function NoClients({ sought }: { sought: boolean }) {
  if (sought) return <EmptyState title="No client has this handle">It is matched as a whole.</EmptyState>
  const body = { display_name: 'Ada', handles: ['ada@example.com'] }
  return (
    <EmptyState title="There is no client yet" curl={toCurl('/v1/clients', { method: 'POST', body })}>
      They come with their first message through a{' '}
      <Link to="/channels" className="text-accent underline">
        channel
      </Link>
      <RequireRole minRole="operator">, or you create one here</RequireRole>.
    </EmptyState>
  )
}
