import { type ReactNode, useState } from 'react'
import { toObject, toText } from '../api/json.ts'
import type { Json, JsonObject } from '../api/types.ts'
import { CheckboxList } from './checkbox-list.tsx'
import { Checkbox, Select, TextArea, TextField } from './form-fields.tsx'
import { JsonEditor } from './json-editor.tsx'
import { EntriesField, ListField } from './list-fields.tsx'
import { limitsHint } from './list-frame.tsx'
import type { FieldText, InputField } from './schema-fields.ts'
import { uiText } from './text.ts'

/** The fields of a form. Those that most people leave empty are under "Advanced". */
export function InputFields({
  fields,
  input,
  hints = {},
  group = null,
  text = uiText.question.fields,
  onChange,
}: {
  fields: InputField[]
  input: JsonObject
  /** Replace the hints of some fields, by name. */
  hints?: Record<string, string>
  /** The list item that the fields belong to, such as "Guest 2". It is part of their accessible names. */
  group?: string | null
  text?: FieldText
  onChange: (input: JsonObject) => void
}) {
  const toControl = (field: InputField) => (
    <InputFieldControl
      key={field.name}
      field={{ ...field, hint: hints[field.name] ?? field.hint }}
      value={input[field.name]}
      group={group}
      text={text}
      onChange={(value) => onChange(withValue(input, field.name, value))}
    />
  )
  const advanced = fields.filter(({ isAdvanced }) => isAdvanced)
  const [startsOpen] = useState(() => advanced.some(({ name }) => input[name] !== undefined))
  return (
    <>
      {fields.filter(({ isAdvanced }) => !isAdvanced).map(toControl)}
      {advanced.length > 0 && (
        <details open={startsOpen}>
          <summary className="text-muted hover:text-text">{text.advanced}</summary>
          <div className="mt-3 flex flex-col gap-4">{advanced.map(toControl)}</div>
        </details>
      )}
    </>
  )
}

/** An empty field is left out of the input. */
function withValue(input: JsonObject, name: string, value: Json): JsonObject {
  const { [name]: _, ...rest } = input
  return value === undefined ? rest : { ...input, [name]: value }
}

interface ControlProps {
  field: InputField
  value: Json
  group: string | null
  text: FieldText
  onChange: (value: Json) => void
}

function InputFieldControl(props: ControlProps) {
  const { field, value, onChange } = props
  const { label, type, choices, item, problem = null } = field
  if (choices) return <ChoiceField {...props} />
  if (type === 'boolean')
    return <Checkbox label={labelOf(props)} problem={problem} checked={value === true} onChange={onChange} />
  if (type === 'lines') return <LinesField {...props} />
  if (type === 'object') return <ObjectFields {...props} />
  if (type === 'json') return <JsonEditor label={label} value={value ?? null} onChange={onChange} rows={5} />
  if (!item) return <TypedField {...props} />
  if (item.choices) return <CheckboxList {...props} choices={item.choices} label={labelOf(props)} />
  const list = { ...props, item, label: labelOf(props), Fields: InputFields }
  return type === 'entries' ? <EntriesField {...list} /> : <ListField {...list} />
}

function labelOf({ field: { label }, group }: ControlProps): ReactNode {
  if (group === null) return label
  return (
    <span>
      <span className="sr-only">{group}: </span>
      {label}
    </span>
  )
}

/** The index is the value of an option, because a choice need not be a text. */
function ChoiceField(props: ControlProps) {
  const { field, value, onChange } = props
  const { required, hint, choices, problem = null, default: preset } = field
  const all = choices ?? []
  const chosen = all.findIndex((choice) => choice.value === (value ?? preset))
  return (
    <Select
      label={labelOf(props)}
      hint={hint}
      required={required}
      problem={problem}
      value={chosen < 0 ? '' : String(chosen)}
      options={[
        ...(preset === null ? [['', ''] satisfies [string, string]] : []),
        ...all.map((choice, n): [string, string] => [String(n), choice.label]),
      ]}
      onChange={(n) => onChange(n === '' ? undefined : all[Number(n)]?.value)}
    />
  )
}

/** The fields of an object. Those of an optional one are required as soon as one of them is filled in. */
function ObjectFields(props: ControlProps) {
  const { field, value, group, text, onChange } = props
  const { required, hint, fields, problem = null } = field
  const isRequired = required || value !== undefined
  return (
    <fieldset className="flex min-w-0 flex-col gap-3 border-l border-line pl-3">
      <legend className="mb-1 font-medium">{labelOf(props)}</legend>
      {hint !== null && <p className="text-xs text-muted">{hint}</p>}
      <InputFields
        fields={fields.map((one, n) => ({
          ...one,
          required: one.required && isRequired,
          problem: n === 0 ? problem : null,
        }))}
        input={toObject(value)}
        group={group}
        text={text}
        onChange={(to) => onChange(required || Object.keys(to).length > 0 ? to : undefined)}
      />
    </fieldset>
  )
}

/** A list of texts. The typed text is kept, so that an empty line at the end does not vanish while it is typed. */
function LinesField(props: ControlProps) {
  const { field, value, text, onChange } = props
  const { required, hint, minItems, maxItems } = field
  const [typed, setTyped] = useState(() => (Array.isArray(value) ? value.map(toText).join('\n') : ''))
  const change = (to: string) => {
    setTyped(to)
    const filled = filledLines(to)
    onChange(filled.length > 0 ? filled : undefined)
  }
  const count = filledLines(typed).length
  const isOutside = count > 0 && (count < minItems || count > (maxItems ?? count))
  return (
    <TextArea
      label={labelOf(props)}
      hint={[hint ?? text.onePerLine, limitsHint(field, text)].filter(Boolean).join(' ')}
      required={required}
      problem={isOutside ? text.limits(minItems, maxItems) : (field.problem ?? null)}
      value={typed}
      onChange={change}
    />
  )
}

function filledLines(text: string): string[] {
  const lines = text.split('\n').map((line) => line.trim())
  return lines.filter((line) => line !== '')
}

const LONG_TEXT_NAME = /body|text|message|reason|description|content|note/
const MAX_ONE_LINE_CHARS = 60

function TypedField(props: ControlProps) {
  const { field, value, onChange } = props
  const { name, type, required, isInteger, hint, isMultiline, problem = null, default: preset } = field
  const label = labelOf(props)
  const shown = typeof value === 'string' || typeof value === 'number' ? String(value) : ''
  const change = (typed: string) => onChange(typed === '' ? undefined : type === 'number' ? Number(typed) : typed)
  // Decided once, because the other element would lose the focus while a person types.
  const [isLong] = useState(
    () => type === 'string' && (LONG_TEXT_NAME.test(name) || shown.length > MAX_ONE_LINE_CHARS || shown.includes('\n')),
  )
  const rows = Math.max(2, Math.min(12, shown.split('\n').length + Math.floor(shown.length / 90)))
  const common = { label, hint, problem, required, value: shown, onChange: change }
  if (isMultiline) return <TextArea mono rows={5} {...common} />
  if (isLong) return <TextArea rows={rows} {...common} />
  return (
    <TextField
      {...common}
      type={type === 'number' ? 'number' : 'text'}
      step={isInteger ? 1 : 'any'}
      className={`field h-8 ${type === 'number' ? 'max-w-48' : ''}`}
      placeholder={preset === null ? undefined : toText(preset)}
    />
  )
}
