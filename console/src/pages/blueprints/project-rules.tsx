import { useQuery } from '@tanstack/react-query'
import { policyQuery } from '../../api/setup-queries.ts'
import { ruleInWords } from '../wedges/rule-text.ts'
import { blueprintsText } from './text.ts'

/** What the wedge does without a person in this project, by the rules that apply now. */
export function ProjectRules({ wedge }: { wedge: string }) {
  const { data: policy } = useQuery(policyQuery(wedge))
  if (!policy) return null
  return (
    <section aria-label={blueprintsText.rules} className="flex flex-col gap-1">
      <h3 className="font-medium">{blueprintsText.rules}</h3>
      {policy.auto_approve.length === 0 ? (
        <p className="text-muted">{blueprintsText.noRules}</p>
      ) : (
        <ul className="list-disc pl-5 text-muted">
          {policy.auto_approve.map((rule, n) => (
            <li key={n} className="break-words">
              {ruleInWords(rule)}
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
