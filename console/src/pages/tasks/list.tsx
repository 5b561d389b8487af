import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { asCurl, messageOf } from '../../api/http.ts'
import { taskHeadQuery, wedgesQuery } from '../../api/queries.ts'
import type { TaskStatus } from '../../api/types.ts'
import type { TasksSearch } from '../../address.ts'
import { buttonClass } from '../../ui/button.tsx'
import { Empty, Failure, Waiting } from '../../ui/empty.tsx'
import { May } from '../../ui/may.tsx'
import { Page } from '../../ui/page.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { TaskRows } from './rows.tsx'
import { useTaskList } from './use-list.ts'

const route = getRouteApi('/shell/tasks')

const TABS: { value: TaskStatus | 'all'; label: string }[] = [
  { value: 'all', label: 'All' },
  { value: 'queued', label: 'Queued' },
  { value: 'running', label: 'Running' },
  { value: 'awaiting_approval', label: 'Waits for you' },
  { value: 'succeeded', label: 'Succeeded' },
  { value: 'failed', label: 'Failed' },
  { value: 'rejected', label: 'Rejected' },
  { value: 'expired', label: 'Expired' },
  { value: 'cancelled', label: 'Cancelled' },
]

export function TaskList() {
  const filter = route.useSearch()
  const list = useTaskList(filter)
  return (
    <Page
      title="Tasks"
      actions={
        <>
          <WedgeFilter />
          <May least="operator">
            <Link to="/run" className={buttonClass('primary')}>
              Run a task
            </Link>
          </May>
        </>
      }
    >
      <StatusTabs />
      {list.error && <Failure message={messageOf(list.error)} />}
      {list.isPending && <Waiting className="h-[60dvh]" />}
      {list.rows?.length === 0 && <NoTasks filtered={Object.keys(filter).length > 0} />}
      {list.rows && list.rows.length > 0 && (
        <TaskRows
          rows={list.rows}
          fresh={list.fresh}
          onFresh={list.showFresh}
          onEnd={list.more}
          label={filter.status ? `Tasks that are ${filter.status}` : 'Tasks'}
        />
      )}
    </Page>
  )
}

function StatusTabs() {
  const { status = 'all' } = route.useSearch()
  const navigate = route.useNavigate()
  const counts: Partial<Record<TaskStatus | 'all', number>> = {
    queued: useQuery(taskHeadQuery({ status: 'queued' }, 200)).data?.length ?? 0,
    running: useQuery(taskHeadQuery({ status: 'running' }, 200)).data?.length ?? 0,
    awaiting_approval: useQuery(taskHeadQuery({ status: 'awaiting_approval' }, 200)).data?.length ?? 0,
  }
  return (
    <Tabs
      label="Tasks by status"
      value={status}
      onChange={(to) =>
        void navigate({
          search: (old) => withFilter(old, 'status', to === 'all' ? undefined : to),
        })
      }
      tabs={TABS.map((tab) => ({ ...tab, count: counts[tab.value], most: 200 }))}
    />
  )
}

function withFilter<K extends keyof TasksSearch>(old: TasksSearch, name: K, value: TasksSearch[K]): TasksSearch {
  const rest = { ...old }
  delete rest[name]
  return value === undefined ? rest : { ...rest, [name]: value }
}

function WedgeFilter() {
  const { wedge = '' } = route.useSearch()
  const navigate = route.useNavigate()
  const { data: wedges = [] } = useQuery(wedgesQuery)
  return (
    <div className="w-40">
      <select
        aria-label="Wedge"
        className="field h-8"
        value={wedge}
        onChange={(event) =>
          void navigate({
            search: (old) => withFilter(old, 'wedge', event.target.value || undefined),
          })
        }
      >
        <option value="">Every wedge</option>
        {wedges.map(({ wedge, title }) => (
          <option key={wedge} value={wedge}>
            {title}
          </option>
        ))}
      </select>
    </div>
  )
}

function NoTasks({ filtered }: { filtered: boolean }) {
  if (filtered) return <Empty title="No task matches">Another status or wedge may have what you look for.</Empty>
  const body = { wedge: 'refund-desk', task_type: 'handle_request', input: { order_id: 'A-1001', amount_usd: 84.5 } }
  return (
    <Empty
      title="No task has run yet"
      curl={asCurl('/v1/tasks', { method: 'POST', body })}
      action={
        <Link to="/run" className={buttonClass('primary')}>
          Run the first
        </Link>
      }
    >
      Start one here, or from your own program with one call.
    </Empty>
  )
}
