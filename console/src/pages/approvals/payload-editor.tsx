import { useState } from 'react'
import type { ActionAmount, Json, JsonObject } from '../../api/types.ts'
import { Checkbox, Field } from '../../ui/form-fields.tsx'
import { humanize } from '../../ui/humanize.ts'
import { type EditorMode, EditorModeTabs, JsonEditor } from '../../ui/json-editor.tsx'
import { moneyFields } from './amount.ts'
import { PayloadDiffView } from './payload-diff-view.tsx'
import { approvalsText } from './text.ts'

/** Edits a payload, as a form or as JSON, and shows the changes. */
export function PayloadEditor({
  payload,
  amount,
  edited,
  onChange,
}: {
  payload: JsonObject
  amount: ActionAmount | null
  edited: JsonObject
  onChange: (edited: JsonObject) => void
}) {
  const [mode, setMode] = useState<EditorMode>('form')
  const money = moneyFields(amount, edited)
  return (
    <div className="flex flex-col gap-3">
      <EditorModeTabs label={approvalsText.editor.mode} mode={mode} onChange={setMode} />
      {mode === 'form' ? (
        Object.entries(edited).map(([name, value]) => (
          <PayloadField
            key={name}
            name={name}
            value={value}
            hint={money[name]}
            onChange={(to) => onChange({ ...edited, [name]: to })}
          />
        ))
      ) : (
        <JsonEditor
          label={approvalsText.payload.label}
          value={edited}
          onChange={(value) => isObject(value) && onChange(value)}
        />
      )}
      <div className="rounded-md border border-line p-3">
        <h3 className="mb-1.5 text-xs font-medium text-muted">{approvalsText.editor.changes}</h3>
        <PayloadDiffView payload={payload} edited={edited} amount={amount} />
        <p className="mt-2 text-xs text-muted">{approvalsText.editor.hint}</p>
      </div>
    </div>
  )
}

const MAX_ONE_LINE_CHARS = 60

function PayloadField({
  name,
  value,
  hint,
  onChange,
}: {
  name: string
  value: Json
  hint: string | undefined
  onChange: (value: Json) => void
}) {
  const label = humanize(name)
  if (typeof value === 'boolean') return <Checkbox label={label} checked={value} onChange={onChange} />
  if (typeof value === 'number') {
    return (
      <Field label={label} hint={hint}>
        {(id) => (
          <input
            id={id}
            type="number"
            step="any"
            className="field h-8 max-w-48"
            value={value}
            onChange={(event) => event.target.value !== '' && onChange(event.target.valueAsNumber)}
          />
        )}
      </Field>
    )
  }
  if (typeof value === 'object') return <JsonEditor label={label} value={value} onChange={onChange} />
  const isLong = value.length > MAX_ONE_LINE_CHARS || value.includes('\n')
  return (
    <Field label={label}>
      {(id) =>
        isLong ? (
          <textarea
            id={id}
            rows={Math.min(12, value.split('\n').length + Math.ceil(value.length / 90))}
            className="field"
            value={value}
            onChange={(event) => onChange(event.target.value)}
          />
        ) : (
          <input id={id} className="field h-8" value={value} onChange={(event) => onChange(event.target.value)} />
        )
      }
    </Field>
  )
}

const isObject = (value: Json): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
