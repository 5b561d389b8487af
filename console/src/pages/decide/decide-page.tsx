import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import {
  decisionToken,
  goneLink,
  isRefused,
  type LinkedApproval,
  linkedApprovalQuery,
} from '../../api/decision-link.ts'
import { errorMessage } from '../../api/http.ts'
import { ApiError } from '../../api/request.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { capitalize } from '../../ui/humanize.ts'
import { Placeholder } from '../../ui/page-states.tsx'
import { KeptTextNotice } from '../approvals/kept-text-list.tsx'
import { useKeptTexts } from '../approvals/kept-texts.ts'
import { approvalsText } from '../approvals/text.ts'
import { DecisionCard } from './decision-card.tsx'
import { type Outcome, OutcomeMessage } from './outcome-message.tsx'
import { decideText } from './text.ts'

const text = decideText.closed

/** The page that the link of a mail opens: one approval and its decision, without a sign-in. */
export function DecidePage() {
  const [token] = useState(decisionToken)
  const [outcome, setOutcome] = useState<Outcome | null>(null)
  return (
    <main className="mx-auto flex min-h-dvh w-full max-w-3xl flex-col gap-4 p-4 sm:py-10">
      <h1 className="text-lg font-semibold tracking-tight">{decideText.title}</h1>
      {outcome ? (
        <OutcomeMessage outcome={outcome} />
      ) : token === '' ? (
        <ClosedLink title={text.invalid} hint={text.invalidHint} />
      ) : (
        <OpenLink token={token} onDecided={setOutcome} />
      )}
      {outcome === null && <UnsentText />}
      <footer className="mt-auto text-xs text-muted">{decideText.product}</footer>
    </main>
  )
}

/** What the reader was typing when another person decided. */
function UnsentText() {
  return useKeptTexts().map((kept) => <KeptTextNotice key={kept.key} kept={kept} title={approvalsText.kept.decided} />)
}

function OpenLink({ token, onDecided }: { token: string; onDecided: (outcome: Outcome) => void }) {
  const { data, error, refetch } = useQuery(linkedApprovalQuery(token))
  const [refusal, setRefusal] = useState<ApiError | null>(null)
  const onFailed = (failure: Error) => {
    if (failure instanceof ApiError && failure.status === 403) setRefusal(failure)
    // The service says what came of the approval, if the link cannot be used any more.
    else void refetch()
  }
  // The link is used up when the seconds of undo are over.
  const made = data ? madeOutcome(data, error) : null
  if (made) return <OutcomeMessage outcome={made} />
  if (refusal) return <LinkError error={refusal} onRetry={() => setRefusal(null)} />
  // While the service is away, the open approval stays, with what was typed.
  if (error && (!data || isRefused(error))) return <LinkError error={error} onRetry={() => void refetch()} />
  if (!data) return <Placeholder className="h-96" />
  return <DecisionCard token={token} linked={data} onDecided={onDecided} onFailed={onFailed} />
}

/** What came of the approval that was held on this page; null if it was withdrawn, or closed before it counted. */
function madeOutcome({ approval: { held }, member }: LinkedApproval, error: unknown): Outcome | null {
  const gone = goneLink(error)
  if (held?.by.id !== member.id || !gone?.approved_by_you) return null
  if (gone.status === 'approved') return { to: 'approve', isQuestion: false, votes: null }
  return gone.status === 'pending'
    ? { to: 'approve', isQuestion: false, votes: { count: gone.votes, needed: gone.needed } }
    : null
}

/** Why the link cannot be used, in the words of the server where it knows more. */
function LinkError({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  const status = error instanceof ApiError ? error.status : null
  const hint = `${capitalize(errorMessage(error))}.`
  if (status === 410) return <ClosedLink title={text.gone} hint={hint} />
  if (status === 403) return <ClosedLink title={text.forbidden} hint={hint} />
  if (status === 401 || status === 404) return <ClosedLink title={text.invalid} hint={text.invalidHint} />
  return <ClosedLink title={text.failed} hint={hint} action={<Button onClick={onRetry}>{text.tryAgain}</Button>} />
}

function ClosedLink({ title, hint, action }: { title: string; hint: string; action?: ReactNode }) {
  return (
    <section role="alert" className="panel flex flex-col items-start gap-3 p-5">
      <h2 className="text-base font-semibold">{title}</h2>
      <p className="text-muted">{hint}</p>
      <div className="flex flex-wrap gap-2">
        {action}
        <a href="/approvals" className={buttonClass('plain')}>
          {text.openConsole}
        </a>
      </div>
    </section>
  )
}
