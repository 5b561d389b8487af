import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { type Client, clientQuery } from '../../api/client-queries.ts'
import { clientThreadsQuery } from '../../api/conversation-queries.ts'
import { callOperation } from '../../api/http.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { clientCasesQuery } from '../../api/case-queries.ts'
import { clientConnectionsQuery } from '../../api/setup-queries.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { formatDateTime } from '../../ui/format.ts'
import { humanize } from '../../ui/humanize.ts'
import { FieldList } from '../../ui/json.tsx'
import { MutationButton } from '../../ui/mutation-button.tsx'
import { Page, Section } from '../../ui/page.tsx'
import { QueryResult } from '../../ui/query-result.tsx'
import { RequireRole } from '../../ui/role.tsx'
import { ShowOnce } from '../../ui/show-once.tsx'
import { Tag } from '../../ui/status.tsx'
import { showToast } from '../../ui/toast.tsx'
import { caseName } from '../cases/case-name.ts'
import { ClientForm } from './client-form.tsx'
import { clientsText } from './text.ts'
import { ThreadList } from './thread-list.tsx'

const route = getRouteApi('/shell/clients/$clientId')

export function ClientPage() {
  const { clientId } = route.useParams()
  const query = useQuery(clientQuery(clientId))
  const threads = useQuery(clientThreadsQuery(clientId))
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
        {({ handles, metadata, open_threads, last_activity_at }) => (
          <div className="panel p-4">
            <FieldList
              value={{
                [clientsText.addresses]: handles.join(', '),
                [clientsText.openConversations]: open_threads,
                [clientsText.lastActivity]: last_activity_at && formatDateTime(last_activity_at),
                ...metadata,
              }}
            />
          </div>
        )}
      </QueryResult>
      {query.data && (
        <>
          <Section title={clientsText.conversations}>
            <QueryResult query={threads}>{(list) => <ThreadList threads={list} />}</QueryResult>
          </Section>
          <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 lg:grid-cols-2">
            <ClientCases clientId={clientId} />
            <ClientConnections clientId={clientId} />
          </div>
        </>
      )}
    </Page>
  )
}

function ClientCases({ clientId }: { clientId: string }) {
  const query = useQuery(clientCasesQuery(clientId))
  return (
    <Section title={clientsText.cases}>
      <QueryResult query={query} height="h-14">
        {(cases) => (
          <ul className="panel divide-y divide-line">
            {cases.length === 0 && <li className="p-4 text-muted">{clientsText.noCases}</li>}
            {cases.map((found) => (
              <li key={found.id} className="flex h-11 items-center gap-3 px-4">
                <Link to="/cases/$caseId" params={{ caseId: found.id }} className="truncate text-accent underline">
                  {caseName(found)}
                </Link>
                <span className="ml-auto">
                  <Tag>{found.status === 'closed' ? clientsText.threadStatus.closed : humanize(found.stage)}</Tag>
                </span>
              </li>
            ))}
          </ul>
        )}
      </QueryResult>
    </Section>
  )
}

/** The accounts that the client connected in the portal. */
function ClientConnections({ clientId }: { clientId: string }) {
  const query = useQuery(clientConnectionsQuery(clientId))
  return (
    <Section title={clientsText.connections}>
      <QueryResult query={query} height="h-14">
        {(connections) => (
          <ul className="panel divide-y divide-line">
            {connections.length === 0 && <li className="p-4 text-muted">{clientsText.noConnections}</li>}
            {connections.map(({ id, name, kind, last_error }) => (
              <li key={id} className="flex h-11 items-center gap-3 px-4">
                <Link
                  to="/connections/$connectionId"
                  params={{ connectionId: id }}
                  className="truncate text-accent underline"
                >
                  {name}
                </Link>
                <span className="ml-auto flex gap-2">
                  {last_error && <Tag tone="bad">{clientsText.failing}</Tag>}
                  <Tag>{humanize(kind)}</Tag>
                </span>
              </li>
            ))}
          </ul>
        )}
      </QueryResult>
    </Section>
  )
}

function ClientActions({ client }: { client: Client }) {
  const [link, setLink] = useState<string | null>(null)
  const [open, setOpen] = useState(false)
  const createLink = useApiMutation(() => callOperation('createPortalLink', { id: client.id }), {
    invalidates: [],
    onSuccess: ({ url }) => setLink(new URL(url, location.origin).href),
  })
  const revoke = useApiMutation(() => callOperation('revokePortalAccess', { id: client.id }), {
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
