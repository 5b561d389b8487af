import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { policyQuery } from '../../api/setup-queries.ts'
import type { PolicyRule, WedgeSummary } from '../../api/types.ts'
import { describeConnections } from '../../ui/declared-connections.ts'
import { formatUsd } from '../../ui/format.ts'
import { Tag } from '../../ui/status.tsx'
import { MissingConnections } from '../connections/missing-connections.tsx'
import { runText } from './text.ts'

const text = runText.card

/** What the wedge can do, and which actions need approval. */
export function WedgeCard({ wedge, taskType }: { wedge: WedgeSummary; taskType: string }) {
  const { manifest } = wedge
  const type = manifest.task_types[taskType]
  const { data: policy } = useQuery(policyQuery(wedge.wedge))
  const rules = policy?.auto_approve
  const gated = manifest.approvals?.filter(({ required }) => required) ?? []
  const outputs = Object.keys(Object(type?.output_schema?.['properties'] ?? {}))
  return (
    <aside aria-label={text.label} className="panel flex flex-col gap-4 p-5">
      <h2 className="font-semibold">{wedge.title}</h2>
      <CardSection title={text.requiresApproval}>
        {gated.length === 0 && <span className="text-muted">{text.undeclared}</span>}
        {gated.map(({ action, risk }) => (
          <div key={action} className="flex items-center gap-2">
            <code className="font-mono text-xs">{action}</code>
            {risk && <Tag tone={risk === 'high' ? 'bad' : 'wait'}>{text.risk(risk)}</Tag>}
          </div>
        ))}
      </CardSection>
      <CardSection title={text.autoApproved}>
        {rules?.length === 0 && <span className="text-muted">{text.noRules}</span>}
        {rules?.map((rule) => (
          <div key={rule.action}>
            <code className="font-mono text-xs">{rule.action}</code>{' '}
            <span className="text-muted">{ruleLimits(rule)}</span>
          </div>
        ))}
      </CardSection>
      <CardSection title={text.connections}>
        <span className="text-muted">{describeConnections(manifest).join(', ') || text.none}</span>
        <MissingConnections wedge={wedge.wedge} />
      </CardSection>
      {outputs.length > 0 && (
        <CardSection title={text.outputFields}>
          <span className="font-mono text-xs break-words text-muted">{outputs.join(', ')}</span>
        </CardSection>
      )}
    </aside>
  )
}

function CardSection({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="flex flex-col gap-1">
      <h3 className="text-xs font-semibold text-muted">{title}</h3>
      {children}
    </section>
  )
}

function ruleLimits({ max_amount_usd, max_per_task, max_per_day }: PolicyRule): string {
  const counts = [
    max_per_task !== undefined && text.perTask(max_per_task),
    max_per_day !== undefined && text.perDay(max_per_day),
  ].filter((part) => part !== false)
  const parts = [
    max_amount_usd !== undefined && text.maxAmount(formatUsd(max_amount_usd)),
    counts.length > 0 && text.maxCounts(counts),
  ]
  return parts.filter((part) => part !== false).join(', ')
}
