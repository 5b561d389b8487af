import { useState } from 'react'
import type { Json, JsonObject } from '../../api/types.ts'
import { Checkbox, Field } from '../../ui/form-fields.tsx'
import { humanize } from '../../ui/humanize.ts'
import { type EditorMode, EditorModeTabs, JsonEditor } from '../../ui/json-editor.tsx'
import { PayloadDiffView } from './payload-diff-view.tsx'

/** Changes a payload, as a form or as JSON, and shows all along what differs. */
export function PayloadEditor({
  payload,
  edited,
  onChange,
}: {
  payload: JsonObject
  edited: JsonObject
  onChange: (edited: JsonObject) => void
}) {
  const [as, setAs] = useState<EditorMode>('form')
  return (
    <div className="flex flex-col gap-3">
      <EditorModeTabs label="Edit as" mode={as} onChange={setAs} />
      {as === 'form' ? (
        Object.entries(edited).map(([name, value]) => (
          <PayloadField key={name} name={name} value={value} onChange={(to) => onChange({ ...edited, [name]: to })} />
        ))
      ) : (
        <JsonEditor label="Payload" value={edited} onChange={(value) => isObject(value) && onChange(value)} />
      )}
      <div className="rounded-md border border-line p-3">
        <h3 className="mb-1.5 text-xs font-medium text-muted">What you change</h3>
        <PayloadDiffView payload={payload} edited={edited} />
        <p className="mt-2 text-xs text-muted">
          The edit is laid over the payload: keys can be changed or added, not removed. It is kept as a correction, so
          the next run knows.
        </p>
      </div>
    </div>
  )
}

const LONG = 60

function PayloadField({ name, value, onChange }: { name: string; value: Json; onChange: (value: Json) => void }) {
  const label = humanize(name)
  if (typeof value === 'boolean') return <Checkbox label={label} checked={value} onChange={onChange} />
  if (typeof value === 'number') {
    return (
      <Field label={label}>
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
  const long = value.length > LONG || value.includes('\n')
  return (
    <Field label={label}>
      {(id) =>
        long ? (
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
