import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import * as credential from './credential.ts'
import { callApi } from './http.ts'
import { fetchList, pagedQuery, queryString } from './paging.ts'
import type {
  Analytics,
  Approval,
  ApprovalStatus,
  Effect,
  Meta,
  Page,
  Session,
  Task,
  TaskStatus,
  Trace,
  WedgeSummary,
} from './types.ts'

/** Queries of the daily work. live-updates.ts invalidates them by the first word of their key. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async ({ signal }) => {
    const session = await callApi<Session>('/v1/auth/session', { signal, allProjects: true })
    credential.ensureProject(session.projects)
    return session
  },
  staleTime: 60_000,
  retry: false,
})

export const metaQuery = queryOptions({
  queryKey: ['meta'],
  queryFn: ({ signal }) => callApi<Meta>('/v1/meta', { signal }),
  staleTime: 30_000,
})

export const wedgesQuery = queryOptions({
  queryKey: ['wedges'],
  queryFn: ({ signal }) => fetchList<WedgeSummary>('/v1/wedges', { signal }),
  staleTime: 30_000,
})

/** A task without its input and output, which may be large: the console keeps thousands of list items. */
export type TaskListItem = Pick<
  Task,
  'id' | 'wedge' | 'task_type' | 'status' | 'cost_usd' | 'created_at' | 'started_at' | 'finished_at' | 'error'
> & { summary: string }

export interface TaskFilter {
  status?: TaskStatus | undefined
  wedge?: string | undefined
  client_id?: string | undefined
  case_id?: string | undefined
}

const TASK_PAGE_SIZE = 200

/** Not invalidated by live-updates.ts: rows change in place, and new tasks are shown after a click. */
export const taskListQuery = (filter: TaskFilter) =>
  infiniteQueryOptions({
    queryKey: ['task-list', filter],
    queryFn: ({ pageParam, signal }) => fetchTaskPage({ ...filter, limit: TASK_PAGE_SIZE, cursor: pageParam }, signal),
    initialPageParam: '',
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    staleTime: Infinity,
    gcTime: 60_000,
  })

/** The newest tasks, kept up to date by the change stream. */
export const newestTasksQuery = (filter: TaskFilter, limit = 50) =>
  queryOptions({
    queryKey: ['tasks', 'head', filter, limit],
    queryFn: ({ signal }) => fetchTaskPage({ ...filter, limit }, signal).then(({ data }) => data),
  })

async function fetchTaskPage(query: TaskFilter & { limit: number; cursor?: string }, signal: AbortSignal) {
  const { data, next_cursor } = await callApi<Page<Task>>(`/v1/tasks?${queryString({ ...query })}`, { signal })
  return { data: data.map(toTaskListItem), next_cursor }
}

function toTaskListItem(task: Task): TaskListItem {
  const { id, wedge, task_type, status, cost_usd, created_at, started_at, finished_at, error } = task
  return {
    id,
    wedge,
    task_type,
    status,
    cost_usd,
    created_at,
    started_at,
    finished_at,
    error,
    summary: summarizeInput(task),
  }
}

/** The first plain values of the input, which tell one task from another in a list. */
function summarizeInput({ input }: Task): string {
  if (typeof input === 'string') return input.slice(0, 120)
  if (typeof input !== 'object' || input === null) return ''
  const plain = Object.values(input).filter((value) => typeof value === 'string' || typeof value === 'number')
  return plain.slice(0, 3).join(' · ').slice(0, 120)
}

export const taskQuery = (id: string) =>
  queryOptions({
    queryKey: ['tasks', 'one', id],
    queryFn: ({ signal }) => callApi<Task>(`/v1/tasks/${id}`, { signal }),
  })

/** Recent tasks with their input, which prefills the run form. */
export const recentTasksQuery = (wedge: string) =>
  queryOptions({
    queryKey: ['tasks', 'last', wedge],
    queryFn: ({ signal }) => fetchList<Task>('/v1/tasks', { signal }, { wedge, limit: 20 }),
    staleTime: 10_000,
  })

export const traceQuery = (id: string) =>
  queryOptions({
    queryKey: ['tasks', 'trace', id],
    queryFn: ({ signal }) => callApi<Trace>(`/v1/tasks/${id}/trace`, { signal }),
  })

/** External actions of the task, newest first. */
export const effectsQuery = (taskId: string) =>
  pagedQuery<Effect>(['tasks', 'effects', taskId], `/v1/tasks/${taskId}/actions`)

export const approvalQuery = (id: string) =>
  queryOptions({
    queryKey: ['approvals', 'one', id],
    queryFn: ({ signal }) => callApi<Approval>(`/v1/approvals/${id}`, { signal }),
  })

export const approvalsQuery = (status: ApprovalStatus | undefined) =>
  queryOptions({
    queryKey: ['approvals', status ?? 'all'],
    queryFn: ({ signal }) => fetchList<Approval>('/v1/approvals', { signal }, { status }),
  })

export const analyticsQuery = (days: number) =>
  queryOptions({
    queryKey: ['work', 'analytics', days],
    queryFn: ({ signal }) => callApi<Analytics>(`/v1/analytics?days=${days}`, { signal }),
  })
