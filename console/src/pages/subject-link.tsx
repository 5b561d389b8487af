import { Link } from '@tanstack/react-router'

/** Leads to what an id names, where there is a page for it. */
export function SubjectLink({ id, children = id }: { id: string; children?: string }) {
  const look = 'font-mono text-accent underline'
  if (id.startsWith('task_')) {
    return (
      <Link to="/tasks/$taskId" params={{ taskId: id }} className={look}>
        {children}
      </Link>
    )
  }
  if (id.startsWith('apr_')) {
    return (
      <Link to="/approvals" search={{ id }} className={look}>
        {children}
      </Link>
    )
  }
  return <span className="font-mono">{children}</span>
}
