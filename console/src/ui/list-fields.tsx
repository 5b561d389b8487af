import { Plus } from 'lucide-react'
import { type ReactNode, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { toObject } from '../api/json.ts'
import type { Json } from '../api/types.ts'
import { Button } from './button.tsx'
import { completeInput } from './complete-input.ts'
import { limitsHint, ListFrame } from './list-frame.tsx'
import { ListRow, type RowProps } from './list-row.tsx'
import { emptyRow, filledRows, firstRows, hasTooFewItems, isBlank } from './list-rows.ts'
import type { InputField } from './schema-fields.ts'

interface ListProps extends RowProps {
  field: InputField
  label: ReactNode
}

/** A row of a list. Its key stays when other rows are removed. */
interface Row {
  key: number
  value: Json
}

/** A list of values or of groups of fields. Rows without a value are no part of the list. */
export function ListField({
  problemOf = () => null,
  ...props
}: ListProps & {
  /** What is wrong with the first field of a row. */
  problemOf?: (values: readonly Json[], row: number) => string | null
}) {
  const { field, item, label, value, group, text, onChange } = props
  const { required, hint, minItems, maxItems } = field
  const [rows, setRows] = useState(() => toRows(firstRows(field, item, Array.isArray(value) ? value : [])))
  const list = useRef<HTMLUListElement>(null)
  const addButton = useRef<HTMLSpanElement>(null)
  const values = rows.map((row) => row.value)
  const isRequired = required || !values.every(isBlank)
  const isTooShort = hasTooFewItems(field, filledRows(values).length)
  const refusedRow = Math.max(0, values.findIndex(isBlank))
  const limitsProblem = isTooShort ? text.limits(minItems, maxItems) : (field.problem ?? null)
  const change = (to: Row[]) => {
    setRows(to)
    const filled = filledRows(to.map((row) => row.value))
    onChange(filled.length > 0 ? filled : undefined)
  }
  // The focus would be lost with the removed button.
  const remove = (key: number) => {
    flushSync(() => change(rows.filter((row) => row.key !== key)))
    addButton.current?.querySelector('button')?.focus()
  }
  const add = () => {
    const key = Math.max(-1, ...rows.map((row) => row.key)) + 1
    flushSync(() => change([...rows, { key, value: emptyRow(item) }]))
    list.current?.lastElementChild?.querySelector<HTMLElement>('input, select, textarea')?.focus()
  }
  return (
    <ListFrame label={label} required={required} hint={[hint ?? item.hint, limitsHint(field, text)]}>
      <ul ref={list} className="flex flex-col gap-3 empty:hidden">
        {rows.map((row, n) => (
          <ListRow
            key={row.key}
            {...props}
            value={row.value}
            name={`${item.label} ${n + 1}`}
            isRequired={isRequired}
            problem={problemOf(values, n) ?? (n === refusedRow ? limitsProblem : null)}
            onChange={(to) => change(rows.map((one) => (one.key === row.key ? { ...one, value: to } : one)))}
            onRemove={rows.length > minItems ? () => remove(row.key) : null}
          />
        ))}
      </ul>
      <span ref={addButton}>
        <Button
          small
          icon={<Plus size={14} aria-hidden />}
          aria-label={`${text.add}: ${group === null ? '' : `${group}, `}${item.label}`}
          disabled={maxItems !== null && rows.length >= maxItems}
          onClick={add}
        >
          {text.add}
        </Button>
      </span>
    </ListFrame>
  )
}

/** An object whose names a person enters too, as a list of names and values. */
export function EntriesField(props: ListProps) {
  const { item, value, text, onChange } = props
  const toEntries = (list: Json) => {
    const entries = (Array.isArray(list) ? list.map(toObject) : []).flatMap((one): [string, Json][] => {
      const name = entryName(one)
      const { value: entered } = completeInput(item.fields, one)
      return name === '' || entered === undefined ? [] : [[name, entered]]
    })
    onChange(entries.length > 0 ? Object.fromEntries(entries) : undefined)
  }
  return (
    <ListField
      {...props}
      value={Object.entries(toObject(value)).map(([name, one]) => ({ name, value: one }))}
      problemOf={(values, row) => {
        const name = entryName(values[row])
        return name !== '' && values.slice(0, row).some((one) => entryName(one) === name) ? text.nameTwice : null
      }}
      onChange={toEntries}
    />
  )
}

function entryName(entry: Json): string {
  const { name } = toObject(entry)
  return typeof name === 'string' ? name.trim() : ''
}

const toRows = (values: readonly Json[]): Row[] => values.map((value, key) => ({ key, value }))
