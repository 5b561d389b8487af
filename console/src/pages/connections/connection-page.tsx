import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { connectionQuery, healthQuery, toolsQuery } from '../../api/connection-queries.ts'
import { callOperation } from '../../api/http.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { wedgesQuery } from '../../api/queries.ts'
import type { Connection } from '../../api/setup-queries.ts'
import { capitalize } from '../../ui/humanize.ts'
import { FieldList } from '../../ui/json.tsx'
import { MutationButton } from '../../ui/mutation-button.tsx'
import { Page, Section } from '../../ui/page.tsx'
import { QueryResult } from '../../ui/query-result.tsx'
import { RequireRole, RoleHint } from '../../ui/role.tsx'
import { Tag } from '../../ui/status.tsx'
import { TimeAgo } from '../../ui/time.tsx'
import { showToast } from '../../ui/toast.tsx'
import { ConnectDialog } from './connect/lazy-connect-dialog.tsx'
import { ConnectionActions, RepairButton } from './connection-actions.tsx'
import { ConnectionForm } from './connection-form.tsx'
import { OauthResult } from './oauth-result.tsx'
import { connectionsText } from './text.ts'
import { ToolTable } from './tool-table.tsx'
import { UsingWedges } from './using-wedges.tsx'

const route = getRouteApi('/shell/connections/$connectionId')

/** One connection: whether it works, what uses it, and its tools. */
export function ConnectionPage() {
  const { connectionId } = route.useParams()
  const search = route.useSearch()
  const query = useConnectionPage(connectionId)
  const [connecting, setConnecting] = useState(false)
  const onConnect = () => setConnecting(true)
  return (
    <Page
      title={query.data?.name ?? connectionsText.connection}
      lead={query.data && connectionsText.kinds[query.data.kind]}
      actions={
        query.data && (
          <RequireRole minRole="admin">
            <ConnectionActions connection={query.data} onConnect={onConnect} />
          </RequireRole>
        )
      }
    >
      <OauthResult {...search} />
      <QueryResult query={query}>
        {(connection) => (
          <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 lg:grid-cols-[22rem_minmax(0,1fr)]">
            <div className="flex flex-col gap-4">
              <HealthPanel connection={connection} onConnect={onConnect} />
              <section aria-labelledby="used-by" className="panel flex flex-col gap-2 p-4">
                <h2 id="used-by" className="font-semibold">
                  {connectionsText.usedBy}
                </h2>
                <UsingWedges name={connection.name} />
              </section>
            </div>
            <div className="flex flex-col gap-4">
              <ToolSection connection={connection} />
              <Section title={connectionsText.settings}>
                <div className="panel p-4">
                  <FieldList value={shownConfig(connection)} />
                </div>
              </Section>
            </div>
          </div>
        )}
      </QueryResult>
      {connecting && query.data && (
        <ConnectDialog start={{ connection: query.data, name: query.data.name }} onClose={() => setConnecting(false)} />
      )}
    </Page>
  )
}

/** The connection, when the other parts of its page are loaded too, so that nothing moves while they arrive. */
function useConnectionPage(id: string) {
  const { data, error } = useQuery(connectionQuery(id))
  const others = [useQuery(healthQuery(id)), useQuery(toolsQuery(id)), useQuery(wedgesQuery)]
  return { data: others.some(({ isPending }) => isPending) ? undefined : data, error }
}

/** Without the operations, which are shown as tools. */
const shownConfig = ({ config }: Connection) =>
  Object.fromEntries(Object.entries(config).filter(([name]) => name !== 'operations'))

function HealthPanel({ connection, onConnect }: { connection: Connection; onConnect: () => void }) {
  const query = useQuery(healthQuery(connection.id))
  const [editing, setEditing] = useState(false)
  return (
    <section aria-labelledby="health" className="panel flex flex-col gap-3 p-4">
      <h2 id="health" className="font-semibold">
        {connectionsText.health.title}
      </h2>
      <QueryResult query={query}>
        {({ status, message }) => (
          <>
            <span>
              {status === 'ok' && connection.last_ok_at === null ? (
                <Tag>{connectionsText.notTested}</Tag>
              ) : (
                <Tag tone={HEALTH_TONES[status]}>{connectionsText.health.status[status]}</Tag>
              )}
            </span>
            {message && (
              <p className={`break-words ${status === 'failing' ? 'text-bad' : ''}`}>{capitalize(message)}</p>
            )}
            {status !== 'ok' && (
              <RequireRole minRole="admin" fallback={<RoleHint>{connectionsText.health.roleHint}</RoleHint>}>
                <span>
                  <RepairButton connection={connection} onConnect={onConnect} onEdit={() => setEditing(true)} />
                </span>
              </RequireRole>
            )}
          </>
        )}
      </QueryResult>
      <ConnectionFacts connection={connection} />
      {editing && <ConnectionForm connection={connection} onClose={() => setEditing(false)} />}
    </section>
  )
}

const HEALTH_TONES = { ok: 'ok', failing: 'bad', not_connected: 'wait' } as const

function ConnectionFacts({ connection: { last_ok_at, last_error_at, client_id } }: { connection: Connection }) {
  const text = connectionsText.facts
  const times: [string, string | null][] = [
    [text.lastUse, last_ok_at],
    [text.lastError, last_error_at],
  ]
  return (
    <dl className="grid grid-cols-[7rem_minmax(0,1fr)] gap-y-1">
      {times.map(([label, ts]) => (
        <div key={label} className="contents">
          <dt className="text-muted">{label}</dt>
          <dd>{ts ? <TimeAgo ts={ts} /> : text.never}</dd>
        </div>
      ))}
      <dt className="text-muted">{text.owner}</dt>
      <dd>
        {client_id ? (
          <Link to="/clients/$clientId" params={{ clientId: client_id }} className="text-accent underline">
            {connectionsText.clientOwned(client_id)}
          </Link>
        ) : (
          text.team
        )}
      </dd>
    </dl>
  )
}

function ToolSection({ connection }: { connection: Connection }) {
  const text = connectionsText.tools
  const { data: tools } = useQuery(toolsQuery(connection.id))
  const isManaged = connection.kind === 'mcp'
  const open = tools?.filter(({ state }) => state !== 'confirmed').length ?? 0
  return (
    <Section
      title={text.title}
      actions={
        isManaged && (
          <RequireRole minRole="admin">
            <RefreshButton connectionId={connection.id} />
          </RequireRole>
        )
      }
    >
      {isManaged && (
        <p className={open > 0 ? 'text-wait' : 'text-muted'}>{open > 0 ? text.toConfirm(open) : text.hint}</p>
      )}
      <ToolTable connection={connection} />
    </Section>
  )
}

function RefreshButton({ connectionId }: { connectionId: string }) {
  const text = connectionsText.tools
  const refresh = useApiMutation(() => callOperation('refreshConnectionTools', { id: connectionId }), {
    invalidates: ['connections'],
    onSuccess: ({ skipped }) => showToast(skipped > 0 ? text.refreshedWithSkipped(skipped) : text.refreshed),
  })
  return (
    <MutationButton small mutation={refresh}>
      {text.refresh}
    </MutationButton>
  )
}
