import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { toCurl } from '../../api/http.ts'
import { toObject } from '../../api/json.ts'
import { approvalQuery } from '../../api/queries.ts'
import type { Approval, JsonObject } from '../../api/types.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { RequireRole, RoleHint } from '../../ui/role.tsx'
import { StatusBadge, Tag } from '../../ui/status.tsx'
import { uiText } from '../../ui/text.ts'
import { TimeAgo, useNow } from '../../ui/time.tsx'
import { Countdown } from './countdown.tsx'
import { DecisionForm } from './decision-form.tsx'
import { HeldDecisionRow } from './held-decision-list.tsx'
import { type HeldDecision, useHeldDecision } from './held-decisions.ts'
import { PayloadDiffView } from './payload-diff-view.tsx'
import { PayloadView } from './payload-view.tsx'
import { askedQuestion, QuestionDecision, QuestionView } from './question-decision.tsx'
import { approvalHeadline } from './approval-summary.ts'
import { approvalsText } from './text.ts'
import { type SendDecision, useDecision } from './use-decision.ts'

/** One approval: the headline, the payload and the decision. Without `onDecided` it is read-only. */
export function ApprovalCard({ approval, onDecided }: { approval: Approval; onDecided: (() => void) | null }) {
  const now = useNow(1_000)
  const held = useHeldDecision(approval.approval_id)
  const { data: detail } = useQuery(approvalQuery(approval.approval_id))
  const open = approval.status === 'pending' && Date.parse(approval.expires_at ?? '') > now
  return (
    <article aria-label={approvalsText.label} className="panel flex flex-col">
      <CardHeader approval={approval} />
      <div className="border-t border-line p-5">
        {held ? (
          <HeldRequest approval={approval} decision={held} />
        ) : open && onDecided ? (
          <RequireRole minRole="operator" fallback={<ReadOnlyRequest approval={approval} />}>
            <OpenRequest approval={approval} schema={detail?.schema ?? null} onDecided={onDecided} />
          </RequireRole>
        ) : (
          <div className="flex flex-col gap-3">
            <RequestView approval={approval} />
            {!open && (
              // As high as the decision form that it replaces.
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

function OpenRequest({
  approval,
  schema,
  onDecided,
}: {
  approval: Approval
  schema: JsonObject | null
  onDecided: () => void
}) {
  return <DecisionControls approval={approval} schema={schema} send={useDecision(approval, onDecided)} />
}

/** The form of the decision, or of the answer to a question. */
export function DecisionControls(props: { approval: Approval; schema: JsonObject | null; send: SendDecision }) {
  return props.approval.path === 'question' ? <QuestionDecision {...props} /> : <DecisionForm {...props} />
}

/** What is asked: the payload of an action, or the options and the answer of a question. */
function RequestView({ approval }: { approval: Approval }) {
  return approval.path === 'question' ? <QuestionView approval={approval} /> : <PayloadView approval={approval} />
}

export function HeldRequest({ approval, decision }: { approval: Approval; decision: HeldDecision }) {
  return (
    <div className="flex flex-col gap-3">
      <RequestView approval={approval} />
      <HeldDecisionRow decision={decision} />
    </div>
  )
}

function ReadOnlyRequest({ approval }: { approval: Approval }) {
  return (
    <div className="flex flex-col gap-3">
      <RequestView approval={approval} />
      <RoleHint>{approvalsText.roleHint}</RoleHint>
    </div>
  )
}

export function CardHeader({ approval }: { approval: Approval }) {
  const { action, amount, target } = approvalHeadline(approval)
  return (
    <header className="flex flex-col gap-2 p-5">
      <div className="flex items-center gap-2 text-muted">
        {approval.to ? (
          <Tag tone={approval.status === 'pending' ? 'wait' : 'off'}>{approvalsText.question.to[approval.to]}</Tag>
        ) : (
          <Tag tone={approval.risk === 'high' ? 'bad' : approval.risk === 'medium' ? 'wait' : 'off'}>
            {approvalsText.risk(approval.risk)}
          </Tag>
        )}
        <span className="truncate">
          {approval.wedge} / {approval.task_type}
        </span>
        <span className="ml-auto flex">
          {approval.status === 'pending' ? (
            <Countdown approval={approval} />
          ) : (
            <StatusBadge status={approval.revise ? 'sent_back' : approval.status} />
          )}
        </span>
      </div>
      <h2 className="text-xl leading-snug font-semibold text-pretty break-words whitespace-pre-wrap">
        {approval.path === 'question' ? askedQuestion(approval).question : action}
        {amount && (
          <>
            {` ${approvalsText.summary.of} `}
            <span className="text-accent">{amount}</span>
          </>
        )}
        {target && <span className="font-normal"> {target}</span>}
      </h2>
      {approval.policy_reason && !approval.to && <p className="text-muted">{approval.policy_reason}</p>}
      {approval.to === 'client' && approval.status === 'pending' && (
        <p className="text-muted">{approvalsText.question.clientHint}</p>
      )}
    </header>
  )
}

function DecisionDetails({ approval }: { approval: Approval }) {
  const { status, decided_by, decided_at, reason, note, edited } = approval
  if (status === 'pending') return <p className="text-muted">{approvalsText.timeIsUp}</p>
  return (
    <div className="flex flex-col gap-2 text-muted">
      {edited && approval.path !== 'question' && (
        <PayloadDiffView payload={toObject(approval.preview)} edited={edited} amount={approval.amount} />
      )}
      <p>
        {decisionText(status, decided_by)} · {decided_at && <TimeAgo ts={decided_at} />}
      </p>
      {(reason ?? note) && <p>“{reason ?? note}”</p>}
    </div>
  )
}

function decisionText(status: Approval['status'], decidedBy: Approval['decided_by']): string {
  if (status === 'expired') return approvalsText.expired
  if (status === 'auto_approved') return approvalsText.autoApproved
  if (!decidedBy) return ''
  return decidedBy.kind === 'system'
    ? approvalsText.endedByService
    : approvalsText.decidedBy(decidedBy.kind, decidedBy.id)
}

function CardFooter({ approval }: { approval: Approval }) {
  const path = `/v1/approvals/${approval.approval_id}/approve`
  const body = approval.path === 'question' ? { edited: { answer: '' } } : {}
  return (
    <footer className="flex flex-wrap items-center gap-x-3 gap-y-1 border-t border-line px-5 py-2 text-xs text-muted">
      <Link
        to="/tasks/$taskId"
        params={{ taskId: approval.task_id }}
        className="text-accent underline-offset-2 hover:underline"
      >
        {approvalsText.openTask}
      </Link>
      <span>
        {approvalsText.requested} <TimeAgo ts={approval.created_at} />
      </span>
      {approval.path !== 'question' && (
        <code className="truncate font-mono max-sm:hidden" title={approval.payload_sha256}>
          {approvalsText.sha256(approval.payload_sha256.slice(0, 12))}
        </code>
      )}
      {approval.status === 'pending' && (
        <RequireRole minRole="operator">
          <span className="ml-auto">
            <CopyButton text={() => toCurl(path, { method: 'POST', body })} label={uiText.copyAsCurl} />
          </span>
        </RequireRole>
      )}
    </footer>
  )
}
