import { useState } from 'react'
import { callOperation } from '../../api/http.ts'
import { useApiMutation } from '../../api/mutation.ts'
import type { Json, WedgeSummary } from '../../api/types.ts'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { Select } from '../../ui/form-fields.tsx'
import { humanize } from '../../ui/humanize.ts'
import { showToast } from '../../ui/toast.tsx'
import { TaskInput, useDeclaredInput } from '../run/task-input.tsx'
import { casesText } from './text.ts'

/** Starts a task on a case. */
export function CaseTaskForm({
  caseId,
  wedge: { wedge, manifest },
  onClose,
}: {
  caseId: string
  wedge: WedgeSummary
  onClose: () => void
}) {
  const types = Object.keys(manifest.task_types)
  const [taskType, setTaskType] = useState(types[0] ?? '')
  const declared = useDeclaredInput(wedge, taskType)
  const [typed, setTyped] = useState<Json>(undefined)
  const input = typed ?? declared.example ?? {}
  const start = useApiMutation(
    () => callOperation('createCaseTask', { id: caseId, body: { task_type: taskType, input } }),
    {
      invalidates: ['cases', 'tasks'],
      onSuccess: () => {
        showToast(casesText.taskStarted)
        onClose()
      },
    },
  )
  return (
    <FormDialog
      title={casesText.runTask}
      submitLabel={casesText.run}
      canSubmit={taskType !== '' && declared.isLoaded}
      mutation={start}
      onClose={onClose}
    >
      <Select
        label={casesText.taskType}
        value={taskType}
        options={types.map((type) => [type, humanize(type)])}
        onChange={(to) => (setTaskType(to), setTyped(undefined))}
      />
      {declared.isLoaded && (
        <TaskInput
          key={taskType}
          label={casesText.input}
          fields={declared.fields}
          input={input}
          onChange={setTyped}
          rows={6}
        />
      )}
    </FormDialog>
  )
}
