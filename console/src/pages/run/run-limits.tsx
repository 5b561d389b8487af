import { toText } from '../../api/json.ts'
import type { JsonObject } from '../../api/types.ts'
import { Checkbox, TextField } from '../../ui/form-fields.tsx'

/** Limits for this one run. They only go down: the wedge and the deployment have the last word. */
export function RunLimits({ value, onChange }: { value: JsonObject; onChange: (value: JsonObject) => void }) {
  const set = (name: string, to: number | boolean | null) => {
    const { [name]: _, ...rest } = value
    onChange(to === null || to === false ? rest : { ...rest, [name]: to })
  }
  const limit = (name: string, label: string, hint: string) => (
    <TextField
      label={label}
      hint={hint}
      type="number"
      min={0}
      step="any"
      value={toText(value[name])}
      onChange={(to) => set(name, to === '' ? null : Number(to))}
    />
  )
  return (
    <details>
      <summary className="text-muted hover:text-text">Limits</summary>
      <div className="mt-3 grid gap-4 sm:grid-cols-2">
        {limit('max_cost_usd', 'Most cost (USD)', 'Only lowers what the wedge allows.')}
        {limit('max_runtime_s', 'Longest run (seconds)', 'Only lowers what the wedge allows.')}
        <Checkbox
          label="Ask me about every action"
          checked={value['approval_required'] === true}
          onChange={(checked) => set('approval_required', checked)}
        />
      </div>
    </details>
  )
}
