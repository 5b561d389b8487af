import { z } from 'zod'
import { describeRule } from '../../platform/contract/policy.ts'
import type { Policy } from '../policy/current-policy.ts'
import { PolicyRuleView } from '../policy/policy-view.ts'
import { dollarsOf, type PastDecision, type RuleSuggestion, type RuleSuggestions, sampleIds } from './suggest-rules.ts'

const sample = z.array(z.string()).meta({ description: 'The ids of up to 5 of these approvals.' })

const RuleSuggestionView = z
  .object({
    rule: PolicyRuleView,
    text: z.string().meta({ description: 'The rule in words.' }),
    auto_approve: z
      .array(PolicyRuleView)
      .meta({ description: 'All rules with the suggested one, to save with `PUT /v1/wedges/:wedge/policy`.' }),
    would_pass: z
      .object({
        count: z.number().int(),
        sum: z.object({ amount: z.number(), currency: z.literal('USD') }).nullable(),
        first_at: z.string(),
        last_at: z.string(),
        sample,
        undecided: z
          .number()
          .int()
          .meta({ description: 'Expired requests that the rule would have approved as well.' }),
      })
      .meta({ description: 'What people approved unchanged and the rule would have approved.' }),
    above_limit: z.object({ count: z.number().int(), lowest: z.number().nullable(), sample }).meta({
      description:
        'What people approved unchanged with an amount above the limit, and the lowest of these amounts. The limit is usual: at most twice the median.',
    }),
    would_pass_wrongly: z
      .literal(0)
      .meta({ description: 'Requests that a person rejected, sent back or edited and that the rule covers.' }),
    not_covered: z
      .object({ count: z.number().int(), sample })
      .meta({ description: 'The requests of this action that a person rejected, sent back or edited.' }),
  })
  .meta({ id: 'RuleSuggestion' })

export const SuggestionsView = z
  .object({
    checked: z.number().int().meta({ description: 'How many requests were read.' }),
    is_capped: z.boolean().meta({ description: 'There are older approved or expired requests that were not read.' }),
    policy_version: z
      .number()
      .int()
      .nullable()
      .meta({ description: 'The version that the suggestions would change: `based_on` of the next save.' }),
    suggestions: z.array(RuleSuggestionView),
    refused: z
      .array(z.object({ action: z.string(), reason: z.string() }))
      .meta({ description: 'Actions that people keep approving and for which no rule is suggested.' }),
  })
  .meta({ id: 'Suggestions' })

export function toSuggestionsView(
  { version }: Policy,
  { checked, isCapped }: { checked: number; isCapped: boolean },
  { suggestions, refused }: RuleSuggestions,
): z.infer<typeof SuggestionsView> {
  return {
    checked,
    is_capped: isCapped,
    policy_version: version,
    suggestions: suggestions.map(toSuggestionView),
    refused,
  }
}

function toSuggestionView(suggestion: RuleSuggestion): z.infer<typeof RuleSuggestionView> {
  const { rule, rules, wouldPass, aboveLimit, undecided, refused } = suggestion
  return {
    rule,
    text: describeRule(rule),
    auto_approve: rules,
    would_pass: {
      count: wouldPass.length,
      sum: rule.max_amount_usd === undefined ? null : { amount: sumDollars(wouldPass), currency: 'USD' },
      first_at: wouldPass.at(-1)?.createdAt ?? '',
      last_at: wouldPass[0]?.createdAt ?? '',
      sample: sampleIds(wouldPass),
      undecided,
    },
    above_limit: {
      count: aboveLimit.length,
      lowest: aboveLimit.length === 0 ? null : aboveLimit.map(dollarsOf).reduce((a, b) => Math.min(a, b)),
      sample: sampleIds(aboveLimit),
    },
    would_pass_wrongly: 0,
    not_covered: { count: refused.length, sample: sampleIds(refused) },
  }
}

/** Rounded to cents, because sums of decimal fractions are not exact. */
const sumDollars = (decisions: readonly PastDecision[]): number =>
  Number(decisions.reduce((sum, { stated }) => sum + ('dollars' in stated ? stated.dollars : 0), 0).toFixed(2))
