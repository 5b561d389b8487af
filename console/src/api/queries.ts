import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import * as credential from './credential.ts'
import { callOperation } from './http.ts'
import { fetchList, pagedQuery } from './paging.ts'
import { summarizeInput } from './summarize-input.ts'
import type { ApprovalStatus, Schemas, Task, TaskStatus, WedgeSummary } from './types.ts'

/** Queries of the daily work. live-updates.ts invalidates them by the first word of their key. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async ({ signal }) => {
    const session = await callOperation('getSession', {}, { signal, allProjects: true })
    credential.ensureProject(session.projects)
    return session
  },
  staleTime: 60_000,
  retry: false,
})

export const signupQuery = queryOptions({
  queryKey: ['signup'],
  queryFn: ({ signal }) => callOperation('getSignup', {}, { signal }),
})

export const metaQuery = queryOptions({
  queryKey: ['meta'],
  queryFn: ({ signal }) => callOperation('getMeta', {}, { signal }),
  staleTime: 30_000,
})

const allWedgesQuery = {
  queryKey: ['wedges'],
  queryFn: ({ signal }: { signal: AbortSignal }) => fetchList('listWedges', {}, { signal }),
  staleTime: 30_000,
}

/** The wedges that can be used. */
export const wedgesQuery = queryOptions({ ...allWedgesQuery, select: (all) => all.filter(isUsable) })

/** The wedges with errors that keep them from being used. */
export const brokenWedgesQuery = queryOptions({
  ...allWedgesQuery,
  select: (all) => all.filter((wedge) => !isUsable(wedge)),
})

const isUsable = (wedge: Schemas.WedgeSummary): wedge is WedgeSummary => 'task_types' in wedge.manifest

/** A task without its input and output, which may be large: the console keeps thousands of list items. */
export type TaskListItem = Pick<
  Task,
  | 'id'
  | 'wedge'
  | 'task_type'
  | 'status'
  | 'waiting_for'
  | 'thread_id'
  | 'cost_usd'
  | 'created_at'
  | 'started_at'
  | 'finished_at'
  | 'error'
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

export type NeedsYou = Schemas.NeedsYou
export type NeedsYouItem = Schemas.NeedsYouItem

/** Everything that waits for a person, the most urgent kinds first. */
export const needsYouQuery = queryOptions({
  queryKey: ['work', 'needs-you'],
  queryFn: ({ signal }) => callOperation('getNeedsYou', {}, { signal }),
})

/** How many approvals and questions wait for the team: neither held, nor for a client alone. */
export const waitsForTeamQuery = queryOptions({
  ...needsYouQuery,
  select: ({ counts }) => (counts.approval ?? 0) + (counts.question ?? 0),
})

interface TaskPageQuery extends TaskFilter {
  limit: number
  cursor?: string
}

async function fetchTaskPage(query: TaskPageQuery, signal: AbortSignal) {
  const { data, next_cursor } = await callOperation('listTasks', query, { signal })
  return { data: data.map(toTaskListItem), next_cursor }
}

export function toTaskListItem(task: Task): TaskListItem {
  const { id, wedge, task_type, status, thread_id, cost_usd, created_at, started_at, finished_at, error } = task
  const { waiting_for } = task
  return {
    id,
    wedge,
    task_type,
    status,
    waiting_for,
    thread_id,
    cost_usd,
    created_at,
    started_at,
    finished_at,
    error,
    summary: summarizeInput(task.input),
  }
}

export const taskQuery = (id: string) =>
  queryOptions({
    queryKey: ['tasks', 'one', id],
    queryFn: ({ signal }) => callOperation('getTask', { id }, { signal }),
  })

/** Recent tasks with their input, which the run form offers. */
export const recentTasksQuery = (wedge: string) =>
  queryOptions({
    queryKey: ['tasks', 'last', wedge],
    queryFn: ({ signal }) => fetchList('listTasks', { wedge, limit: 20 }, { signal }),
    staleTime: 10_000,
  })

export const traceQuery = (id: string) =>
  queryOptions({
    queryKey: ['tasks', 'trace', id],
    queryFn: ({ signal }) => callOperation('getTaskTrace', { id }, { signal }),
  })

/** External actions of the task, newest first. */
export const effectsQuery = (taskId: string) =>
  pagedQuery(['tasks', 'effects', taskId], 'listTaskActions', { id: taskId })

export const approvalQuery = (id: string) =>
  queryOptions({
    queryKey: ['approvals', 'one', id],
    queryFn: ({ signal }) => callOperation('getApproval', { id }, { signal }),
  })

/** The team's notes on one approval, oldest first. */
export const approvalCommentsQuery = (id: string) =>
  queryOptions({
    queryKey: ['approvals', 'comments', id],
    queryFn: async ({ signal }) => (await fetchList('listApprovalComments', { id }, { signal })).toReversed(),
  })

/** The approvals of one task, with the payloads of its external actions. */
export const taskApprovalsQuery = (taskId: string) =>
  queryOptions({
    queryKey: ['approvals', 'task', taskId],
    queryFn: ({ signal }) => fetchList('listApprovals', { task_id: taskId }, { signal }),
  })

export const approvalsQuery = (status: ApprovalStatus | undefined, assignee?: 'me') =>
  queryOptions({
    queryKey: ['approvals', status ?? 'all', assignee ?? 'all'],
    queryFn: ({ signal }) => fetchList('listApprovals', { status, assignee }, { signal }),
  })

/** What the reader has approved and can still undo. */
export const heldByReaderQuery = queryOptions({
  queryKey: ['approvals', 'held'],
  queryFn: ({ signal }) => fetchList('listApprovals', { held: 'me' }, { signal }),
})

export const analyticsQuery = (days: number) =>
  queryOptions({
    queryKey: ['work', 'analytics', days],
    queryFn: ({ signal }) => callOperation('getAnalytics', { days }, { signal }),
  })
