import { X } from 'lucide-react'
import type { PolicyRule } from '../../api/types.ts'
import { Button } from '../../ui/button.tsx'
import { RowActions } from '../../ui/table.tsx'

type Limit = 'max_amount_usd' | 'max_per_task' | 'max_per_day'
const LIMITS: { name: Limit; label: string }[] = [
  { name: 'max_amount_usd', label: 'Up to (USD)' },
  { name: 'max_per_task', label: 'Per task' },
  { name: 'max_per_day', label: 'Per day' },
]

/** An empty limit is no limit. */
export function RuleRow({
  rule,
  at,
  onChange,
  onRemove,
}: {
  rule: PolicyRule
  at: number
  onChange: (rule: PolicyRule) => void
  onRemove: () => void
}) {
  return (
    <tr>
      <td className="min-w-44">
        <input
          aria-label={`Action of rule ${at}`}
          className="field h-8 font-mono"
          value={rule.action}
          onChange={(event) => onChange({ ...rule, action: event.target.value })}
        />
      </td>
      {LIMITS.map(({ name, label }) => (
        <td key={name} className="min-w-24">
          <input
            aria-label={`${label} of rule ${at}`}
            type="number"
            min={0}
            step={name === 'max_amount_usd' ? 'any' : 1}
            placeholder="any"
            className="field h-8"
            value={rule[name] ?? ''}
            onChange={(event) => onChange(limited(rule, name, event.target.value))}
          />
        </td>
      ))}
      <RowActions minRole="operator">
        <Button small variant="ghost" aria-label={`Remove rule ${at}`} onClick={onRemove} icon={<X size={14} />} />
      </RowActions>
    </tr>
  )
}

function limited(rule: PolicyRule, name: Limit, text: string): PolicyRule {
  const rest = { ...rule }
  delete rest[name]
  return text === '' ? rest : { ...rest, [name]: Number(text) }
}
