import type { ReactNode } from 'react'
import type { PolicyRule, WedgeSummary } from '../../api/types.ts'
import { Tag } from '../../ui/status.tsx'

/** What this kind of work may do, and where it stops for a person. */
export function WedgeCard({ wedge, taskType }: { wedge: WedgeSummary; taskType: string }) {
  const { manifest } = wedge
  const type = manifest.task_types[taskType]
  const rules = manifest.policy?.auto_approve ?? []
  const gated = manifest.approvals?.filter(({ required }) => required) ?? []
  const outputs = Object.keys(Object(type?.output_schema?.['properties'] ?? {}))
  return (
    <aside aria-label="About the wedge" className="panel flex flex-col gap-4 p-5">
      <h2 className="font-semibold">{wedge.title}</h2>
      <CardSection title="Stops for a person">
        {gated.length === 0 && <span className="text-muted">only for actions whose name sounds like an effect</span>}
        {gated.map(({ action, risk }) => (
          <div key={action} className="flex items-center gap-2">
            <code className="font-mono text-xs">{action}</code>
            {risk && <Tag tone={risk === 'high' ? 'bad' : 'wait'}>{risk}</Tag>}
          </div>
        ))}
      </CardSection>
      <CardSection title="Passes by itself">
        {rules.length === 0 && <span className="text-muted">nothing: every action is asked about</span>}
        {rules.map((rule) => (
          <div key={rule.action}>
            <code className="font-mono text-xs">{rule.action}</code>{' '}
            <span className="text-muted">{ruleLimits(rule)}</span>
          </div>
        ))}
      </CardSection>
      <CardSection title="Uses the connections">
        <span className="text-muted">{manifest.connections?.join(', ') || 'none'}</span>
      </CardSection>
      {outputs.length > 0 && (
        <CardSection title="Must answer with">
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
  const parts = [
    max_amount_usd !== undefined && `up to $${max_amount_usd}`,
    max_per_task !== undefined && `${max_per_task} a task`,
    max_per_day !== undefined && `${max_per_day} a day`,
  ]
  return parts.filter((part) => part !== false).join(', ')
}
