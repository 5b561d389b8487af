import { X } from 'lucide-react'
import type { PolicyRule } from '../../api/types.ts'
import { Button } from '../../ui/button.tsx'
import { RowActions } from '../../ui/table.tsx'
import { wedgesText } from './text.ts'

const LIMITS = ['max_amount_usd', 'max_per_task', 'max_per_day'] as const
type LimitName = (typeof LIMITS)[number]

/** One editable auto-approve rule. An empty input means that the rule has no such limit. */
export function PolicyRuleRow({
  rule,
  number,
  onChange,
  onRemove,
}: {
  rule: PolicyRule
  number: number
  onChange: (rule: PolicyRule) => void
  onRemove: () => void
}) {
  return (
    <tr>
      <td className="min-w-44">
        <input
          aria-label={wedgesText.inRule(wedgesText.action, number)}
          className="field h-8 font-mono"
          value={rule.action}
          onChange={(event) => onChange({ ...rule, action: event.target.value })}
        />
      </td>
      {LIMITS.map((name) => (
        <td key={name} className="min-w-24">
          <input
            aria-label={wedgesText.inRule(wedgesText.limits[name], number)}
            type="number"
            min={0}
            step={name === 'max_amount_usd' ? 'any' : 1}
            placeholder={wedgesText.noLimit}
            className="field h-8"
            value={rule[name] ?? ''}
            onChange={(event) => onChange(withLimit(rule, name, event.target.value))}
          />
        </td>
      ))}
      <RowActions minRole="operator">
        <Button
          small
          variant="ghost"
          aria-label={wedgesText.removeRule(number)}
          onClick={onRemove}
          icon={<X size={14} />}
        />
      </RowActions>
    </tr>
  )
}

function withLimit(rule: PolicyRule, name: LimitName, text: string): PolicyRule {
  const rest = { ...rule }
  delete rest[name]
  return text === '' ? rest : { ...rest, [name]: Number(text) }
}
