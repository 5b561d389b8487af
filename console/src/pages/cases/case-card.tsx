import { Link } from '@tanstack/react-router'
import type { Case } from '../../api/client-queries.ts'
import { callApi } from '../../api/http.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { Button } from '../../ui/button.tsx'
import { humanize } from '../../ui/humanize.ts'
import { FieldList } from '../../ui/json.tsx'
import { RequireRole } from '../../ui/role.tsx'
import { TimeAgo } from '../../ui/time.tsx'
import { casesText } from './text.ts'

export function CaseCard({ found, stages }: { found: Case; stages: string[] }) {
  const { id, title, data, task_ids, client_id, updated_at } = found
  const name = title || id.slice(-8)
  return (
    <article aria-label={name} className="panel flex flex-col gap-2 p-3">
      <h3 className="font-medium break-words">{name}</h3>
      <p className="flex flex-wrap gap-x-3 text-xs text-muted">
        <Link to="/tasks" search={{ case_id: id }} className="text-accent underline">
          {casesText.tasks(task_ids.length)}
        </Link>
        {client_id && (
          <Link to="/clients/$clientId" params={{ clientId: client_id }} className="text-accent underline">
            {casesText.client}
          </Link>
        )}
        <span className="ml-auto">
          <TimeAgo ts={updated_at} />
        </span>
      </p>
      <details>
        <summary className="text-xs text-muted">{casesText.details}</summary>
        <div className="flex flex-col gap-2 py-2">
          {Object.keys(data).length > 0 && <FieldList value={data} />}
          <CaseHistory entries={found.history} />
        </div>
      </details>
      <RequireRole minRole="operator">
        <CaseActions found={found} name={name} stages={stages} />
      </RequireRole>
    </article>
  )
}

function CaseActions({ found: { id, stage, status }, name, stages }: { found: Case; name: string; stages: string[] }) {
  const change = useApiMutation(
    (body: { stage?: string; status?: 'open' | 'closed' }) => callApi(`/v1/cases/${id}`, { method: 'PUT', body }),
    { invalidates: ['cases'] },
  )
  return (
    <div className="flex gap-2">
      <select
        aria-label={casesText.stageOf(name)}
        className="field h-7 py-0 text-xs"
        value={stage}
        disabled={change.isPending}
        onChange={(event) => change.mutate({ stage: event.target.value })}
      >
        {stages.map((option) => (
          <option key={option} value={option}>
            {humanize(option)}
          </option>
        ))}
      </select>
      <Button
        small
        disabled={change.isPending}
        onClick={() => change.mutate({ status: status === 'open' ? 'closed' : 'open' })}
      >
        {status === 'open' ? casesText.close : casesText.reopen}
      </Button>
    </div>
  )
}

function CaseHistory({ entries }: { entries: Case['history'] }) {
  return (
    <ol className="flex flex-col gap-1 text-xs text-muted">
      {entries.map(({ from, to, at, by, note }, i) => (
        <li key={i}>
          {from === null || from === to ? humanize(to) : casesText.moved(humanize(from), humanize(to))}{' '}
          {casesText.by(by.kind)}, <TimeAgo ts={at} />
          {note && <span className="block text-text">{note}</span>}
        </li>
      ))}
    </ol>
  )
}
