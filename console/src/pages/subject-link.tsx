import { Link } from '@tanstack/react-router'

/** Links a task or approval id to its page; any other id is plain text. */
export function SubjectLink({ id, children = id }: { id: string; children?: string }) {
  const className = 'font-mono text-accent underline'
  if (id.startsWith('task_')) {
    return (
      <Link to="/tasks/$taskId" params={{ taskId: id }} className={className}>
        {children}
      </Link>
    )
  }
  if (id.startsWith('apr_')) {
    return (
      <Link to="/approvals" search={{ id }} className={className}>
        {children}
      </Link>
    )
  }
  return <span className="font-mono">{children}</span>
}
