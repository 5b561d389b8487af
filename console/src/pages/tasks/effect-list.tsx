import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ChevronRight, TriangleAlert } from 'lucide-react'
import { type ComponentProps, useState } from 'react'
import { toObject } from '../../api/json.ts'
import { approvalQuery, taskApprovalsQuery } from '../../api/queries.ts'
import type { Approval, Effect } from '../../api/types.ts'
import { EmptyState, Placeholder } from '../../ui/page-states.tsx'
import { FieldList } from '../../ui/json.tsx'
import { QueryResult } from '../../ui/query-result.tsx'
import { ShowMore } from '../../ui/show-more.tsx'
import { Tag } from '../../ui/status.tsx'
import { TimeAgo } from '../../ui/time.tsx'
import { formatTime, formatDuration } from '../../ui/format.ts'
import { actionLabel, approvalSummary } from '../approvals/approval-summary.ts'
import { tasksText } from './text.ts'

const text = tasksText.effects

const TONES = { ok: 'ok', failed: 'bad', unknown: 'wait', sent: 'run' } as const

/** Each call that the task sent through a connection, with its result. */
export function EffectList({
  taskId,
  effects,
  more,
}: {
  taskId: string
  effects: Effect[] | undefined
  more: ComponentProps<typeof ShowMore>['query']
}) {
  const { data: approvals } = useQuery(taskApprovalsQuery(taskId))
  if (!effects) return <Placeholder className="h-64" />
  if (effects.length === 0) {
    return <EmptyState title={text.none}>{text.noneHint}</EmptyState>
  }
  return (
    <>
      <ul aria-label={text.label} className="panel divide-y divide-line">
        {effects.map((effect) => (
          <EffectRow
            key={effect.approval_id}
            effect={effect}
            approval={approvals?.find(({ approval_id }) => approval_id === effect.approval_id)}
          />
        ))}
      </ul>
      <ShowMore query={more} />
    </>
  )
}

/** Warns about calls without a response: only a person can check the other system. */
export function UnknownOutcomes({ effects }: { effects: Effect[] }) {
  const unknown = effects.filter(({ outcome }) => outcome === 'unknown')
  if (unknown.length === 0) return null
  return (
    <div role="alert" className="flex gap-3 rounded-md bg-wait-soft px-3 py-2 text-wait">
      <TriangleAlert size={16} className="mt-0.5 shrink-0" aria-hidden />
      <div>
        {unknown.map(({ approval_id, action, connection, created_at }) => (
          <p key={approval_id} className="font-medium">
            {text.noResponse(actionLabel(action, connection), formatTime(created_at), connection ?? text.noConnection)}
          </p>
        ))}
        <p>{text.noResponseHint}</p>
      </div>
    </div>
  )
}

function EffectRow({ effect, approval }: { effect: Effect; approval: Approval | undefined }) {
  const { action, connection, outcome, status, error, created_at, finished_at } = effect
  const [open, setOpen] = useState(false)
  return (
    <li>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2.5 -outline-offset-2 hover:bg-hover">
          <ChevronRight size={14} aria-hidden className={`shrink-0 text-muted ${open ? 'rotate-90' : ''}`} />
          <span className="font-medium">
            {approval ? approvalSummary({ ...approval, connection }) : actionLabel(action, connection)}
          </span>
          <Tag tone={TONES[outcome]}>{text.outcome[outcome]}</Tag>
          {error && <span className="min-w-0 text-xs break-words text-bad">{error}</span>}
          <span className="ml-auto text-xs whitespace-nowrap text-muted tabular-nums">
            {status !== null && `${text.httpStatus(status)} · `}
            {finished_at && `${formatDuration(Date.parse(finished_at) - Date.parse(created_at))} · `}
            <TimeAgo ts={created_at} />
          </span>
        </summary>
        {open && <EffectDetails effect={effect} connection={connection} />}
      </details>
    </li>
  )
}

function EffectDetails({
  effect: { approval_id, payload_sha256 },
  connection,
}: {
  effect: Effect
  connection: string | null
}) {
  const query = useQuery(approvalQuery(approval_id))
  return (
    <div className="flex flex-col gap-3 border-t border-line bg-bg px-4 py-3">
      <QueryResult query={query}>
        {({ preview, edited }) => <FieldList value={{ ...toObject(preview), ...edited }} />}
      </QueryResult>
      <p className="flex flex-wrap gap-x-3 text-xs text-muted">
        <span>{connection === null ? text.nothingSent : text.through(connection)}</span>
        <Link to="/approvals" search={{ id: approval_id }} className="text-accent underline">
          {text.approval}
        </Link>
        <code className="font-mono break-all">{text.sha256(payload_sha256.slice(0, 12))}</code>
      </p>
    </div>
  )
}
