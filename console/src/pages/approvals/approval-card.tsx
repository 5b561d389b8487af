import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { toCurl } from '../../api/http.ts'
import { wedgesQuery } from '../../api/queries.ts'
import { toObject } from '../../api/json.ts'
import type { Approval } from '../../api/types.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { RequireRole, RoleHint } from '../../ui/role.tsx'
import { StatusBadge, Tag } from '../../ui/status.tsx'
import { TimeAgo, useNow } from '../../ui/time.tsx'
import { Countdown } from './countdown.tsx'
import { DecisionForm } from './decision-form.tsx'
import { PayloadDiffView } from './payload-diff-view.tsx'
import { PayloadView } from './payload-view.tsx'
import { approvalHeadline } from './approval-summary.ts'
import { whyStopped } from './why.ts'

/** One question to a person: the sentence first, then what will be sent, then the answers; null: to read only. */
export function ApprovalCard({ approval, onDecided }: { approval: Approval; onDecided: (() => void) | null }) {
  const now = useNow(1_000)
  const open = approval.status === 'pending' && Date.parse(approval.expires_at ?? '') > now
  return (
    <article aria-label="Approval" className="panel flex flex-col">
      <CardHeader approval={approval} />
      <div className="border-t border-line p-5">
        {open && onDecided ? (
          <RequireRole minRole="operator" fallback={<ReadOnlyPayload approval={approval} />}>
            <DecisionForm approval={approval} onDecided={onDecided} />
          </RequireRole>
        ) : (
          <div className="flex flex-col gap-3">
            <PayloadView approval={approval} />
            {!open && (
              // As high as the answers were.
              <div className="min-h-26 py-2 sm:min-h-20">
                <DecisionDetails approval={approval} />
              </div>
            )}
          </div>
        )}
      </div>
      <CardFooter approval={approval} />
    </article>
  )
}

function ReadOnlyPayload({ approval }: { approval: Approval }) {
  return (
    <div className="flex flex-col gap-3">
      <PayloadView approval={approval} />
      <RoleHint>operators decide</RoleHint>
    </div>
  )
}

function CardHeader({ approval }: { approval: Approval }) {
  const { verb, amount, target } = approvalHeadline(approval)
  const { data: wedges } = useQuery(wedgesQuery)
  const manifest = wedges?.find(({ wedge }) => wedge === approval.wedge)?.manifest
  return (
    <header className="flex flex-col gap-2 p-5">
      <div className="flex items-center gap-2 text-muted">
        <Tag tone={approval.risk === 'high' ? 'bad' : approval.risk === 'medium' ? 'wait' : 'off'}>
          {`${approval.risk} risk`}
        </Tag>
        <span className="truncate">
          {approval.wedge} / {approval.task_type}
        </span>
        <span className="ml-auto flex">
          {approval.status === 'pending' ? <Countdown approval={approval} /> : <StatusBadge status={approval.status} />}
        </span>
      </div>
      <h2 className="text-xl leading-snug font-semibold text-pretty">
        {verb}
        {amount && (
          <>
            {' of '}
            <span className="text-accent">{amount}</span>
          </>
        )}
        {target && <span className="font-normal"> {target}</span>}
      </h2>
      <p className="text-muted">
        {approval.policy_reason
          ? `Passed by policy: ${approval.policy_reason}.`
          : whyStopped(approval, manifest?.policy?.auto_approve ?? [])}
      </p>
    </header>
  )
}

function DecisionDetails({ approval }: { approval: Approval }) {
  const { status, decided_by, decided_at, reason, note, edited } = approval
  if (status === 'pending') return <p className="text-muted">The time to answer is over; the task ends as expired.</p>
  return (
    <div className="flex flex-col gap-2 text-muted">
      {edited && <PayloadDiffView payload={toObject(approval.preview)} edited={edited} />}
      <p>
        {decided_by && `Decided by ${decided_by.kind} ${decided_by.id} `}
        {decided_at && <TimeAgo ts={decided_at} />}
      </p>
      {(reason ?? note) && <p>“{reason ?? note}”</p>}
    </div>
  )
}

function CardFooter({ approval }: { approval: Approval }) {
  const path = `/v1/approvals/${approval.approval_id}/approve`
  return (
    <footer className="flex flex-wrap items-center gap-x-3 gap-y-1 border-t border-line px-5 py-2 text-xs text-muted">
      <Link
        to="/tasks/$taskId"
        params={{ taskId: approval.task_id }}
        className="text-accent underline-offset-2 hover:underline"
      >
        Open the task
      </Link>
      <span>
        asked <TimeAgo ts={approval.created_at} />
      </span>
      <code className="truncate font-mono max-sm:hidden" title={approval.payload_sha256}>
        sha256 {approval.payload_sha256.slice(0, 12)}
      </code>
      {approval.status === 'pending' && (
        <RequireRole minRole="operator">
          <span className="ml-auto">
            <CopyButton text={() => toCurl(path, { method: 'POST', body: {} })} label="Copy as curl" />
          </span>
        </RequireRole>
      )}
    </footer>
  )
}
