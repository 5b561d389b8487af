import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Play } from 'lucide-react'
import { useState } from 'react'
import { asCurl, call, messageOf } from '../../api/http.ts'
import { objectOf } from '../../api/json.ts'
import type { Json, JsonObject, Task } from '../../api/types.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { Failure } from '../../ui/empty.tsx'
import { type As, FormOrJson, JsonEditor } from '../../ui/json-editor.tsx'
import { Constraints } from './constraints.tsx'
import type { InputField } from './fields.ts'
import { InputFields } from './input-fields.tsx'

export function InputForm({
  wedge,
  taskType,
  fields,
  initial,
}: {
  wedge: string
  taskType: string
  fields: InputField[]
  initial: Json
}) {
  const [as, setAs] = useState<As>(fields.length > 0 ? 'form' : 'json')
  const [input, setInput] = useState<Json>(initial ?? {})
  const [constraints, setConstraints] = useState<JsonObject>({})
  const body = { wedge, task_type: taskType, input, ...(Object.keys(constraints).length > 0 && { constraints }) }
  const start = useStart()
  return (
    <form className="flex flex-col gap-4" onSubmit={(event) => (event.preventDefault(), start.mutate(body))}>
      {fields.length > 0 && <FormOrJson label="Input as" as={as} onChange={setAs} />}
      {as === 'form' ? (
        <InputFields fields={fields} input={objectOf(input)} onChange={setInput} />
      ) : (
        <JsonEditor label="Input" value={input} onChange={setInput} />
      )}
      <Constraints value={constraints} onChange={setConstraints} />
      {start.error && <Failure message={messageOf(start.error)} />}
      <div className="flex flex-wrap items-center gap-2">
        <Button type="submit" look="primary" disabled={start.isPending} icon={<Play size={14} />}>
          Run
        </Button>
        <CopyButton text={() => asCurl('/v1/tasks', { method: 'POST', body })} label="Copy as curl" />
      </div>
    </form>
  )
}

function useStart() {
  const navigate = useNavigate()
  // One press is one task, also when the answer is lost and the call is made again.
  const [key] = useState(() => Array.from(crypto.getRandomValues(new Uint8Array(16)), hex).join(''))
  return useMutation({
    mutationFn: (body: object) =>
      call<Task>('/v1/tasks', { method: 'POST', body, headers: { 'idempotency-key': `${key}-${hash(body)}` } }),
    onSuccess: ({ id }) => navigate({ to: '/tasks/$taskId', params: { taskId: id } }),
  })
}

const hex = (byte: number) => byte.toString(16).padStart(2, '0')

/** Tells one body from another under the same form; it guards nothing. */
function hash(body: object): string {
  let sum = 0
  for (const char of JSON.stringify(body)) sum = (sum * 31 + (char.codePointAt(0) ?? 0)) % 4_294_967_291
  return sum.toString(36)
}
