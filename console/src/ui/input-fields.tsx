import type { Json, JsonObject } from '../api/types.ts'
import { Checkbox, Field } from './form-fields.tsx'
import { humanize } from './humanize.ts'
import { JsonEditor } from './json-editor.tsx'
import type { InputField } from './schema-fields.ts'

export function InputFields({
  fields,
  input,
  onChange,
}: {
  fields: InputField[]
  input: JsonObject
  onChange: (input: JsonObject) => void
}) {
  return fields.map((field) => (
    <InputFieldControl
      key={field.name}
      field={field}
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

const LONG_TEXT_NAME = /body|text|message|reason|description|content|note/

function InputFieldControl({
  field: { name, type, required, isInteger, hint, choices },
  value,
  onChange,
}: {
  field: InputField
  value: Json | undefined
  onChange: (value: Json | undefined) => void
}) {
  const label = humanize(name)
  if (type === 'boolean') return <Checkbox label={label} checked={value === true} onChange={onChange} />
  if (type === 'json') return <JsonEditor label={label} value={value ?? null} onChange={onChange} rows={5} />
  const shown = typeof value === 'string' || typeof value === 'number' ? String(value) : ''
  const change = (typed: string) => onChange(typed === '' ? undefined : type === 'number' ? Number(typed) : typed)
  if (choices)
    return (
      <Field label={label} hint={hint}>
        {(id) => (
          <select
            id={id}
            required={required}
            className="field h-8"
            value={shown}
            onChange={(event) => change(event.target.value)}
          >
            {['', ...choices].map((choice) => (
              <option key={choice}>{choice}</option>
            ))}
          </select>
        )}
      </Field>
    )
  return (
    <Field label={label} hint={hint}>
      {(id) =>
        type === 'string' && LONG_TEXT_NAME.test(name) ? (
          <textarea
            id={id}
            rows={2}
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
