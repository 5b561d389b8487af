import { Link } from '@tanstack/react-router'
import type { TaskListItem } from '../../api/queries.ts'
import { AnimatedList } from '../../ui/animated-list.tsx'
import { humanize } from '../../ui/humanize.ts'
import { shownTaskStatus, StatusBadge } from '../../ui/status.tsx'
import { TimeAgo } from '../../ui/time.tsx'

/** A short list of tasks, one line each. */
export function TaskLines({ tasks, label }: { tasks: TaskListItem[]; label: string }) {
  return (
    <AnimatedList label={label}>{tasks.map((task) => ({ key: task.id, row: <TaskLine task={task} /> }))}</AnimatedList>
  )
}

function TaskLine({ task }: { task: TaskListItem }) {
  return (
    <Link
      to="/tasks/$taskId"
      params={{ taskId: task.id }}
      className="flex h-11 items-center gap-3 border-b border-line px-4 -outline-offset-2 hover:bg-hover"
    >
      <span className="min-w-32 shrink-0">
        <StatusBadge status={shownTaskStatus(task)} />
      </span>
      <span className="min-w-0 truncate">
        <span className="font-medium">{humanize(task.task_type)}</span>{' '}
        <span className="text-muted">{task.summary}</span>
      </span>
      <span className="ml-auto text-xs text-muted max-sm:hidden">
        <TimeAgo ts={task.created_at} />
      </span>
    </Link>
  )
}
