import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { toObject } from '../../api/json.ts'
import { wedgeQuery } from '../../api/setup-queries.ts'
import type { Json } from '../../api/types.ts'
import { type EditorMode, EditorModeTabs, JsonEditor } from '../../ui/json-editor.tsx'
import { InputFields } from '../../ui/input-fields.tsx'
import type { InputField } from '../../ui/schema-fields.ts'
import { inferInputFields } from './infer-input-fields.ts'
import { runText } from './text.ts'

/** Edits the input of a task, as fields if there are any, or as JSON. */
export function TaskInput({
  label,
  fields,
  input,
  onChange,
  version = 0,
  rows,
  children,
}: {
  label: string
  fields: InputField[]
  input: Json
  onChange: (input: Json) => void
  /** The JSON editor keeps its own text, so an input that was not typed needs a new version. */
  version?: number
  rows?: number
  /** Buttons beside the tabs. */
  children?: ReactNode
}) {
  const [mode, setMode] = useState<EditorMode>('form')
  const hasFields = fields.length > 0
  return (
    <>
      <div className="flex flex-wrap items-center gap-2 empty:hidden">
        {hasFields && <EditorModeTabs label={runText.inputMode} mode={mode} onChange={setMode} />}
        {children}
      </div>
      {hasFields && mode === 'form' ? (
        <InputFields key={version} fields={fields} input={toObject(input)} onChange={onChange} />
      ) : (
        <JsonEditor key={version} label={label} value={input} onChange={onChange} {...(rows && { rows })} />
      )}
    </>
  )
}

export interface DeclaredInput {
  fields: InputField[]
  example: Json
  isLoaded: boolean
}

/** The fields and the example of a task type that declares its input; no fields and null if it does not. */
export function useDeclaredInput(wedge: string, taskType: string): DeclaredInput {
  const { data, isPending } = useQuery({ ...wedgeQuery(wedge), enabled: wedge !== '' })
  const isDeclared = data?.manifest.task_types[taskType]?.input_schema !== undefined
  if (!data || !isDeclared) return { fields: [], example: null, isLoaded: !isPending }
  const example = data.task_types[taskType]?.example ?? null
  return { fields: inferInputFields(data.manifest, taskType, {}), example, isLoaded: true }
}
