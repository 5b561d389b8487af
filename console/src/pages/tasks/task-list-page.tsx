import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { toCurl, errorMessage } from '../../api/http.ts'
import { newestTasksQuery, wedgesQuery } from '../../api/queries.ts'
import type { TaskStatus } from '../../api/types.ts'
import type { TasksSearch } from '../../search-params.ts'
import { buttonClass } from '../../ui/button.tsx'
import { EmptyState, ErrorMessage, Placeholder } from '../../ui/page-states.tsx'
import { RequireRole } from '../../ui/role.tsx'
import { Page } from '../../ui/page.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { TaskRows } from './task-rows.tsx'
import { useTaskList } from './use-task-list.ts'

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

export function TaskListPage() {
  const filter = route.useSearch()
  const list = useTaskList(filter)
  return (
    <Page
      title="Tasks"
      actions={
        <>
          <WedgeFilter />
          <RequireRole minRole="operator">
            <Link to="/run" className={buttonClass('primary')}>
              Run a task
            </Link>
          </RequireRole>
        </>
      }
    >
      <StatusTabs />
      {list.error && <ErrorMessage message={errorMessage(list.error)} />}
      {list.isPending && <Placeholder className="h-[60dvh]" />}
      {list.rows?.length === 0 && <NoTasks filtered={Object.keys(filter).length > 0} />}
      {list.rows && list.rows.length > 0 && (
        <TaskRows
          rows={list.rows}
          newCount={list.fresh}
          onShowNew={list.showFresh}
          onLoadMore={list.more}
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
    queued: useQuery(newestTasksQuery({ status: 'queued' }, 200)).data?.length ?? 0,
    running: useQuery(newestTasksQuery({ status: 'running' }, 200)).data?.length ?? 0,
    awaiting_approval: useQuery(newestTasksQuery({ status: 'awaiting_approval' }, 200)).data?.length ?? 0,
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
  if (filtered)
    return <EmptyState title="No task matches">Another status or wedge may have what you look for.</EmptyState>
  const body = { wedge: 'refund-desk', task_type: 'handle_request', input: { order_id: 'A-1001', amount_usd: 84.5 } }
  return (
    <EmptyState
      title="No task has run yet"
      curl={toCurl('/v1/tasks', { method: 'POST', body })}
      action={
        <Link to="/run" className={buttonClass('primary')}>
          Run the first
        </Link>
      }
    >
      Start one here, or from your own program with one call.
    </EmptyState>
  )
}
