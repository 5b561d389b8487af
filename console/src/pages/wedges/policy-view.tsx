import { useQuery } from '@tanstack/react-query'
import { policyQuery } from '../../api/setup-queries.ts'
import type { WedgeSummary } from '../../api/types.ts'
import { formatDuration } from '../../ui/format.ts'
import { Section } from '../../ui/page.tsx'
import { QueryResult } from '../../ui/query-result.tsx'
import { Tag } from '../../ui/status.tsx'
import { PolicyEditor } from './policy-editor.tsx'
import { RuleSuggestions } from './rule-suggestions.tsx'
import { wedgesText } from './text.ts'

/** What needs an approval, the auto-approve rules of the project, and the rules that its history suggests. */
export function PolicyView({ wedge: { wedge, manifest } }: { wedge: WedgeSummary }) {
  const policy = useQuery(policyQuery(wedge))
  return (
    <div className="flex flex-col gap-6">
      <Section title={wedgesText.requiresApproval}>
        <ul className="flex flex-wrap gap-2">
          {(manifest.approvals ?? []).map(({ action, risk = 'medium', ttl_s }) => (
            <li key={action} className="panel flex items-center gap-2 px-3 py-1.5 font-mono text-xs">
              {action} <Tag>{risk}</Tag>
              {ttl_s !== undefined && (
                <span className="text-muted">{wedgesText.expiresAfter(formatDuration(ttl_s * 1_000))}</span>
              )}
            </li>
          ))}
        </ul>
      </Section>
      <QueryResult query={policy}>
        {(loaded) => <PolicyEditor key={loaded.version} wedge={wedge} policy={loaded} />}
      </QueryResult>
      <RuleSuggestions wedge={wedge} />
    </div>
  )
}
