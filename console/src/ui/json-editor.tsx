import { useState } from 'react'
import type { Json } from '../api/types.ts'
import { Field } from './form-fields.tsx'
import { Tabs } from './tabs.tsx'
import { uiText } from './text.ts'

/** Whether a value is edited as form fields or as JSON text. */
export type EditorMode = 'form' | 'json'

export function EditorModeTabs({
  label,
  mode,
  onChange,
}: {
  label: string
  mode: EditorMode
  onChange: (mode: EditorMode) => void
}) {
  const tabs: { value: EditorMode; label: string }[] = [
    { value: 'form', label: uiText.formMode },
    { value: 'json', label: uiText.jsonMode },
  ]
  return <Tabs label={label} value={mode} onChange={onChange} tabs={tabs} />
}

/** Keeps the typed text and calls onChange only with valid JSON. A form with other text cannot be submitted. */
export function JsonEditor({
  label,
  value,
  onChange,
  rows = 10,
}: {
  label: string
  value: Json
  onChange: (value: Json) => void
  rows?: number
}) {
  const [text, setText] = useState(() => JSON.stringify(value, null, 2))
  const [problem, setProblem] = useState<string | null>(null)
  const change = (to: string) => {
    setText(to)
    try {
      onChange(JSON.parse(to))
      setProblem(null)
    } catch (error) {
      setProblem(error instanceof Error ? error.message : uiText.invalidJson)
    }
  }
  return (
    <Field label={label} hint={problem && <span className="text-bad">{problem}</span>}>
      {(id) => (
        <textarea
          id={id}
          ref={(element) => element?.setCustomValidity(problem ?? '')}
          rows={rows}
          spellCheck={false}
          aria-invalid={problem !== null}
          className="field font-mono text-xs"
          value={text}
          onChange={(event) => change(event.target.value)}
        />
      )}
    </Field>
  )
}
