import { useMutation } from '@tanstack/react-query'
import { decideWithLink, type LinkedApproval } from '../../api/decision-link.ts'
import { errorMessage } from '../../api/http.ts'
import { ErrorMessage } from '../../ui/page-states.tsx'
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
  /** Finds out whether the link can still be used. */
  onRefused: () => void
}

/** The approval with the decisions that the member of the link can take. */
export function DecisionCard(props: CardProps) {
  const { approval, member } = props.linked
  const { error, ...send } = useLinkDecision(props)
  return (
    <article aria-label={decideText.title} className="panel flex flex-col">
      <CardHeader approval={approval} />
      <div className="flex flex-col gap-3 border-t border-line p-5">
        {approval.path === 'question' ? (
          <QuestionDecision approval={approval} send={send} />
        ) : (
          <DecisionForm approval={approval} send={send} />
        )}
        {error && <ErrorMessage message={errorMessage(error)} />}
      </div>
      <footer className="border-t border-line px-5 py-2 text-xs text-muted">
        {decideText.decidingAs(member.name ?? member.email)}
      </footer>
    </article>
  )
}

function useLinkDecision({
  token,
  linked: { approval },
  onDecided,
  onRefused,
}: CardProps): SendDecision & { error: Error | null } {
  const { mutate, isPending, error } = useMutation({
    mutationFn: ({ to, body }: Decision) => decideWithLink(token, { decision: to, ...body }),
    onSuccess: (result, { to }) => onDecided({ to, isQuestion: approval.path === 'question', result }),
    onError: onRefused,
  })
  return { decide: mutate, isPending, error }
}
