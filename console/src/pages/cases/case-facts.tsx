import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { type Case, caseFilesQuery } from '../../api/case-queries.ts'
import { clientQuery } from '../../api/client-queries.ts'
import { sessionQuery, wedgesQuery } from '../../api/queries.ts'
import { membersQuery } from '../../api/setup-queries.ts'
import { clientName } from '../../ui/client-name.ts'
import { humanize } from '../../ui/humanize.ts'
import { FieldList } from '../../ui/json.tsx'
import { RequireRole } from '../../ui/role.tsx'
import { Tag } from '../../ui/status.tsx'
import { DateTime } from '../../ui/time.tsx'
import { FileList } from '../files/file-list.tsx'
import { casesText } from './text.ts'
import { useChangeCase } from './use-change-case.ts'

/** Stage, assignee, client, conversation and data of a case. */
export function CaseFacts({ found }: { found: Case }) {
  const { stage, status, thread_id, created_at, data } = found
  return (
    <aside aria-label={casesText.facts} className="flex flex-col gap-4">
      <dl className="panel grid grid-cols-[auto_minmax(0,1fr)] items-center gap-x-4 gap-y-2 p-4">
        <FactRow name={casesText.status}>
          <Tag tone={status === 'open' ? 'run' : 'off'}>{casesText.statusNames[status]}</Tag>
        </FactRow>
        <FactRow name={casesText.stage}>
          <RequireRole minRole="operator" fallback={humanize(stage)}>
            <StageSelect found={found} />
          </RequireRole>
        </FactRow>
        <FactRow name={casesText.assignee}>
          <RequireRole minRole="operator" fallback={found.assignee?.name ?? casesText.unassigned}>
            <AssigneeSelect found={found} />
          </RequireRole>
        </FactRow>
        {found.client_id && (
          <FactRow name={casesText.client}>
            <ClientLink clientId={found.client_id} />
          </FactRow>
        )}
        {thread_id && (
          <FactRow name={casesText.conversation}>
            <Link to="/conversations/$threadId" params={{ threadId: thread_id }} className="text-accent underline">
              {casesText.openConversation}
            </Link>
          </FactRow>
        )}
        <FactRow name={casesText.created}>
          <DateTime ts={created_at} />
        </FactRow>
        {found.client_id && <p className="col-span-2 text-xs text-muted">{casesText.visibleToClient}</p>}
      </dl>
      <CaseFiles caseId={found.id} />
      <section className="panel flex flex-col gap-2 p-4">
        <h2 className="text-xs font-semibold text-muted">{casesText.data}</h2>
        {Object.keys(data).length > 0 ? <FieldList value={data} /> : <p className="text-muted">{casesText.noData}</p>}
      </section>
    </aside>
  )
}

function CaseFiles({ caseId }: { caseId: string }) {
  const { data: files = [] } = useQuery(caseFilesQuery(caseId))
  return (
    <section className="panel flex flex-col gap-2 p-4">
      <h2 className="text-xs font-semibold text-muted">{casesText.files}</h2>
      {files.length === 0 ? <p className="text-muted">{casesText.noFiles}</p> : <FileList files={files} />}
    </section>
  )
}

function FactRow({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="contents">
      <dt className="text-muted">{name}</dt>
      <dd className="min-w-0 truncate">{children}</dd>
    </div>
  )
}

function StageSelect({ found }: { found: Case }) {
  const { data: wedges } = useQuery(wedgesQuery)
  const change = useChangeCase()
  const declared = wedges?.find(({ wedge }) => wedge === found.wedge)?.manifest.cases?.stages ?? []
  const stages = declared.includes(found.stage) ? declared : [found.stage, ...declared]
  return (
    <select
      aria-label={casesText.stage}
      className="field h-7 py-0"
      value={found.stage}
      disabled={change.isPending}
      onChange={(event) => change.mutate({ id: found.id, stage: event.target.value })}
    >
      {stages.map((stage) => (
        <option key={stage} value={stage}>
          {humanize(stage)}
        </option>
      ))}
    </select>
  )
}

/** Members choose among all members. An API key cannot list them and only sees who it is. */
function AssigneeSelect({ found }: { found: Case }) {
  const { data: session } = useQuery(sessionQuery)
  const isMember = session?.member != null
  const { data: members = [] } = useQuery({ ...membersQuery, enabled: isMember })
  const change = useChangeCase()
  const { assignee } = found
  if (!isMember)
    return (
      <>
        {assignee?.name ?? casesText.unassigned}
        {session && <span className="block text-xs whitespace-normal text-muted">{casesText.assigneeNeedsMember}</span>}
      </>
    )
  const others = members.filter(({ id }) => id !== assignee?.id)
  return (
    <select
      aria-label={casesText.assignee}
      className="field h-7 py-0"
      value={assignee?.id ?? ''}
      disabled={change.isPending}
      onChange={(event) => change.mutate({ id: found.id, assignee_id: event.target.value || null })}
    >
      <option value="">{casesText.unassigned}</option>
      {assignee && <option value={assignee.id}>{assignee.name}</option>}
      {others.map(({ id, name, email }) => (
        <option key={id} value={id}>
          {name || email}
        </option>
      ))}
    </select>
  )
}

function ClientLink({ clientId }: { clientId: string }) {
  const { data: client } = useQuery(clientQuery(clientId))
  return (
    <Link to="/clients/$clientId" params={{ clientId }} className="text-accent underline">
      {clientName(client?.display_name || client?.handles[0] || clientId.slice(-8))}
    </Link>
  )
}
