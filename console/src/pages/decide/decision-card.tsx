import { useMutation } from '@tanstack/react-query'
import { decideWithLink, type LinkedApproval } from '../../api/decision-link.ts'
import { CardHeader } from '../approvals/approval-card.tsx'
import { DecisionForm } from '../approvals/decision-form.tsx'
import { QuestionDecision } from '../approvals/question-decision.tsx'
import type { Decision, SendDecision } from '../approvals/use-decision.ts'
import type { Outcome } from './outcome-message.tsx'
import { decideText } from './text.ts'

interface CardProps {
  token: string
  linked: LinkedApproval
  onDecided: (outcome: Outcome) => void
  onRefused: (error: unknown) => void
}

/** The approval with the decisions that the member of the link can take. */
export function DecisionCard(props: CardProps) {
  const { approval, member } = props.linked
  const send = useLinkDecision(props)
  return (
    <article aria-label={decideText.title} className="panel flex flex-col">
      <CardHeader approval={approval} />
      <div className="border-t border-line p-5">
        {approval.path === 'question' ? (
          <QuestionDecision approval={approval} send={send} />
        ) : (
          <DecisionForm approval={approval} send={send} />
        )}
      </div>
      <footer className="border-t border-line px-5 py-2 text-xs text-muted">
        {decideText.decidingAs(member.name ?? member.email)}
      </footer>
    </article>
  )
}

function useLinkDecision({ token, linked: { approval }, onDecided, onRefused }: CardProps): SendDecision {
  const { mutate, isPending } = useMutation({
    mutationFn: ({ to, body }: Decision) => decideWithLink(token, { decision: to, ...body }),
    onSuccess: (result, { to }) => onDecided({ to, isQuestion: approval.path === 'question', result }),
    onError: onRefused,
  })
  return { decide: mutate, isPending }
}
