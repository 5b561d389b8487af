import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Artifact, Task } from '../../api/types.ts'
import { shownTaskStatus, StatusBadge } from '../../ui/status.tsx'
import { TimeAgo, useNow } from '../../ui/time.tsx'
import { formatUsd, formatDuration, formatNumber } from '../../ui/format.ts'
import { FileList } from '../files/file-list.tsx'
import type { TaskTimeline } from './task-timeline.ts'
import { tasksText } from './text.ts'

const text = tasksText.facts

/** Status, duration, cost, links and artifacts of the task. */
export function TaskFacts({ task, timeline }: { task: Task; timeline: TaskTimeline }) {
  const cost = Math.max(task.cost_usd, timeline.cost)
  return (
    <aside aria-label={text.label} className="flex flex-col gap-4 max-lg:contents">
      <dl className="panel grid grid-cols-[auto_1fr] gap-x-4 gap-y-2 p-4 max-lg:order-first max-lg:sm:grid-cols-[auto_1fr_auto_1fr]">
        <FactRow name={text.status}>
          <StatusBadge status={shownTaskStatus(task)} />
        </FactRow>
        <FactRow name={text.duration}>
          <TaskDuration task={task} />
        </FactRow>
        <FactRow name={text.cost}>
          <span className="tabular-nums">
            {formatUsd(cost)}{' '}
            <span className="text-muted">{text.ofLimit(formatUsd(task.constraints.max_cost_usd))}</span>
          </span>
        </FactRow>
        <FactRow name={text.tokens}>{timeline.tokens > 0 ? formatNumber(timeline.tokens) : '—'}</FactRow>
        <FactRow name={text.created}>
          <TimeAgo ts={task.created_at} />
        </FactRow>
        {task.retry_of && (
          <FactRow name={text.retryOf}>
            <Link to="/tasks/$taskId" params={{ taskId: task.retry_of }} className="text-accent underline">
              {text.earlierTask}
            </Link>
          </FactRow>
        )}
        {task.case_id && (
          <FactRow name={text.case}>
            <Link to="/cases/$caseId" params={{ caseId: task.case_id }} className="text-accent underline">
              {text.openCase}
            </Link>
          </FactRow>
        )}
        {task.client_id && (
          <FactRow name={text.client}>
            <Link to="/clients/$clientId" params={{ clientId: task.client_id }} className="text-accent underline">
              {task.client_id.slice(-8)}
            </Link>
          </FactRow>
        )}
        {task.thread_id && (
          <FactRow name={text.conversation}>
            <Link to="/conversations/$threadId" params={{ threadId: task.thread_id }} className="text-accent underline">
              {task.thread_id.slice(-8)}
            </Link>
          </FactRow>
        )}
      </dl>
      {task.files.length > 0 && (
        <section className="panel px-4 py-3">
          <h2 className="mb-1 text-xs font-semibold text-muted">{text.files}</h2>
          <FileList files={task.files} />
        </section>
      )}
      <Artifacts artifacts={task.artifacts} />
    </aside>
  )
}

function Artifacts({ artifacts }: { artifacts: Artifact[] }) {
  return (
    <section className="panel px-4 py-3">
      <h2 className="mb-1 text-xs font-semibold text-muted">{text.artifacts}</h2>
      {artifacts.length === 0 && <p className="h-7 leading-7 text-muted">{text.noArtifacts}</p>}
      <FileList files={artifacts} label={text.artifacts} />
    </section>
  )
}

function FactRow({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="contents">
      <dt className="text-muted">{name}</dt>
      <dd className="min-w-0 truncate text-right *:data-status:h-auto *:data-status:text-left *:data-status:whitespace-normal max-lg:sm:text-left">
        {children}
      </dd>
    </div>
  )
}

function TaskDuration({ task }: { task: Task }) {
  const now = useNow(500)
  if (!task.started_at) return <span className="text-muted">{text.notStarted}</span>
  const end = task.finished_at ? Date.parse(task.finished_at) : now
  return <span className="tabular-nums">{formatDuration(end - Date.parse(task.started_at))}</span>
}
