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
import { statusLabel } from '../../ui/status.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { TaskRows } from './task-rows.tsx'
import { tasksText } from './text.ts'
import { useTaskList } from './use-task-list.ts'

const route = getRouteApi('/shell/tasks')

const TABS: (TaskStatus | 'all')[] = [
  'all',
  'queued',
  'running',
  'awaiting_approval',
  'succeeded',
  'failed',
  'rejected',
  'expired',
  'cancelled',
]

const MAX_COUNTED = 200

export function TaskListPage() {
  const filter = route.useSearch()
  const list = useTaskList(filter)
  return (
    <Page
      title={tasksText.title}
      actions={
        <>
          <WedgeFilter />
          <RequireRole minRole="operator">
            <Link to="/run" className={buttonClass('primary')}>
              {tasksText.runTask}
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
          newCount={list.newCount}
          onShowNew={list.showNew}
          onLoadMore={list.loadMore}
          label={filter.status ? tasksText.listOf(statusLabel(filter.status)) : tasksText.title}
        />
      )}
    </Page>
  )
}

function StatusTabs() {
  const { status = 'all' } = route.useSearch()
  const navigate = route.useNavigate()
  const counts: Partial<Record<TaskStatus | 'all', number | null>> = {
    queued: useQuery(newestTasksQuery({ status: 'queued' }, MAX_COUNTED)).data?.length ?? null,
    running: useQuery(newestTasksQuery({ status: 'running' }, MAX_COUNTED)).data?.length ?? null,
    awaiting_approval: useQuery(newestTasksQuery({ status: 'awaiting_approval' }, MAX_COUNTED)).data?.length ?? null,
  }
  return (
    <Tabs
      label={tasksText.byStatus}
      value={status}
      onChange={(to) =>
        void navigate({
          search: (old) => withFilter(old, 'status', to === 'all' ? undefined : to),
        })
      }
      tabs={TABS.map((value) => ({
        value,
        label: value === 'all' ? tasksText.all : statusLabel(value),
        count: counts[value],
        max: MAX_COUNTED,
      }))}
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
        aria-label={tasksText.wedge}
        className="field h-8"
        value={wedge}
        onChange={(event) =>
          void navigate({
            search: (old) => withFilter(old, 'wedge', event.target.value || undefined),
          })
        }
      >
        <option value="">{tasksText.allWedges}</option>
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
  if (filtered) return <EmptyState title={tasksText.noMatch}>{tasksText.noMatchHint}</EmptyState>
  const body = { wedge: 'refund-desk', task_type: 'handle_request', input: { order_id: 'A-1001', amount_usd: 84.5 } }
  return (
    <EmptyState
      title={tasksText.none}
      curl={toCurl('createTask', { body })}
      action={
        <Link to="/run" className={buttonClass('primary')}>
          {tasksText.runFirst}
        </Link>
      }
    >
      {tasksText.noneHint}
    </EmptyState>
  )
}
