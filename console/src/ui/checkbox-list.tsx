import type { ReactNode } from 'react'
import type { Json } from '../api/types.ts'
import { Checkbox } from './form-fields.tsx'
import { limitsHint, ListFrame } from './list-frame.tsx'
import { hasTooFewItems } from './list-rows.ts'
import type { FieldChoice, FieldText, InputField } from './schema-fields.ts'

/** A list of some of the possible values: one checkbox for each. */
export function CheckboxList({
  field,
  choices,
  label,
  value,
  text,
  onChange,
}: {
  field: InputField
  choices: FieldChoice[]
  label: ReactNode
  value: Json
  text: FieldText
  onChange: (value: Json) => void
}) {
  const { required, hint, minItems, maxItems } = field
  const chosen = Array.isArray(value) ? value : []
  const isTooShort = hasTooFewItems(field, chosen.length)
  const problem = isTooShort ? text.limits(minItems, maxItems) : (field.problem ?? null)
  const change = (changed: FieldChoice, isChosen: boolean) => {
    const all = choices.flatMap(({ value: one }) =>
      (one === changed.value ? isChosen : chosen.includes(one)) ? [one] : [],
    )
    onChange(all.length > 0 ? all : undefined)
  }
  return (
    <ListFrame label={label} required={required} hint={[hint, limitsHint(field, text)]}>
      {choices.map((choice, n) => {
        const checked = chosen.includes(choice.value)
        return (
          <Checkbox
            key={String(choice.value)}
            label={choice.label}
            checked={checked}
            problem={n === 0 ? problem : null}
            disabled={!checked && maxItems !== null && chosen.length >= maxItems}
            onChange={(to) => change(choice, to)}
          />
        )
      })}
    </ListFrame>
  )
}
