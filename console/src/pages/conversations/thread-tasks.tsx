import { Link } from '@tanstack/react-router'
import type { Thread } from '../../api/conversation-queries.ts'
import { humanize } from '../../ui/humanize.ts'
import { StatusBadge } from '../../ui/status.tsx'

/** The tasks of a conversation, each with its status. */
export function ThreadTasks({ tasks }: { tasks: Thread['tasks'] }) {
  return (
    <ul className="flex flex-col gap-1.5">
      {tasks.map(({ id, task_type, status }) => (
        <li key={id} className="flex items-center gap-2">
          <Link to="/tasks/$taskId" params={{ taskId: id }} className="min-w-0 truncate text-accent underline">
            {humanize(task_type)}
          </Link>
          <span className="ml-auto">
            <StatusBadge status={status} />
          </span>
        </li>
      ))}
    </ul>
  )
}
