import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { type Client, clientQuery, threadsQuery } from '../../api/client-queries.ts'
import { callApi } from '../../api/http.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { FieldList } from '../../ui/json.tsx'
import { MutationButton } from '../../ui/mutation-button.tsx'
import { Page, Section } from '../../ui/page.tsx'
import { QueryResult } from '../../ui/query-result.tsx'
import { RequireRole } from '../../ui/role.tsx'
import { ShowOnce } from '../../ui/show-once.tsx'
import { showToast } from '../../ui/toast.tsx'
import { ClientForm } from './client-form.tsx'
import { clientsText } from './text.ts'
import { ThreadList } from './thread-list.tsx'

const route = getRouteApi('/shell/clients/$clientId')

export function ClientPage() {
  const { clientId } = route.useParams()
  const query = useQuery(clientQuery(clientId))
  const threads = useQuery(threadsQuery(clientId))
  return (
    <Page
      title={query.data?.display_name ?? query.data?.handles[0] ?? clientsText.client}
      lead={<code className="font-mono text-xs break-all">{clientId}</code>}
      actions={
        query.data && (
          <>
            <Link to="/tasks" search={{ client_id: clientId }} className={buttonClass()}>
              {clientsText.viewTasks}
            </Link>
            <RequireRole minRole="operator">
              <ClientActions client={query.data} />
            </RequireRole>
          </>
        )
      }
    >
      <QueryResult query={query}>
        {({ handles, metadata }) => (
          <div className="panel p-4">
            <FieldList value={{ [clientsText.addresses]: handles.join(', '), ...metadata }} />
          </div>
        )}
      </QueryResult>
      {query.data && (
        <Section title={clientsText.conversations}>
          <QueryResult query={threads}>{(list) => <ThreadList threads={list} />}</QueryResult>
        </Section>
      )}
    </Page>
  )
}

function ClientActions({ client }: { client: Client }) {
  const [link, setLink] = useState<string | null>(null)
  const [open, setOpen] = useState(false)
  const createLink = useApiMutation(
    () => callApi<{ url: string }>(`/v1/clients/${client.id}/portal-link`, { method: 'POST' }),
    { invalidates: [], onSuccess: ({ url }) => setLink(new URL(url, location.origin).href) },
  )
  const revoke = useApiMutation(() => callApi(`/v1/clients/${client.id}/portal-revoke`, { method: 'POST' }), {
    invalidates: [],
    onSuccess: () => showToast(clientsText.accessRevoked),
  })
  return (
    <>
      <Button onClick={() => setOpen(true)}>{clientsText.edit}</Button>
      <MutationButton variant="danger" mutation={revoke} confirmText={clientsText.confirmRevoke}>
        {clientsText.revokeAccess}
      </MutationButton>
      <MutationButton variant="primary" mutation={createLink}>
        {clientsText.createLink}
      </MutationButton>
      {open && <ClientForm client={client} onClose={() => setOpen(false)} />}
      {link && (
        <ShowOnce title={clientsText.link} lead={clientsText.linkHint} value={link} onClose={() => setLink(null)} />
      )}
    </>
  )
}
