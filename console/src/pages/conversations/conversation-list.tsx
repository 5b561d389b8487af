import { Link } from '@tanstack/react-router'
import type { ThreadSummary } from '../../api/conversation-queries.ts'
import { isTitleOf } from '../../api/repeated-text.ts'
import { AnimatedList } from '../../ui/animated-list.tsx'
import { clientName } from '../../ui/client-name.ts'
import { humanize } from '../../ui/humanize.ts'
import { Tag } from '../../ui/status.tsx'
import { TimeAgo } from '../../ui/time.tsx'
import { channelKinds } from '../channels/adapter-text.ts'
import { conversationsText } from './text.ts'

export function ConversationList({ threads, openId }: { threads: ThreadSummary[]; openId: string | undefined }) {
  return (
    <AnimatedList label={conversationsText.list}>
      {threads.map((thread) => ({
        key: thread.id,
        className: 'border-b border-line',
        row: <ConversationRow thread={thread} isOpen={thread.id === openId} />,
      }))}
    </AnimatedList>
  )
}

function ConversationRow({ thread, isOpen }: { thread: ThreadSummary; isOpen: boolean }) {
  const { id, client_name, unread, last_message, updated_at } = thread
  const isRepeated = last_message?.direction === 'inbound' && isTitleOf(thread.subject ?? '', last_message.body)
  const subject = isRepeated ? null : thread.subject
  return (
    <Link
      to="/conversations/$threadId"
      params={{ threadId: id }}
      search={(old) => old}
      aria-current={isOpen ? 'true' : undefined}
      className={`flex h-22 flex-col justify-center gap-0.5 px-3 -outline-offset-2 hover:bg-hover aria-[current]:bg-accent-soft ${unread > 0 ? 'font-semibold' : ''}`}
    >
      <span className="flex items-center gap-2">
        {unread > 0 && (
          <span className="size-2 shrink-0 rounded-full bg-accent" title={conversationsText.unread(unread)}>
            <span className="sr-only">{conversationsText.unread(unread)}</span>
          </span>
        )}
        <span className="truncate">{clientName(client_name)}</span>
        <span className="ml-auto shrink-0 text-xs font-normal text-muted">
          <TimeAgo ts={last_message?.at ?? updated_at} />
        </span>
      </span>
      <span className="truncate">{subject || <LastMessage thread={thread} />}</span>
      <span className="flex min-h-5 items-center gap-1.5 font-normal text-muted">
        <ConversationTags thread={thread} />
        {subject && (
          <span className="truncate">
            <LastMessage thread={thread} />
          </span>
        )}
      </span>
    </Link>
  )
}

function LastMessage({ thread: { last_message } }: { thread: ThreadSummary }) {
  return (
    <>
      {last_message?.direction === 'outbound' && conversationsText.reply}
      {last_message?.body}
    </>
  )
}

/** The service that carries the messages, and who has to act. */
function ConversationTags({ thread: { channel, unanswered, held_by } }: { thread: ThreadSummary }) {
  const kind = channel?.adapter && (channelKinds[channel.adapter] ?? humanize(channel.adapter))
  return (
    <>
      {kind && <Tag>{kind}</Tag>}
      {unanswered && <Tag tone="wait">{conversationsText.unansweredTag}</Tag>}
      {held_by && <Tag tone="run">{conversationsText.heldBy(held_by.name ?? conversationsText.aPerson)}</Tag>}
    </>
  )
}
