import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { callOperation } from '../../api/http.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { type RuleSuggestion, type Suggestions, suggestionsQuery } from '../../api/setup-queries.ts'
import { Button } from '../../ui/button.tsx'
import { formatDate, formatUsd } from '../../ui/format.ts'
import { TextField } from '../../ui/form-fields.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { Section } from '../../ui/page.tsx'
import { RequireRole, RoleHint } from '../../ui/role.tsx'
import { showToast } from '../../ui/toast.tsx'
import { ruleInWords } from './rule-text.ts'
import { wedgesText } from './text.ts'

const text = wedgesText.suggestion

/** The suggestion for one action, beside a request for it. */
export function ActionSuggestion({ wedge, action }: { wedge: string; action: string }) {
  const { data } = useQuery(suggestionsQuery(wedge))
  // Rules ignore the case of actions.
  const found = data?.suggestions.find(({ rule }) => rule.action.toLowerCase() === action.toLowerCase())
  return data && found ? <SuggestionCard wedge={wedge} suggestion={found} basedOn={data.policy_version} /> : null
}

/** Everything that the history of the wedge suggests, and why it suggests no more. */
export function RuleSuggestions({ wedge }: { wedge: string }) {
  const { data } = useQuery(suggestionsQuery(wedge))
  if (!data || data.suggestions.length + data.refused.length === 0) return null
  return (
    <Section title={wedgesText.suggestions}>
      {data.suggestions.map((suggestion) => (
        <SuggestionCard
          key={suggestion.rule.action}
          wedge={wedge}
          suggestion={suggestion}
          basedOn={data.policy_version}
        />
      ))}
      <RefusedActions refused={data.refused} />
      {data.is_capped && <p className="text-muted">{wedgesText.capped(data.checked)}</p>}
    </Section>
  )
}

function SuggestionCard({
  wedge,
  suggestion,
  basedOn,
}: {
  wedge: string
  suggestion: RuleSuggestion
  basedOn: number | null
}) {
  const { rule, text: inWords, would_pass, above_limit, not_covered } = suggestion
  const sum = would_pass.sum && formatUsd(would_pass.sum.amount)
  return (
    <article aria-label={wedgesText.suggestions} className="panel flex flex-col gap-2 px-5 py-4">
      <h3 className="font-medium break-words">{text.title(rule.action, would_pass.count + above_limit.count)}</h3>
      <p>
        {text.rule}: <code className="font-mono text-xs break-words">{inWords}</code>
      </p>
      <p className="text-muted">
        {above_limit.lowest !== null && text.covers(would_pass.count, above_limit.count, formatUsd(above_limit.lowest))}{' '}
        {text.wouldPass(would_pass.count, sum, formatDate(would_pass.first_at))}{' '}
        {would_pass.undecided > 0 && text.undecided(would_pass.undecided)} {text.notCovered(not_covered.count)}
      </p>
      <details>
        <summary className="text-muted">{text.examples}</summary>
        <ExampleLinks label={text.approvedExamples} ids={would_pass.sample} />
        <ExampleLinks label={text.aboveExamples} ids={above_limit.sample} />
        <ExampleLinks label={text.refusedExamples} ids={not_covered.sample} />
      </details>
      <div>
        <RequireRole minRole="admin" fallback={<RoleHint>{text.ask}</RoleHint>}>
          <SaveRuleButton wedge={wedge} suggestion={suggestion} basedOn={basedOn} />
        </RequireRole>
      </div>
    </article>
  )
}

/** Asks before it saves the rule. The amount can be changed there. */
function SaveRuleButton({
  wedge,
  suggestion: { rule, auto_approve },
  basedOn,
}: {
  wedge: string
  suggestion: RuleSuggestion
  basedOn: number | null
}) {
  const [isAsking, setIsAsking] = useState(false)
  const [amount, setAmount] = useState(String(rule.max_amount_usd ?? ''))
  const changed = rule.max_amount_usd === undefined ? rule : { ...rule, max_amount_usd: Number(amount) }
  const rules = auto_approve.map((one) => (one.action === rule.action ? changed : one))
  const save = useApiMutation(
    () => callOperation('updatePolicy', { wedge, body: { auto_approve: rules, based_on: basedOn } }),
    {
      invalidates: ['policies'],
      onSuccess: () => {
        setIsAsking(false)
        showToast(wedgesText.rulesAreSaved)
      },
    },
  )
  return (
    <>
      <Button small variant="primary" onClick={() => setIsAsking(true)}>
        {text.save}
      </Button>
      {isAsking && (
        <FormDialog
          role="alertdialog"
          title={text.confirm(ruleInWords(changed))}
          submitLabel={text.save}
          mutation={save}
          onClose={() => setIsAsking(false)}
        >
          {rule.max_amount_usd !== undefined && (
            <TextField
              label={wedgesText.limits.max_amount_usd}
              hint={text.amountHint}
              type="number"
              min={0}
              step="any"
              required
              value={amount}
              onChange={setAmount}
            />
          )}
        </FormDialog>
      )}
    </>
  )
}

function ExampleLinks({ label, ids }: { label: string; ids: string[] }) {
  if (ids.length === 0) return null
  return (
    <p className="mt-1 text-muted">
      {label}:{' '}
      {ids.map((id) => (
        <Link key={id} to="/approvals" search={{ id }} className="mr-2 font-mono text-xs text-accent underline">
          {id}
        </Link>
      ))}
    </p>
  )
}

function RefusedActions({ refused }: Pick<Suggestions, 'refused'>) {
  if (refused.length === 0) return null
  return (
    <details>
      <summary className="text-muted">{wedgesText.noSuggestions}</summary>
      <ul className="mt-1 list-disc pl-5 text-muted">
        {refused.map(({ action, reason }) => (
          <li key={action}>{wedgesText.refusedAction(action, reason)}</li>
        ))}
      </ul>
    </details>
  )
}
