import { useState } from 'react'
import type { ActionAmount, Json, JsonObject } from '../../api/types.ts'
import { InputFields } from '../../ui/input-fields.tsx'
import { type EditorMode, EditorModeTabs, JsonEditor } from '../../ui/json-editor.tsx'
import type { InputField } from '../../ui/schema-fields.ts'
import { moneyFields } from './amount.ts'
import { PayloadDiffView } from './payload-diff-view.tsx'
import { payloadFields, withEditedFields } from './payload-fields.ts'
import { approvalsText } from './text.ts'

/** Edits a payload, as a form or as JSON, and shows the changes. */
export function PayloadEditor({
  payload,
  schema,
  amount,
  edited,
  onChange,
}: {
  payload: JsonObject
  /** The JSON Schema of the payload; null: the form is made from the payload alone. */
  schema: JsonObject | null
  amount: ActionAmount | null
  edited: JsonObject
  onChange: (edited: JsonObject) => void
}) {
  const [mode, setMode] = useState<EditorMode>('form')
  const [fields] = useState(() => payloadFields(payload, schema))
  const isMain = ({ name, required }: InputField) => required || Object.hasOwn(payload, name)
  const more = fields.filter((field) => !isMain(field))
  const form = {
    input: edited,
    hints: moneyFields(amount, edited),
    onChange: (input: JsonObject) => onChange(withEditedFields(payload, input)),
  }
  return (
    <div className="flex flex-col gap-3">
      <EditorModeTabs label={approvalsText.editor.mode} mode={mode} onChange={setMode} />
      {mode === 'form' ? (
        <>
          <InputFields fields={fields.filter(isMain)} {...form} />
          {more.length > 0 && (
            <details>
              <summary className="text-muted">{approvalsText.editor.moreFields(more.length)}</summary>
              <div className="mt-2 flex flex-col gap-3">
                <InputFields fields={more} {...form} />
              </div>
            </details>
          )}
        </>
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

const isObject = (value: Json): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
