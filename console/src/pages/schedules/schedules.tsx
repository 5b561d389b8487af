import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { asCurl, call } from '../../api/http.ts'
import { type Schedule, schedulesQuery } from '../../api/setup.ts'
import type { Task } from '../../api/types.ts'
import { useWrite } from '../../api/write.ts'
import { Button } from '../../ui/button.tsx'
import { Empty } from '../../ui/empty.tsx'
import { Check } from '../../ui/form.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { May } from '../../ui/may.tsx'
import { Page } from '../../ui/page.tsx'
import { Acts, Table } from '../../ui/table.tsx'
import { Ago } from '../../ui/time.tsx'
import { WriteButton } from '../../ui/write-button.tsx'
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
        <May least="operator">
          <Button look="primary" icon={<Plus size={14} />} onClick={() => setOpen('new')}>
            New schedule
          </Button>
        </May>
      }
    >
      <Loaded query={query}>
        {(schedules) =>
          schedules.length === 0 ? (
            <NoSchedules />
          ) : (
            <Table
              label="Schedules"
              head={['Name', 'When', 'Next runs', 'Last run', 'On']}
              acts={{ name: 'Do', least: 'operator' }}
            >
              {schedules.map((schedule) => (
                <ScheduleRow key={schedule.id} schedule={schedule} onChange={() => setOpen(schedule)} />
              ))}
            </Table>
          )
        }
      </Loaded>
      {open && <ScheduleForm schedule={open === 'new' ? null : open} onClose={() => setOpen(null)} />}
    </Page>
  )
}

function ScheduleRow({ schedule, onChange }: { schedule: Schedule; onChange: () => void }) {
  const { id, name, wedge, task_type, cadence, enabled, next_run_at, last_run_at, last_task_id, last_error } = schedule
  const set = useWrite((on: boolean) => call(`/v1/schedules/${id}`, { method: 'PUT', body: { enabled: on } }), {
    stale: ['schedules'],
  })
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
            <Ago ts={last_run_at} />
          </Link>
        ) : (
          'never'
        )}
        {last_error && <span className="block text-xs text-bad">{last_error}</span>}
      </td>
      <td>
        <May least="operator" otherwise={enabled ? 'on' : 'off'}>
          <Check
            label={<span className="sr-only">{name} is on</span>}
            checked={set.isPending ? set.variables : enabled}
            onChange={(on) => set.mutate(on)}
          />
        </May>
      </td>
      <Acts least="operator">
        <RowActions schedule={schedule} onChange={onChange} />
      </Acts>
    </tr>
  )
}

function RowActions({ schedule: { id, name }, onChange }: { schedule: Schedule; onChange: () => void }) {
  const path = `/v1/schedules/${id}`
  const navigate = useNavigate()
  const stale = ['schedules']
  const remove = useWrite(() => call(path, { method: 'DELETE' }), { stale })
  const run = useWrite(() => call<Task>(`${path}/run`, { method: 'POST' }), {
    stale,
    onDone: (task) => void navigate({ to: '/tasks/$taskId', params: { taskId: task.id } }),
  })
  return (
    <>
      <WriteButton small write={run}>
        Run now<span className="sr-only"> {name}</span>
      </WriteButton>
      <Button small onClick={onChange}>
        Change<span className="sr-only"> {name}</span>
      </Button>
      <WriteButton small look="danger" write={remove} sure={`Delete the schedule ${name}?`}>
        Delete<span className="sr-only"> {name}</span>
      </WriteButton>
    </>
  )
}

function NoSchedules() {
  const cadence = { kind: 'daily', hour: 8, minute: 30 }
  const body = { name: 'morning', wedge: 'refund-desk', task_type: 'review_ledger', cadence }
  return (
    <Empty title="Nothing is scheduled" curl={asCurl('/v1/schedules', { method: 'POST', body })}>
      A schedule makes a task every so often, every day or every month.
    </Empty>
  )
}
