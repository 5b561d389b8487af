import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { toCurl } from '../../api/http.ts'
import { approvalQuery, sessionQuery } from '../../api/queries.ts'
import type { Approval, JsonObject } from '../../api/types.ts'
import { clientName } from '../../ui/client-name.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { RequireRole } from '../../ui/role.tsx'
import { StatusBadge, Tag } from '../../ui/status.tsx'
import { uiText } from '../../ui/text.ts'
import { TimeAgo, useNow } from '../../ui/time.tsx'
import { ApprovalComments } from './approval-comments.tsx'
import { ApprovalContext } from './approval-context.tsx'
import { AgentSteps, ApprovalFiles, EarlierDecisions, ThreadEnd } from './approval-details.tsx'
import { ApprovalPeople } from './approval-people.tsx'
import { Countdown } from './countdown.tsx'
import { DecisionDetails } from './decision-details.tsx'
import { DecisionForm } from './decision-form.tsx'
import { SessionHeldRow } from './held-decision-list.tsx'
import { askedOfClient, isOnlyForClient, isReader } from './may-decide.ts'
import { PayloadView } from './payload-view.tsx'
import { askedQuestion, QuestionDecision, QuestionView } from './question-decision.tsx'
import { RequireApprover } from './require-approver.tsx'
import { approvalHeadline } from './approval-summary.ts'
import { approvalsText } from './text.ts'
import { type SendDecision, useDecision } from './use-decision.ts'

/**
 * One approval: the headline, what it answers, the payload, the decision, and what else helps to decide. Without
 * `onDecided` it is read-only. `omits` leaves out what the page around the card shows itself.
 */
export function ApprovalCard({
  approval,
  onDecided,
  omits = null,
}: {
  approval: Approval
  onDecided: (() => void) | null
  omits?: 'conversation' | 'steps' | null
}) {
  const { data: detail } = useQuery(approvalQuery(approval.approval_id))
  return (
    <article aria-label={approvalsText.label} className="panel flex flex-col">
      <CardHeader approval={approval} rule={detail?.rule || approval.policy_reason} />
      <div className="flex flex-col gap-4 border-t border-line p-5">
        {omits !== 'conversation' && <ApprovalContext context={approval.context} />}
        <CardRequest approval={approval} schema={detail?.schema ?? null} onDecided={onDecided} />
        <ApprovalPeople approval={approval} waitsFor={detail?.waits_for ?? []} />
      </div>
      {detail && omits !== 'conversation' && <ThreadEnd messages={detail.thread} />}
      {detail && omits !== 'steps' && <AgentSteps steps={detail.steps} />}
      {detail && <EarlierDecisions detail={detail} />}
      {detail && <ApprovalFiles files={detail.files} />}
      <ApprovalComments approval={approval} />
      <CardFooter approval={approval} />
    </article>
  )
}

/** The request with its form, or with what was decided. */
function CardRequest({
  approval,
  schema,
  onDecided,
}: {
  approval: Approval
  schema: JsonObject | null
  onDecided: (() => void) | null
}) {
  const now = useNow(1_000)
  const { held } = approval
  const open = approval.status === 'pending' && Date.parse(approval.expires_at ?? '') > now
  if (held)
    return (
      <HeldRequest approval={approval}>
        <SessionHeldRow approval={approval} held={held} />
      </HeldRequest>
    )
  if (open && onDecided)
    return (
      <RequireApprover approval={approval} request={<RequestView approval={approval} />}>
        <SessionDecision approval={approval} schema={schema} onDecided={onDecided} />
      </RequireApprover>
    )
  return (
    <div className="flex flex-col gap-3">
      <RequestView approval={approval} />
      {!open && (
        // As high as the decision form that it replaces.
        <div className="min-h-26 py-2 sm:min-h-20">
          <DecisionDetails approval={approval} />
        </div>
      )}
    </div>
  )
}

function SessionDecision({
  approval,
  schema,
  onDecided,
}: {
  approval: Approval
  schema: JsonObject | null
  onDecided: () => void
}) {
  const { data: session } = useQuery(sessionQuery)
  const { dropped } = approval
  const send = useDecision(approval, onDecided)
  return (
    <>
      {dropped && session && isReader(dropped.by, session) && <DroppedNotice reason={dropped.reason} />}
      <DecisionControls approval={approval} schema={schema} send={send} />
    </>
  )
}

/** Tells the person who has approved why the approval was not made. */
export function DroppedNotice({ reason }: { reason: string }) {
  return <p className="rounded-md bg-wait-soft px-3 py-2 text-wait">{approvalsText.held.dropped(reason)}</p>
}

/** The form of the decision, or of the answer to a question. */
export function DecisionControls(props: { approval: Approval; schema: JsonObject | null; send: SendDecision }) {
  const { path, payload_sha256 } = props.approval
  return path === 'question' ? <QuestionDecision {...props} /> : <DecisionForm key={payload_sha256} {...props} />
}

/** What is asked: the payload of an action, or the options and the answer of a question. */
function RequestView({ approval }: { approval: Approval }) {
  return approval.path === 'question' ? <QuestionView approval={approval} /> : <PayloadView approval={approval} />
}

/** A request whose approval is held, as it will be sent. */
export function HeldRequest({ approval, children }: { approval: Approval; children: ReactNode }) {
  return (
    <div className="flex flex-col gap-3">
      <RequestView approval={{ ...approval, edited: approval.held?.edited ?? approval.edited }} />
      {children}
    </div>
  )
}

export function CardHeader({ approval, rule }: { approval: Approval; rule: string | null }) {
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
      {rule && !approval.to && <p className="text-muted">{rule}</p>}
      {approval.to === 'client' && approval.status === 'pending' && (
        <p className="text-muted">{approvalsText.question.clientHint}</p>
      )}
      <ClientIsAsked approval={approval} />
    </header>
  )
}

function ClientIsAsked({ approval }: { approval: Approval }) {
  const asked = askedOfClient(approval)
  if (asked === null) return null
  const name = clientName(approval.context.client?.name)
  const { waitsForClient, clientDecidesToo } = approvalsText.people
  return <p className="text-wait">{asked === 'alone' ? waitsForClient(name) : clientDecidesToo(name)}</p>
}

function CardFooter({ approval }: { approval: Approval }) {
  const id = approval.approval_id
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
      {approval.status === 'pending' && !isOnlyForClient(approval) && (
        <RequireRole minRole="operator">
          <span className="ml-auto">
            <CopyButton text={() => toCurl('approveApproval', { id, body })} label={uiText.copyAsCurl} />
          </span>
        </RequireRole>
      )}
    </footer>
  )
}
