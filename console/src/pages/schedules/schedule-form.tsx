import { useState } from 'react'
import { callOperation } from '../../api/http.ts'
import { useApiMutation } from '../../api/mutation.ts'
import type { Cadence, Schedule } from '../../api/setup-queries.ts'
import type { Json } from '../../api/types.ts'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { Checkbox, TextField } from '../../ui/form-fields.tsx'
import { formatDateTime } from '../../ui/format.ts'
import { useNow } from '../../ui/time.tsx'
import { TaskInput, useDeclaredInput } from '../run/task-input.tsx'
import { TaskTypeFields, useTaskType } from '../wedges/task-type-fields.tsx'
import { CadenceFields, parseCadence, toCadenceInput } from './cadence-fields.tsx'
import { firstRun, listNextRuns } from './cadence.ts'
import { schedulesText } from './text.ts'

export function ScheduleForm({ schedule, onClose }: { schedule: Schedule | null; onClose: () => void }) {
  const [name, setName] = useState(schedule?.name ?? '')
  const chosen = useTaskType(schedule ?? undefined)
  const [cadenceInput, setCadenceInput] = useState(toCadenceInput(schedule?.cadence))
  const [typed, setTyped] = useState<TypedInput | null>(
    schedule && { type: typeOf(schedule), input: schedule.input ?? {} },
  )
  const [enabled, setEnabled] = useState(schedule?.enabled ?? true)
  const cadence = parseCadence(cadenceInput)
  const { wedge, task_type } = chosen
  const { fields, example, isLoaded } = useDeclaredInput(wedge, task_type)
  const type = typeOf(chosen)
  // The input of another task type does not fit into the fields of this one.
  const input = typed && (typed.type === type || fields.length === 0) ? typed.input : (example ?? {})
  const save = useApiMutation(
    async () => {
      if (cadence === null) return null
      const body = { name, wedge, task_type, cadence, input, enabled }
      return schedule
        ? callOperation('updateSchedule', { id: schedule.id, body })
        : callOperation('createSchedule', { body })
    },
    { invalidates: ['schedules'], onSuccess: onClose },
  )
  return (
    <FormDialog
      title={schedule ? schedulesText.editSchedule : schedulesText.newSchedule}
      submitLabel={schedule ? schedulesText.save : schedulesText.create}
      canSubmit={name.trim() !== '' && task_type !== '' && cadence !== null && isLoaded}
      mutation={save}
      onClose={onClose}
    >
      <TextField label={schedulesText.name} value={name} onChange={setName} />
      <TaskTypeFields chosen={chosen} />
      <CadenceFields input={cadenceInput} onChange={setCadenceInput} />
      <NextRuns cadence={enabled ? cadence : null} schedule={schedule} />
      {isLoaded && (
        <TaskInput
          key={type}
          label={schedulesText.input}
          fields={fields}
          input={input}
          onChange={(to) => setTyped({ type, input: to })}
          rows={4}
        />
      )}
      <Checkbox label={schedulesText.enabled} checked={enabled} onChange={setEnabled} />
    </FormDialog>
  )
}

/** The input that was typed or saved, and the task type that it is for. */
interface TypedInput {
  type: string
  input: Json
}

const typeOf = ({ wedge, task_type }: { wedge: string; task_type: string }) => `${wedge}/${task_type}`

/** An unchanged cadence keeps its next run; a changed one counts from now. */
function NextRuns({ cadence, schedule }: { cadence: Cadence | null; schedule: Schedule | null }) {
  const now = useNow(10_000)
  const isUnchanged = JSON.stringify(cadence) === JSON.stringify(schedule?.cadence)
  const first = cadence && ((isUnchanged && schedule?.next_run_at) || firstRun(cadence, new Date(now)))
  return (
    <p aria-label={schedulesText.nextRuns} role="status" className="-mt-2 text-xs text-muted tabular-nums">
      {!cadence
        ? schedulesText.noNextRuns
        : first
          ? schedulesText.nextRunsAt(listNextRuns(cadence, first, 3).map(formatDateTime))
          : schedulesText.invalidCron}
    </p>
  )
}
