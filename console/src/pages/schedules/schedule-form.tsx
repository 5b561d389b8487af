import { useState } from 'react'
import { callApi } from '../../api/http.ts'
import { useApiMutation } from '../../api/mutation.ts'
import type { Cadence, Schedule } from '../../api/setup-queries.ts'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { Checkbox, TextArea, TextField } from '../../ui/form-fields.tsx'
import { formatDateTime } from '../../ui/format.ts'
import { useNow } from '../../ui/time.tsx'
import { TaskTypeFields, useTaskType } from '../wedges/task-type-fields.tsx'
import { CadenceFields, parseCadence, toCadenceInput } from './cadence-fields.tsx'
import { firstRun, listNextRuns } from './cadence.ts'
import { schedulesText } from './text.ts'

export function ScheduleForm({ schedule, onClose }: { schedule: Schedule | null; onClose: () => void }) {
  const [name, setName] = useState(schedule?.name ?? '')
  const chosen = useTaskType(schedule ?? undefined)
  const [cadenceInput, setCadenceInput] = useState(toCadenceInput(schedule?.cadence))
  const [input, setInput] = useState(JSON.stringify(schedule?.input ?? {}, null, 2))
  const [enabled, setEnabled] = useState(schedule?.enabled ?? true)
  const cadence = parseCadence(cadenceInput)
  const { wedge, task_type } = chosen
  const save = useApiMutation(
    async () => {
      const body = { name, wedge, task_type, cadence, input: parseInput(input), enabled }
      const path = schedule ? `/v1/schedules/${schedule.id}` : '/v1/schedules'
      return callApi(path, { method: schedule ? 'PUT' : 'POST', body })
    },
    { invalidates: ['schedules'], onSuccess: onClose },
  )
  return (
    <FormDialog
      title={schedule ? schedulesText.editSchedule : schedulesText.newSchedule}
      submitLabel={schedule ? schedulesText.save : schedulesText.create}
      canSubmit={name.trim() !== '' && task_type !== '' && cadence !== null}
      mutation={save}
      onClose={onClose}
    >
      <TextField label={schedulesText.name} value={name} onChange={setName} />
      <TaskTypeFields chosen={chosen} />
      <CadenceFields input={cadenceInput} onChange={setCadenceInput} />
      <NextRuns cadence={enabled ? cadence : null} schedule={schedule} />
      <TextArea label={schedulesText.input} mono value={input} onChange={setInput} />
      <Checkbox label={schedulesText.enabled} checked={enabled} onChange={setEnabled} />
    </FormDialog>
  )
}

/** An unchanged cadence keeps its next run; a changed one counts from now. */
function NextRuns({ cadence, schedule }: { cadence: Cadence | null; schedule: Schedule | null }) {
  const now = useNow(10_000)
  const isUnchanged = JSON.stringify(cadence) === JSON.stringify(schedule?.cadence)
  const first = cadence && ((isUnchanged && schedule?.next_run_at) || firstRun(cadence, new Date(now)))
  return (
    <p aria-label={schedulesText.nextRuns} role="status" className="-mt-2 text-xs text-muted tabular-nums">
      {cadence && first
        ? schedulesText.nextRunsAt(listNextRuns(cadence, first, 3).map(formatDateTime))
        : schedulesText.noNextRuns}
    </p>
  )
}

function parseInput(text: string): unknown {
  try {
    return JSON.parse(text || '{}')
  } catch {
    throw new Error(schedulesText.inputNotJson)
  }
}
