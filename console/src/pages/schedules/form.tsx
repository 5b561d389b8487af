import { useState } from 'react'
import { callApi } from '../../api/http.ts'
import type { Cadence, Schedule } from '../../api/setup-queries.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { TextArea, Checkbox, TextField } from '../../ui/form-fields.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { useNow } from '../../ui/time.tsx'
import { TaskTypeFields, useTaskType } from '../wedges/task-type.tsx'
import { firstRun, nextRuns } from './cadence.ts'
import { cadenceOf, givenOf, When } from './when.tsx'

export function ScheduleForm({ schedule, onClose }: { schedule: Schedule | null; onClose: () => void }) {
  const [name, setName] = useState(schedule?.name ?? '')
  const chosen = useTaskType(schedule ?? undefined)
  const [given, setGiven] = useState(givenOf(schedule?.cadence))
  const [input, setInput] = useState(JSON.stringify(schedule?.input ?? {}, null, 2))
  const [enabled, setEnabled] = useState(schedule?.enabled ?? true)
  const cadence = cadenceOf(given)
  const { wedge, task_type } = chosen
  const save = useApiMutation(
    async () => {
      const body = { name, wedge, task_type, cadence, input: parsed(input), enabled }
      const path = schedule ? `/v1/schedules/${schedule.id}` : '/v1/schedules'
      return callApi(path, { method: schedule ? 'PUT' : 'POST', body })
    },
    { invalidates: ['schedules'], onSuccess: onClose },
  )
  return (
    <FormDialog
      title={schedule ? 'Change the schedule' : 'New schedule'}
      submitLabel="Save"
      canSubmit={name.trim() !== '' && task_type !== '' && cadence !== null}
      mutation={save}
      onClose={onClose}
    >
      <TextField label="Name" value={name} onChange={setName} />
      <TaskTypeFields chosen={chosen} />
      <When given={given} onChange={setGiven} />
      <NextRuns cadence={enabled ? cadence : null} schedule={schedule} />
      <TextArea label="Input as JSON" mono value={input} onChange={setInput} />
      <Checkbox label="On" checked={enabled} onChange={setEnabled} />
    </FormDialog>
  )
}

/** A cadence that stays as it is keeps its times; a new one counts from now. */
function NextRuns({ cadence, schedule }: { cadence: Cadence | null; schedule: Schedule | null }) {
  const now = useNow(10_000)
  const same = JSON.stringify(cadence) === JSON.stringify(schedule?.cadence)
  const first = cadence && ((same && schedule?.next_run_at) || firstRun(cadence, new Date(now)))
  return (
    <p aria-label="Next runs" role="status" className="-mt-2 text-xs text-muted tabular-nums">
      {cadence && first ? `Next: ${nextRuns(cadence, first, 3).join(', ')} UTC` : 'It will not run by itself.'}
    </p>
  )
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text || '{}')
  } catch {
    throw new Error('the input is not JSON')
  }
}
