import { Link } from '@tanstack/react-router'
import type { ThreadSummary } from '../../api/customers.ts'
import { Stack } from '../../ui/stack.tsx'
import { Tag } from '../../ui/status.tsx'
import { Ago } from '../../ui/time.tsx'

export function ThreadRows({ threads }: { threads: ThreadSummary[] }) {
  if (threads.length === 0) return <p className="panel p-4 text-muted">No conversation yet.</p>
  return (
    <Stack label="Conversations" className="panel overflow-hidden">
      {threads.map((thread) => ({
        key: thread.id,
        row: <Row thread={thread} />,
        look: 'not-first:border-t border-line',
      }))}
    </Stack>
  )
}

function Row({ thread: { id, subject, status, message_count, updated_at } }: { thread: ThreadSummary }) {
  return (
    <Link
      to="/threads/$threadId"
      params={{ threadId: id }}
      className="flex h-11 items-center gap-3 px-4 -outline-offset-2 hover:bg-hover"
    >
      <span className="truncate font-medium">{subject || 'Conversation'}</span>
      {status === 'closed' && <Tag>closed</Tag>}
      <span className="ml-auto text-xs whitespace-nowrap text-muted">
        {message_count} {message_count === 1 ? 'message' : 'messages'} · <Ago ts={updated_at} />
      </span>
    </Link>
  )
}
