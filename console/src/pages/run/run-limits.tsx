import { toText } from '../../api/json.ts'
import type { JsonObject } from '../../api/types.ts'
import { Checkbox, TextField } from '../../ui/form-fields.tsx'
import { runText } from './text.ts'

const text = runText.limits

/** Limits of this run. They can only lower the limits of the wedge and the deployment. */
export function RunLimits({ value, onChange }: { value: JsonObject; onChange: (value: JsonObject) => void }) {
  const set = (name: string, to: number | boolean | null) => {
    const { [name]: _, ...rest } = value
    onChange(to === null || to === false ? rest : { ...rest, [name]: to })
  }
  const limit = (name: string, label: string) => (
    <TextField
      label={label}
      hint={text.hint}
      type="number"
      min={0}
      step="any"
      value={toText(value[name])}
      onChange={(to) => set(name, to === '' ? null : Number(to))}
    />
  )
  return (
    <details>
      <summary className="text-muted hover:text-text">{text.title}</summary>
      <div className="mt-3 grid gap-4 sm:grid-cols-2">
        {limit('max_cost_usd', text.cost)}
        {limit('max_runtime_s', text.time)}
        <Checkbox
          label={text.requireApproval}
          checked={value['approval_required'] === true}
          onChange={(checked) => set('approval_required', checked)}
        />
      </div>
    </details>
  )
}
