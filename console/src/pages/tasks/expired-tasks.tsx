import { Link } from '@tanstack/react-router'
import type { TaskListItem } from '../../api/queries.ts'
import { AnimatedList } from '../../ui/animated-list.tsx'
import { humanize } from '../../ui/humanize.ts'
import { RequireRole } from '../../ui/role.tsx'
import { TimeAgo } from '../../ui/time.tsx'
import { showToast } from '../../ui/toast.tsx'
import { RunAgainButton } from './run-again-button.tsx'
import { tasksText } from './text.ts'

/** Tasks that ended because nobody decided in time. One click runs a task again. */
export function ExpiredTasks({ tasks }: { tasks: TaskListItem[] }) {
  return (
    <AnimatedList label={tasksText.expired.title}>
      {tasks.map((task) => ({
        key: task.id,
        className: 'flex h-11 items-center gap-3 border-b border-line px-4',
        row: <ExpiredTask task={task} />,
      }))}
    </AnimatedList>
  )
}

function ExpiredTask({ task }: { task: TaskListItem }) {
  return (
    <>
      <Link to="/tasks/$taskId" params={{ taskId: task.id }} className="min-w-0 grow truncate hover:underline">
        <span className="font-medium">{humanize(task.task_type)}</span>{' '}
        <span className="text-muted">{task.summary}</span>
      </Link>
      {task.finished_at && (
        <span className="text-xs whitespace-nowrap text-muted max-sm:hidden">
          {tasksText.expired.ended} <TimeAgo ts={task.finished_at} />
        </span>
      )}
      <RequireRole minRole="operator">
        <RunAgainButton small taskId={task.id} onStarted={() => showToast(tasksText.expired.started)} />
      </RequireRole>
    </>
  )
}
