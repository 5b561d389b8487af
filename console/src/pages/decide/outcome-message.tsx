import { Check, Undo2, X } from 'lucide-react'
import type { Decision } from '../approvals/use-decision.ts'
import { decideText } from './text.ts'

const text = decideText.outcome

/** What the member decided. */
export interface Outcome {
  to: Decision['to']
  isQuestion: boolean
  /** Of an approval that needs more people: how many have approved. */
  votes: { count: number; needed: number } | null
}

/** What came of the decision. It replaces the approval, because the link is used up. */
export function OutcomeMessage({ outcome }: { outcome: Outcome }) {
  const { title, hint } = outcomeText(outcome)
  const Icon = outcome.to === 'approve' ? Check : outcome.to === 'revise' ? Undo2 : X
  return (
    <section role="status" className="panel flex flex-col gap-3 p-5">
      <h2 className="flex items-center gap-2 text-base font-semibold">
        <Icon size={18} aria-hidden />
        {title}
      </h2>
      <p className="text-muted">{hint}</p>
    </section>
  )
}

function outcomeText({ to, isQuestion, votes }: Outcome): { title: string; hint: string } {
  if (isQuestion && to === 'approve') return { title: text.answered, hint: text.answeredHint }
  if (isQuestion) return { title: text.declined, hint: text.declinedHint }
  if (to === 'reject') return { title: text.rejected, hint: text.rejectedHint }
  if (to === 'revise') return { title: text.revised, hint: text.revisedHint }
  if (!votes) return { title: text.approved, hint: text.approvedHint }
  return { title: text.voted, hint: text.votedHint(votes.count, votes.needed) }
}
