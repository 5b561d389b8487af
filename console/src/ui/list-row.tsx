import { X } from 'lucide-react'
import type { ComponentType } from 'react'
import { toObject } from '../api/json.ts'
import type { Json, JsonObject } from '../api/types.ts'
import { Button } from './button.tsx'
import type { FieldText, InputField } from './schema-fields.ts'

export interface RowProps {
  /** The field of an item. */
  item: InputField
  value: Json
  /** The list item that the list belongs to. */
  group: string | null
  text: FieldText
  /** Renders the fields of an item. */
  Fields: ComponentType<{
    fields: InputField[]
    input: JsonObject
    group: string | null
    text: FieldText
    onChange: (input: JsonObject) => void
  }>
  onChange: (value: Json) => void
}

/** One item of a list: its fields in a frame with its name, or its only field. */
export function ListRow({
  isRequired,
  problem,
  onRemove,
  ...props
}: RowProps & {
  /** Such as "Guest 2". */
  name: string
  isRequired: boolean
  /** What is wrong. The first field shows it. */
  problem: string | null
  /** Null: the list would be too short. */
  onRemove: (() => void) | null
}) {
  const { item, value, group, name, text, Fields, onChange } = props
  const fullName = group === null ? name : `${group}, ${name}`
  const removeButton = onRemove && (
    <Button
      variant="ghost"
      small
      icon={<X size={14} aria-hidden />}
      aria-label={`${text.remove}: ${fullName}`}
      onClick={onRemove}
    >
      {text.remove}
    </Button>
  )
  if (item.type !== 'object')
    return (
      <li className="flex items-end gap-2">
        <div className="flex min-w-0 flex-1 flex-col gap-3">
          <OnlyField {...props} isRequired={isRequired} problem={problem} />
        </div>
        {removeButton}
      </li>
    )
  const fields = item.fields.map((field, n) => ({
    ...field,
    required: field.required && isRequired,
    problem: n === 0 ? problem : null,
  }))
  return (
    <li className="flex flex-col gap-3 rounded-md border border-line p-3">
      <div className="flex min-h-7 items-center justify-between gap-2">
        <p className="min-w-0 font-medium wrap-anywhere">{name}</p>
        {removeButton}
      </div>
      <Fields fields={fields} input={toObject(value)} group={fullName} text={text} onChange={onChange} />
    </li>
  )
}

function OnlyField({
  item,
  value,
  group,
  name,
  text,
  isRequired,
  problem,
  Fields,
  onChange,
}: RowProps & { name: string; isRequired: boolean; problem: string | null }) {
  return (
    <Fields
      fields={[{ ...item, label: name, hint: null, required: isRequired, problem }]}
      input={value === undefined ? {} : { [item.name]: value }}
      group={group}
      text={text}
      onChange={(to) => onChange(to[item.name])}
    />
  )
}
