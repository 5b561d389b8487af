import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { History, Play } from 'lucide-react'
import { useState } from 'react'
import { toCurl, callOperation, errorMessage } from '../../api/http.ts'
import { idempotencyKeyOf, newIdempotencyKey } from '../../api/idempotency-key.ts'
import type { Json, JsonObject, Schemas } from '../../api/types.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { ErrorMessage } from '../../ui/page-states.tsx'
import { uiText } from '../../ui/text.ts'
import { AttachButton, AttachmentList, type Attachments, useAttachments } from '../files/file-picker.tsx'
import { RunLimits } from './run-limits.tsx'
import type { InputField } from '../../ui/schema-fields.ts'
import { TaskInput } from './task-input.tsx'
import { runText } from './text.ts'

export function RunForm({
  wedge,
  taskType,
  fields,
  initial,
  last,
}: {
  wedge: string
  taskType: string
  fields: InputField[]
  initial: Json
  /** The input of the last run; null if there was none. */
  last: Json
}) {
  const [input, setInput] = useState<Json>(initial ?? {})
  const [inputVersion, setInputVersion] = useState(0)
  const [constraints, setConstraints] = useState<JsonObject>({})
  const attachments = useAttachments()
  const files = attachments.files.map(({ id }) => id)
  const body = {
    wedge,
    task_type: taskType,
    input,
    ...(files.length > 0 && { files }),
    ...(Object.keys(constraints).length > 0 && { constraints }),
  }
  const start = useCreateTask()
  return (
    <form className="flex flex-col gap-4" onSubmit={(event) => (event.preventDefault(), start.mutate(body))}>
      <TaskInput label={runText.input} fields={fields} input={input} onChange={setInput} version={inputVersion}>
        {last !== null && (
          <Button
            small
            variant="ghost"
            className="ml-auto"
            onClick={() => (setInput(last), setInputVersion(inputVersion + 1))}
            icon={<History size={14} />}
          >
            {runText.useLastInput}
          </Button>
        )}
      </TaskInput>
      <TaskFiles attachments={attachments} />
      <RunLimits value={constraints} onChange={setConstraints} />
      {start.error && <ErrorMessage message={errorMessage(start.error)} />}
      <div className="flex flex-wrap items-center gap-2">
        <Button
          type="submit"
          variant="primary"
          disabled={start.isPending || attachments.isUploading}
          icon={<Play size={14} />}
        >
          {runText.run}
        </Button>
        <CopyButton text={() => toCurl('createTask', { body })} label={uiText.copyAsCurl} />
      </div>
    </form>
  )
}

function TaskFiles({ attachments }: { attachments: Attachments }) {
  return (
    <div className="flex flex-col gap-1">
      <span className="font-medium">{runText.files}</span>
      <AttachmentList attachments={attachments} />
      <div className="flex items-center gap-2">
        <AttachButton attachments={attachments} />
        <p className="text-xs text-muted">{runText.filesHint}</p>
      </div>
    </div>
  )
}

function useCreateTask() {
  const navigate = useNavigate()
  // The idempotency key makes one task of one press, even if the request is repeated after a lost response.
  const [key] = useState(newIdempotencyKey)
  return useMutation({
    mutationFn: (body: Schemas.CreateTaskRequest) =>
      callOperation('createTask', { body }, { headers: { 'idempotency-key': idempotencyKeyOf(key, body) } }),
    onSuccess: ({ id }) => navigate({ to: '/tasks/$taskId', params: { taskId: id } }),
  })
}
