import { Link } from '@tanstack/react-router'
import type { ThreadSummary } from '../../api/conversation-queries.ts'
import { AnimatedList } from '../../ui/animated-list.tsx'
import { Tag } from '../../ui/status.tsx'
import { TimeAgo } from '../../ui/time.tsx'
import { clientsText } from './text.ts'

export function ThreadList({ threads }: { threads: ThreadSummary[] }) {
  if (threads.length === 0) return <p className="panel p-4 text-muted">{clientsText.noConversations}</p>
  return (
    <AnimatedList label={clientsText.conversations} className="panel overflow-hidden">
      {threads.map((thread) => ({
        key: thread.id,
        row: <ThreadRow thread={thread} />,
        className: 'not-first:border-t border-line',
      }))}
    </AnimatedList>
  )
}

function ThreadRow({ thread: { id, subject, status, message_count, updated_at } }: { thread: ThreadSummary }) {
  return (
    <Link
      to="/conversations/$threadId"
      params={{ threadId: id }}
      className="flex h-11 items-center gap-3 px-4 -outline-offset-2 hover:bg-hover"
    >
      <span className="truncate font-medium">{subject || clientsText.conversation}</span>
      {status === 'closed' && <Tag>{clientsText.threadStatus.closed}</Tag>}
      <span className="ml-auto text-xs whitespace-nowrap text-muted">
        {clientsText.messageCount(message_count)} · <TimeAgo ts={updated_at} />
      </span>
    </Link>
  )
}
