import { useState } from 'react'
import type { Json } from '../api/types.ts'
import { Field } from './form-fields.tsx'
import { Tabs } from './tabs.tsx'

/** Whether a value stands as named fields or as the text that is sent. */
export type EditorMode = 'form' | 'json'

export function EditorModeTabs({
  label,
  mode,
  onChange,
}: {
  label: string
  mode: EditorMode
  onChange: (as: EditorMode) => void
}) {
  const tabs: { value: EditorMode; label: string }[] = [
    { value: 'form', label: 'Form' },
    { value: 'json', label: 'JSON' },
  ]
  return <Tabs label={label} value={mode} onChange={onChange} tabs={tabs} />
}

/** Keeps what is typed, and hands on only what is JSON. */
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
      setProblem(error instanceof Error ? error.message : 'not JSON')
    }
  }
  return (
    <Field label={label} hint={problem && <span className="text-bad">{problem}</span>}>
      {(id) => (
        <textarea
          id={id}
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
