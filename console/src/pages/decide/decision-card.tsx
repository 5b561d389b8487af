import { useMutation, useQueryClient } from '@tanstack/react-query'
import {
  decideWithLink,
  type LinkedApproval,
  linkedApprovalQuery,
  readLinkedFile,
  withdrawWithLink,
} from '../../api/decision-link.ts'
import { errorMessage } from '../../api/http.ts'
import { useMutateOnce } from '../../api/mutation.ts'
import { clientName } from '../../ui/client-name.ts'
import { ErrorMessage } from '../../ui/page-states.tsx'
import { CardHeader, DecisionControls, DroppedNotice, HeldRequest } from '../approvals/approval-card.tsx'
import { CustomerMessage, Fact, starterName } from '../approvals/approval-context.tsx'
import { AgentSteps, ApprovalFiles, EarlierDecisions, ThreadEnd } from '../approvals/approval-details.tsx'
import { VoteCount } from '../approvals/approval-people.tsx'
import { HeldDecisionRow } from '../approvals/held-decision-list.tsx'
import { keepUndoneEdit } from '../approvals/kept-edits.ts'
import { forgetDecisionTexts } from '../approvals/kept-texts.ts'
import { approvedAs, type Decision, type SendDecision } from '../approvals/use-decision.ts'
import { approvalsText } from '../approvals/text.ts'
import type { Outcome } from './outcome-message.tsx'
import { decideText } from './text.ts'

interface CardProps {
  token: string
  linked: LinkedApproval
  onDecided: (outcome: Outcome) => void
  onFailed: (error: Error) => void
}

/** The approval with what helps to decide, and with the decisions that the member of the link can take. */
export function DecisionCard(props: CardProps) {
  const { approval, member } = props.linked
  const { context, rule, schema, thread, steps, files, waits_for } = approval
  const { error, undo, ...send } = useLinkDecision(props)
  return (
    <article aria-label={decideText.title} className="panel flex flex-col">
      <CardHeader approval={approval} rule={rule} />
      <div className="flex flex-col gap-4 border-t border-line p-5">
        {context.message && <CustomerMessage message={context.message} client={context.client} />}
        <Facts context={context} />
        {approval.held ? (
          <HeldRequest approval={approval}>
            <HeldDecisionRow held={approval.held} onUndo={approval.held.by.id === member.id ? undo : null} />
          </HeldRequest>
        ) : (
          <>
            {approval.dropped?.by.id === member.id && <DroppedNotice reason={approval.dropped.reason} />}
            <DecisionControls approval={approval} schema={schema} send={send} />
          </>
        )}
        {approval.needed > 1 && (
          <div className="flex flex-wrap items-center gap-x-5 gap-y-2 text-xs">
            <VoteCount approval={approval} waitsFor={waits_for} />
          </div>
        )}
        {error && <ErrorMessage message={errorMessage(error)} />}
      </div>
      <ThreadEnd messages={thread} />
      <AgentSteps steps={steps} />
      <EarlierDecisions detail={approval} hasLinks={false} />
      <ApprovalFiles files={files} read={readLinkedFile(props.token)} />
      <footer className="border-t border-line px-5 py-2 text-xs text-muted">
        {decideText.decidingAs(member.name ?? member.email)}
      </footer>
    </article>
  )
}

function Facts({ context }: Pick<LinkedApproval['approval'], 'context'>) {
  const { client } = context
  const starter = starterName(context)
  if (!client?.name && !starter) return null
  const { facts, client: label, startedBy } = approvalsText.context
  return (
    <ul aria-label={facts} className="flex flex-wrap gap-x-5 gap-y-1 text-xs">
      {client?.name && <Fact label={label}>{clientName(client.name)}</Fact>}
      {starter && <Fact label={startedBy}>{starter}</Fact>}
    </ul>
  )
}

function useLinkDecision({
  token,
  linked: { approval, member },
  onDecided,
  onFailed,
}: CardProps): SendDecision & { undo: () => void; error: Error | null } {
  const queries = useQueryClient()
  const { queryKey } = linkedApprovalQuery(token)
  const { mutate, isPending, error } = useMutation({
    mutationFn: ({ to, body }: Decision) =>
      decideWithLink(token, { decision: to, ...body, ...(to === 'approve' && approvedAs(approval)) }),
    onSuccess: (result, { to }) => {
      forgetDecisionTexts(approval)
      if (result.decision !== 'held') {
        const votes = result.decision === 'pending' ? { count: result.votes.length, needed: result.needed } : null
        return onDecided({ to, isQuestion: approval.path === 'question', votes })
      }
      const { held } = result
      queries.setQueryData(queryKey, (linked) => linked && { ...linked, approval: { ...linked.approval, held } })
    },
    onError: onFailed,
  })
  const undo = useMutation({
    mutationFn: () => {
      keepUndoneEdit(approval)
      return withdrawWithLink(token)
    },
    onSettled: () => queries.invalidateQueries({ queryKey }),
  })
  return {
    decide: useMutateOnce(mutate),
    undo: () => undo.mutate(),
    isPending,
    error,
    hasVoted: approval.votes.some(({ by }) => by.id === member.id),
  }
}
