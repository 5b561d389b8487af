import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useDeferredValue, useState } from 'react'
import { clientsQuery } from '../../api/client-queries.ts'
import { toCurl } from '../../api/http.ts'
import { Button } from '../../ui/button.tsx'
import { clientName } from '../../ui/client-name.ts'
import { EmptyState } from '../../ui/page-states.tsx'
import { Page } from '../../ui/page.tsx'
import { QueryResult } from '../../ui/query-result.tsx'
import { RequireRole } from '../../ui/role.tsx'
import { Table } from '../../ui/table.tsx'
import { TimeAgo } from '../../ui/time.tsx'
import { ClientForm } from './client-form.tsx'
import { clientsText } from './text.ts'

/** All clients. */
export function ClientsPage() {
  const [handle, setHandle] = useState('')
  const [open, setOpen] = useState(false)
  const clients = useQuery(clientsQuery(useDeferredValue(handle.trim())))
  return (
    <Page
      title={clientsText.title}
      lead={clientsText.lead}
      actions={
        <>
          <input
            aria-label={clientsText.searchByAddress}
            placeholder={clientsText.addressExample}
            className="field h-8 w-48"
            value={handle}
            onChange={(event) => setHandle(event.target.value)}
          />
          <RequireRole minRole="operator">
            <Button variant="primary" icon={<Plus size={14} />} onClick={() => setOpen(true)}>
              {clientsText.newClient}
            </Button>
          </RequireRole>
        </>
      }
    >
      <QueryResult query={clients}>
        {(list) =>
          list.length === 0 ? (
            <NoClients searched={handle !== ''} onNew={() => setOpen(true)} />
          ) : (
            <Table hasCards label={clientsText.title} columns={clientsText.columns}>
              {list.map(({ id, display_name, handles, open_threads, last_activity_at, created_at }) => (
                <tr key={id}>
                  <td className="font-medium">
                    <Link to="/clients/$clientId" params={{ clientId: id }} className="text-accent underline">
                      {clientName(display_name || handles[0])}
                    </Link>
                  </td>
                  <td className="text-muted">{handles.map(clientName).join(', ')}</td>
                  <td className="tabular-nums">{open_threads}</td>
                  <td className="text-muted">{last_activity_at ? <TimeAgo ts={last_activity_at} /> : '—'}</td>
                  <td className="text-muted">
                    <TimeAgo ts={created_at} />
                  </td>
                </tr>
              ))}
            </Table>
          )
        }
      </QueryResult>
      {open && <ClientForm onClose={() => setOpen(false)} />}
    </Page>
  )
}

function NoClients({ searched, onNew }: { searched: boolean; onNew: () => void }) {
  if (searched) return <EmptyState title={clientsText.noMatch}>{clientsText.noMatchHint}</EmptyState>
  const body = { display_name: 'Ada', handles: ['ada@example.com'] }
  return (
    <EmptyState
      title={clientsText.none}
      action={<Button onClick={onNew}>{clientsText.newClient}</Button>}
      curl={toCurl('createClient', { body })}
    >
      {clientsText.noneHint}{' '}
      <Link to="/channels" className="text-accent underline">
        {clientsText.viewChannels}
      </Link>
    </EmptyState>
  )
}
