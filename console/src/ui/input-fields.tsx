import { useState } from 'react'
import type { Json, JsonObject } from '../api/types.ts'
import { Checkbox, Field } from './form-fields.tsx'
import { humanize } from './humanize.ts'
import { JsonEditor } from './json-editor.tsx'
import type { InputField } from './schema-fields.ts'

export function InputFields({
  fields,
  input,
  hints = {},
  onChange,
}: {
  fields: InputField[]
  input: JsonObject
  /** Replace the hints of some fields, by name. */
  hints?: Record<string, string>
  onChange: (input: JsonObject) => void
}) {
  return fields.map((field) => (
    <InputFieldControl
      key={field.name}
      field={{ ...field, hint: hints[field.name] ?? field.hint }}
      value={input[field.name]}
      onChange={(value) => onChange(withValue(input, field.name, value))}
    />
  ))
}

/** An empty field is left out of the input. */
function withValue(input: JsonObject, name: string, value: Json | undefined): JsonObject {
  const { [name]: _, ...rest } = input
  return value === undefined ? rest : { ...input, [name]: value }
}

interface ControlProps {
  field: InputField
  value: Json | undefined
  onChange: (value: Json | undefined) => void
}

function InputFieldControl({ field, value, onChange }: ControlProps) {
  const { name, type, required, hint, choices } = field
  const label = humanize(name)
  if (type === 'boolean') return <Checkbox label={label} checked={value === true} onChange={onChange} />
  if (type === 'json') return <JsonEditor label={label} value={value ?? null} onChange={onChange} rows={5} />
  if (!choices) return <TypedInput field={field} value={value} onChange={onChange} />
  return (
    <Field label={label} hint={hint}>
      {(id) => (
        <select
          id={id}
          required={required}
          className="field h-8"
          value={shownText(value)}
          onChange={(event) => onChange(event.target.value === '' ? undefined : event.target.value)}
        >
          {[...new Set(['', ...choices, shownText(value)])].map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      )}
    </Field>
  )
}

const LONG_TEXT_NAME = /body|text|message|reason|description|content|note/
const MAX_ONE_LINE_CHARS = 60

const shownText = (value: Json | undefined) =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : ''

function TypedInput({ field: { name, type, required, isInteger, hint }, value, onChange }: ControlProps) {
  const shown = shownText(value)
  // Decided once, because the other element would lose the focus while somebody types.
  const [isLong] = useState(
    () => type === 'string' && (LONG_TEXT_NAME.test(name) || shown.length > MAX_ONE_LINE_CHARS || shown.includes('\n')),
  )
  const change = (typed: string) => onChange(typed === '' ? undefined : type === 'number' ? Number(typed) : typed)
  return (
    <Field label={humanize(name)} hint={hint}>
      {(id) =>
        isLong ? (
          <textarea
            id={id}
            rows={Math.max(2, Math.min(12, shown.split('\n').length + Math.floor(shown.length / 90)))}
            required={required}
            className="field"
            value={shown}
            onChange={(event) => change(event.target.value)}
          />
        ) : (
          <input
            id={id}
            required={required}
            type={type === 'number' ? 'number' : 'text'}
            step={isInteger ? 1 : 'any'}
            className={`field h-8 ${type === 'number' ? 'max-w-48' : ''}`}
            value={shown}
            onChange={(event) => change(event.target.value)}
          />
        )
      }
    </Field>
  )
}
