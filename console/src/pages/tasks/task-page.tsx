import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { errorMessage } from '../../api/http.ts'
import { threadQuery } from '../../api/conversation-queries.ts'
import { effectsQuery, taskApprovalsQuery, taskQuery } from '../../api/queries.ts'
import type { Task } from '../../api/types.ts'
import type { TaskTab } from '../../search-params.ts'
import { buttonClass } from '../../ui/button.tsx'
import { ErrorMessage, Placeholder } from '../../ui/page-states.tsx'
import { JsonView } from '../../ui/json.tsx'
import { Page } from '../../ui/page.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { ApprovalCard } from '../approvals/approval-card.tsx'
import { MissingConnections } from '../connections/missing-connections.tsx'
import { TaskActions } from './task-actions.tsx'
import { EffectList, UnknownOutcomes } from './effect-list.tsx'
import { EventList } from './event-list.tsx'
import { TaskFacts } from './task-facts.tsx'
import { OutputView } from './output-view.tsx'
import { Timeline } from './timeline.tsx'
import { tasksText } from './text.ts'
import { TraceView } from './trace-view.tsx'
import { humanize } from '../../ui/humanize.ts'
import { useTaskTimeline } from './use-task-timeline.ts'

const route = getRouteApi('/shell/tasks/$taskId')

const TABS: TaskTab[] = ['timeline', 'trace', 'effects', 'output', 'input', 'events']

export function TaskPage() {
  const { taskId } = route.useParams()
  const { data: task, error } = useQuery(taskQuery(taskId))
  if (error && !task) {
    return (
      <Page title={tasksText.task}>
        <ErrorMessage message={errorMessage(error)} />
        <Link to="/tasks" className={`self-start ${buttonClass()}`}>
          {tasksText.allTasks}
        </Link>
      </Page>
    )
  }
  return (
    <Page
      title={task ? humanize(task.task_type) : tasksText.task}
      lead={
        <span className="flex flex-wrap gap-x-2">
          <code className="font-mono text-xs leading-5 break-all">{taskId}</code>
          {task?.wedge}
        </span>
      }
      actions={task && <TaskActions task={task} />}
    >
      {/* A retry opens another task on the same page; the key resets the state. */}
      {task ? <TaskBody key={task.id} task={task} /> : <Placeholder className="h-[60dvh]" />}
    </Page>
  )
}

function TaskBody({ task }: { task: Task }) {
  const { view = 'timeline' } = route.useSearch()
  const navigate = route.useNavigate()
  const log = useTaskTimeline(task.id)
  // An error that comes while a person reads the timeline must not move it.
  const [hadError] = useState(task.error !== null)
  const isErrorFirst = hadError || task.error?.reason === 'connection_missing'
  const effectPages = useInfiniteQuery(effectsQuery(task.id))
  const effects = effectPages.data
  const failed = effects?.filter(({ outcome }) => outcome === 'failed') ?? []
  const failedActions = new Set(failed.map(({ approval_id }) => approval_id))
  const counts: Partial<Record<TaskTab, number | null>> = {
    effects: effects?.length ?? null,
    events: log.state === 'opening' ? null : log.events.length,
  }
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 lg:grid-cols-[minmax(0,1fr)_17rem]">
      <div className="flex min-w-0 flex-col gap-4">
        {isErrorFirst && <TaskErrorMessage task={task} />}
        <Tabs
          label={tasksText.views}
          value={view}
          onChange={(to) => void navigate({ search: to === 'timeline' ? {} : { view: to }, replace: true })}
          tabs={TABS.map((value) => ({ value, label: tasksText.tabs[value], count: counts[value] }))}
        />
        {/* As high as the timeline, so that the content below does not move while data loads. */}
        <div className="flex min-h-[max(20rem,calc(100dvh-15rem))] min-w-0 flex-col">
          {view === 'timeline' && (
            <Timeline
              timeline={log.timeline}
              state={log.state}
              isFinished={task.finished_at !== null}
              failedActions={failedActions}
            />
          )}
          {view === 'trace' && <TraceView task={task} events={log.events.length} />}
          {view === 'effects' && <EffectList taskId={task.id} effects={effects} more={effectPages} />}
          {view === 'output' && <OutputView task={task} timeline={log.timeline} />}
          {view === 'input' && <RequestView task={task} />}
          {view === 'events' && <EventList events={log.events} />}
        </div>
        {/* Warnings, new errors and approvals appear below and stay visible, so that they do not move the page. */}
        <div className="sticky bottom-0 z-10 flex flex-col gap-2 pb-2">
          <UnknownOutcomes effects={effects ?? []} />
          {!isErrorFirst && <TaskErrorMessage task={task} />}
          <QueueReason task={task} />
          <TaskApproval task={task} />
        </div>
      </div>
      <TaskFacts task={task} timeline={log.timeline} />
    </div>
  )
}

function TaskErrorMessage({ task: { error, status, wedge } }: { task: Task }) {
  if (!error) return null
  return (
    <ErrorMessage message={status === 'expired' ? tasksText.expired.message : error.message}>
      {error.reason === 'connection_missing' && <MissingConnections wedge={wedge} hasText={false} />}
    </ErrorMessage>
  )
}

/** Why the task has not started, with a link to the approval for which its conversation waits. */
function QueueReason({ task: { queue_reason, waiting_for } }: { task: Task }) {
  const threadId = waiting_for?.kind === 'thread' ? waiting_for.id : undefined
  const { data: thread } = useQuery({ ...threadQuery(threadId ?? ''), enabled: threadId !== undefined })
  if (!queue_reason) return null
  const [approvalId] = thread?.pending ?? []
  return (
    <p className="panel flex flex-wrap gap-x-3 px-4 py-3 text-muted">
      <span className="first-letter:uppercase">{queue_reason}</span>
      {approvalId && (
        <Link to="/approvals" search={{ id: approvalId }} className="text-accent underline">
          {tasksText.openApproval}
        </Link>
      )}
    </p>
  )
}

/** The pending approval of the task. */
function TaskApproval({ task }: { task: Task }) {
  const { data } = useQuery({ ...taskApprovalsQuery(task.id), enabled: task.status === 'awaiting_approval' })
  const approval = data?.find(({ status }) => status === 'pending')
  if (task.status !== 'awaiting_approval' || !approval) return null
  return (
    <div className="max-h-[70dvh] overflow-y-auto rounded-[10px] shadow-lg">
      <ApprovalCard key={approval.approval_id} approval={approval} onDecided={() => {}} omits="steps" />
    </div>
  )
}

function RequestView({ task }: { task: Task }) {
  const { wedge, task_type, input, actor, constraints, tools, output_schema } = task
  return (
    <div className="panel p-4">
      <JsonView
        label={tasksText.request}
        max=""
        value={{ wedge, task_type, input, actor, constraints, tools, output_schema }}
      />
    </div>
  )
}
