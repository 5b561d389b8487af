import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { type Client, clientQuery, threadsQuery } from '../../api/customers.ts'
import { call } from '../../api/http.ts'
import { useWrite } from '../../api/write.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Fields } from '../../ui/json.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { May } from '../../ui/may.tsx'
import { Once } from '../../ui/once.tsx'
import { Page } from '../../ui/page.tsx'
import { Section } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { WriteButton } from '../../ui/write-button.tsx'
import { ClientForm } from './form.tsx'
import { ThreadRows } from './thread-rows.tsx'

const route = getRouteApi('/shell/clients/$clientId')

export function ClientPage() {
  const { clientId } = route.useParams()
  const query = useQuery(clientQuery(clientId))
  const threads = useQuery(threadsQuery(clientId))
  return (
    <Page
      title={query.data?.display_name ?? query.data?.handles[0] ?? 'Client'}
      lead={<code className="font-mono text-xs break-all">{clientId}</code>}
      actions={
        query.data && (
          <>
            <Link to="/tasks" search={{ client_id: clientId }} className={buttonClass()}>
              Tasks
            </Link>
            <May least="operator">
              <ClientActions client={query.data} />
            </May>
          </>
        )
      }
    >
      <Loaded query={query}>
        {({ handles, metadata }) => (
          <div className="panel p-4">
            <Fields value={{ handles: handles.join(', '), ...metadata }} />
          </div>
        )}
      </Loaded>
      {query.data && (
        <Section title="Conversations">
          <Loaded query={threads}>{(list) => <ThreadRows threads={list} />}</Loaded>
        </Section>
      )}
    </Page>
  )
}

function ClientActions({ client }: { client: Client }) {
  const [link, setLink] = useState<string | null>(null)
  const [open, setOpen] = useState(false)
  const make = useWrite(() => call<{ url: string }>(`/v1/clients/${client.id}/portal-link`, { method: 'POST' }), {
    stale: [],
    onDone: ({ url }) => setLink(new URL(url, location.origin).href),
  })
  const revoke = useWrite(() => call(`/v1/clients/${client.id}/portal-revoke`, { method: 'POST' }), {
    stale: [],
    onDone: () => toast('Every link and session of this client has ended'),
  })
  return (
    <>
      <Button onClick={() => setOpen(true)}>Change</Button>
      <WriteButton look="danger" write={revoke} sure="End every portal link and session of this client?">
        End access
      </WriteButton>
      <WriteButton look="primary" write={make}>
        Portal link
      </WriteButton>
      {open && <ClientForm client={client} onClose={() => setOpen(false)} />}
      {link && (
        <Once
          title="Portal link"
          lead="Send it to the client. It works once, within seven days, and is not shown again."
          value={link}
          onClose={() => setLink(null)}
        />
      )}
    </>
  )
}
