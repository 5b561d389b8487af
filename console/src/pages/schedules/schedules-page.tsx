import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { callOperation, toCurl } from '../../api/http.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { type Schedule, schedulesQuery } from '../../api/setup-queries.ts'
import { Button } from '../../ui/button.tsx'
import { Checkbox } from '../../ui/form-fields.tsx'
import { MutationButton } from '../../ui/mutation-button.tsx'
import { EmptyState } from '../../ui/page-states.tsx'
import { Page } from '../../ui/page.tsx'
import { QueryResult } from '../../ui/query-result.tsx'
import { RequireRole } from '../../ui/role.tsx'
import { RowActions, Table } from '../../ui/table.tsx'
import { DateTime, TimeAgo } from '../../ui/time.tsx'
import { describeCadence, listNextRuns } from './cadence.ts'
import { ScheduleForm } from './schedule-form.tsx'
import { schedulesText } from './text.ts'

/** Tasks that the service starts at set times. */
export function SchedulesPage() {
  const query = useQuery(schedulesQuery)
  const [open, setOpen] = useState<Schedule | 'new' | null>(null)
  return (
    <Page
      title={schedulesText.title}
      lead={schedulesText.lead}
      actions={
        <RequireRole minRole="operator">
          <Button variant="primary" icon={<Plus size={14} />} onClick={() => setOpen('new')}>
            {schedulesText.newSchedule}
          </Button>
        </RequireRole>
      }
    >
      <QueryResult query={query}>
        {(schedules) =>
          schedules.length === 0 ? (
            <NoSchedules onNew={() => setOpen('new')} />
          ) : (
            <Table
              label={schedulesText.title}
              columns={schedulesText.columns}
              actions={{ name: schedulesText.actions, minRole: 'operator' }}
            >
              {schedules.map((schedule) => (
                <ScheduleRow key={schedule.id} schedule={schedule} onEdit={() => setOpen(schedule)} />
              ))}
            </Table>
          )
        }
      </QueryResult>
      {open && <ScheduleForm schedule={open === 'new' ? null : open} onClose={() => setOpen(null)} />}
    </Page>
  )
}

function ScheduleRow({ schedule, onEdit }: { schedule: Schedule; onEdit: () => void }) {
  const { id, name, wedge, task_type, cadence, enabled, next_run_at, last_run_at, last_task_id, last_error } = schedule
  const setEnabled = useApiMutation((on: boolean) => callOperation('updateSchedule', { id, body: { enabled: on } }), {
    invalidates: ['schedules'],
  })
  return (
    <tr>
      <td>
        <span className="font-medium">{name}</span>
        <span className="block text-xs text-muted">
          {wedge} / {task_type}
        </span>
      </td>
      <td className={cadence.kind === 'cron' ? 'wrap-anywhere' : 'whitespace-nowrap'}>
        {describeCadence(cadence)}
        {cadence.kind === 'cron' && <span className="block text-xs text-muted">{cadence.tz}</span>}
      </td>
      <td className="text-xs whitespace-nowrap text-muted tabular-nums">
        {enabled && next_run_at
          ? listNextRuns(cadence, next_run_at, 3).map((ts) => (
              <span key={ts} className="block">
                <DateTime ts={ts} />
              </span>
            ))
          : schedulesText.off}
      </td>
      <td className="text-muted">
        {last_run_at && last_task_id ? (
          <Link to="/tasks/$taskId" params={{ taskId: last_task_id }} className="text-accent underline">
            <TimeAgo ts={last_run_at} />
          </Link>
        ) : (
          schedulesText.never
        )}
        {last_error && <span className="block text-xs text-bad">{last_error}</span>}
      </td>
      <td>
        <RequireRole minRole="operator" fallback={enabled ? schedulesText.on : schedulesText.off}>
          <Checkbox
            label={<span className="sr-only">{schedulesText.enabledOf(name)}</span>}
            checked={setEnabled.isPending ? setEnabled.variables : enabled}
            onChange={(on) => setEnabled.mutate(on)}
          />
        </RequireRole>
      </td>
      <RowActions minRole="operator">
        <ScheduleActions schedule={schedule} onEdit={onEdit} />
      </RowActions>
    </tr>
  )
}

function ScheduleActions({ schedule: { id, name }, onEdit }: { schedule: Schedule; onEdit: () => void }) {
  const navigate = useNavigate()
  const invalidates = ['schedules']
  const remove = useApiMutation(() => callOperation('deleteSchedule', { id }), { invalidates })
  const run = useApiMutation(() => callOperation('runSchedule', { id }), {
    invalidates,
    onSuccess: (task) => void navigate({ to: '/tasks/$taskId', params: { taskId: task.id } }),
  })
  const hiddenName = <span className="sr-only"> {name}</span>
  return (
    <>
      <MutationButton small mutation={run}>
        {schedulesText.runNow}
        {hiddenName}
      </MutationButton>
      <Button small onClick={onEdit}>
        {schedulesText.edit}
        {hiddenName}
      </Button>
      <MutationButton small variant="danger" mutation={remove} confirmText={schedulesText.confirmDelete(name)}>
        {schedulesText.delete}
        {hiddenName}
      </MutationButton>
    </>
  )
}

function NoSchedules({ onNew }: { onNew: () => void }) {
  const cadence = { kind: 'daily', hour: 8, minute: 30 } as const
  const body = { name: 'morning', wedge: 'refund-desk', task_type: 'review_ledger', cadence }
  return (
    <EmptyState
      title={schedulesText.none}
      action={<Button onClick={onNew}>{schedulesText.newSchedule}</Button>}
      curl={toCurl('createSchedule', { body })}
    >
      {schedulesText.noneHint}
    </EmptyState>
  )
}
