import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { toCurl, callApi } from '../../api/http.ts'
import { type Schedule, schedulesQuery } from '../../api/setup-queries.ts'
import type { Task } from '../../api/types.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { Button } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/page-states.tsx'
import { Checkbox } from '../../ui/form-fields.tsx'
import { QueryResult } from '../../ui/query-result.tsx'
import { RequireRole } from '../../ui/role.tsx'
import { Page } from '../../ui/page.tsx'
import { RowActions, Table } from '../../ui/table.tsx'
import { TimeAgo } from '../../ui/time.tsx'
import { MutationButton } from '../../ui/mutation-button.tsx'
import { cadenceText, nextRuns } from './cadence.ts'
import { ScheduleForm } from './form.tsx'

/** Work that starts by itself. */
export function Schedules() {
  const query = useQuery(schedulesQuery)
  const [open, setOpen] = useState<Schedule | 'new' | null>(null)
  return (
    <Page
      title="Schedules"
      lead="Work that starts by itself. Times are UTC."
      actions={
        <RequireRole minRole="operator">
          <Button variant="primary" icon={<Plus size={14} />} onClick={() => setOpen('new')}>
            New schedule
          </Button>
        </RequireRole>
      }
    >
      <QueryResult query={query}>
        {(schedules) =>
          schedules.length === 0 ? (
            <NoSchedules />
          ) : (
            <Table
              label="Schedules"
              columns={['Name', 'When', 'Next runs', 'Last run', 'On']}
              actions={{ name: 'Do', minRole: 'operator' }}
            >
              {schedules.map((schedule) => (
                <ScheduleRow key={schedule.id} schedule={schedule} onChange={() => setOpen(schedule)} />
              ))}
            </Table>
          )
        }
      </QueryResult>
      {open && <ScheduleForm schedule={open === 'new' ? null : open} onClose={() => setOpen(null)} />}
    </Page>
  )
}

function ScheduleRow({ schedule, onChange }: { schedule: Schedule; onChange: () => void }) {
  const { id, name, wedge, task_type, cadence, enabled, next_run_at, last_run_at, last_task_id, last_error } = schedule
  const set = useApiMutation(
    (on: boolean) => callApi(`/v1/schedules/${id}`, { method: 'PUT', body: { enabled: on } }),
    {
      invalidates: ['schedules'],
    },
  )
  return (
    <tr>
      <td>
        <span className="font-medium">{name}</span>
        <span className="block text-xs text-muted">
          {wedge} / {task_type}
        </span>
      </td>
      <td className="whitespace-nowrap">{cadenceText(cadence)}</td>
      <td className="text-xs whitespace-nowrap text-muted tabular-nums">
        {enabled && next_run_at
          ? nextRuns(cadence, next_run_at, 3).map((at) => (
              <span key={at} className="block">
                {at}
              </span>
            ))
          : 'off'}
      </td>
      <td className="text-muted">
        {last_run_at && last_task_id ? (
          <Link to="/tasks/$taskId" params={{ taskId: last_task_id }} className="text-accent underline">
            <TimeAgo ts={last_run_at} />
          </Link>
        ) : (
          'never'
        )}
        {last_error && <span className="block text-xs text-bad">{last_error}</span>}
      </td>
      <td>
        <RequireRole minRole="operator" fallback={enabled ? 'on' : 'off'}>
          <Checkbox
            label={<span className="sr-only">{name} is on</span>}
            checked={set.isPending ? set.variables : enabled}
            onChange={(on) => set.mutate(on)}
          />
        </RequireRole>
      </td>
      <RowActions minRole="operator">
        <ScheduleActions schedule={schedule} onChange={onChange} />
      </RowActions>
    </tr>
  )
}

function ScheduleActions({ schedule: { id, name }, onChange }: { schedule: Schedule; onChange: () => void }) {
  const path = `/v1/schedules/${id}`
  const navigate = useNavigate()
  const invalidates = ['schedules']
  const remove = useApiMutation(() => callApi(path, { method: 'DELETE' }), { invalidates })
  const run = useApiMutation(() => callApi<Task>(`${path}/run`, { method: 'POST' }), {
    invalidates,
    onSuccess: (task) => void navigate({ to: '/tasks/$taskId', params: { taskId: task.id } }),
  })
  return (
    <>
      <MutationButton small mutation={run}>
        Run now<span className="sr-only"> {name}</span>
      </MutationButton>
      <Button small onClick={onChange}>
        Change<span className="sr-only"> {name}</span>
      </Button>
      <MutationButton small variant="danger" mutation={remove} confirmText={`Delete the schedule ${name}?`}>
        Delete<span className="sr-only"> {name}</span>
      </MutationButton>
    </>
  )
}

function NoSchedules() {
  const cadence = { kind: 'daily', hour: 8, minute: 30 }
  const body = { name: 'morning', wedge: 'refund-desk', task_type: 'review_ledger', cadence }
  return (
    <EmptyState title="Nothing is scheduled" curl={toCurl('/v1/schedules', { method: 'POST', body })}>
      A schedule makes a task every so often, every day or every month.
    </EmptyState>
  )
}
