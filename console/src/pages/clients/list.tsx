import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useDeferredValue, useState } from 'react'
import { clientsQuery, threadsQuery } from '../../api/customers.ts'
import { asCurl } from '../../api/http.ts'
import { Button } from '../../ui/button.tsx'
import { Empty } from '../../ui/empty.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { May } from '../../ui/may.tsx'
import { Page } from '../../ui/page.tsx'
import { Section, Table } from '../../ui/table.tsx'
import { Ago } from '../../ui/time.tsx'
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
          <May least="operator">
            <Button look="primary" icon={<Plus size={14} />} onClick={() => setOpen(true)}>
              New client
            </Button>
          </May>
        </>
      }
    >
      <Loaded query={clients}>
        {(list) =>
          list.length === 0 ? (
            <NoClients sought={handle !== ''} />
          ) : (
            <Table label="Clients" head={['Name', 'Handles', 'Since']}>
              {list.map(({ id, display_name, handles, created_at }) => (
                <tr key={id}>
                  <td className="font-medium">
                    <Link to="/clients/$clientId" params={{ clientId: id }} className="text-accent underline">
                      {display_name || handles[0] || 'without a name'}
                    </Link>
                  </td>
                  <td className="text-muted">{handles.join(', ')}</td>
                  <td className="text-muted">
                    <Ago ts={created_at} />
                  </td>
                </tr>
              ))}
            </Table>
          )
        }
      </Loaded>
      {clients.data && (
        <Section title="Latest conversations">
          <Loaded query={threads}>{(list) => <ThreadRows threads={list} />}</Loaded>
        </Section>
      )}
      {open && <ClientForm onClose={() => setOpen(false)} />}
    </Page>
  )
}

function NoClients({ sought }: { sought: boolean }) {
  if (sought) return <Empty title="No client has this handle">It is matched as a whole.</Empty>
  const body = { display_name: 'Ada', handles: ['ada@example.com'] }
  return (
    <Empty title="There is no client yet" curl={asCurl('/v1/clients', { method: 'POST', body })}>
      They come with their first message through a{' '}
      <Link to="/channels" className="text-accent underline">
        channel
      </Link>
      <May least="operator">, or you create one here</May>.
    </Empty>
  )
}
