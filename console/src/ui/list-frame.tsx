import type { ReactNode } from 'react'
import { REQUIRED_MARK } from './form-fields.tsx'
import type { FieldText, InputField } from './schema-fields.ts'

/** The label and the hints of a list, with its controls. */
export function ListFrame({
  label,
  required,
  hint,
  children,
}: {
  label: ReactNode
  required: boolean
  hint: readonly (string | null)[]
  children: ReactNode
}) {
  const shown = hint.filter(Boolean).join(' ')
  return (
    <fieldset className="flex min-w-0 flex-col gap-2">
      <legend className={`mb-1 font-medium ${required ? REQUIRED_MARK : ''}`}>{label}</legend>
      {shown !== '' && <p className="text-xs text-muted">{shown}</p>}
      {children}
    </fieldset>
  )
}

/** How many items a list must have; null if the form needs no words for it. */
export function limitsHint({ minItems, maxItems }: InputField, text: FieldText): string | null {
  return minItems > 1 || maxItems !== null ? text.limits(minItems, maxItems) : null
}
