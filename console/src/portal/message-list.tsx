import { useEffect, useRef } from 'react'
import { usePortalText, useTimeFormat } from './language.tsx'
import { MessageFiles } from './message-files.tsx'
import type { PortalMessage } from './portal-api.ts'
import { TaskProgressView } from './task-progress.tsx'

/** Only the newest tasks are followed, because browsers limit the number of open connections. */
const MAX_FOLLOWED = 3

/** The messages of a conversation, each with its sender, its time and the progress of the task that it started. */
export function MessageList({
  messages,
  brandName,
  onChanged,
}: {
  messages: PortalMessage[]
  brandName: string | null
  onChanged: () => void
}) {
  const text = usePortalText()
  const end = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // In braces, because newer browsers return a promise, which React would take for a cleanup function.
    end.current?.scrollIntoView({ block: 'end' })
  }, [messages.length])
  // The answer to a question belongs to the task of an earlier message, whose progress is shown below the answer.
  const ownMessages = messages.filter(({ direction }) => direction === 'inbound')
  const requests = [...new Map(ownMessages.map((message) => [message.task_id ?? message.id, message])).values()]
  const lastReply = messages.findLastIndex(({ direction }) => direction === 'outbound')
  const followed = new Set(requests.slice(-MAX_FOLLOWED).map(({ id }) => id))
  return (
    <div role="log" aria-label={text.messages} tabIndex={0} className="flex flex-1 flex-col gap-4 overflow-y-auto p-1">
      {messages.map((message, index) => (
        <div
          key={message.id}
          className={`flex max-w-[85%] flex-col gap-1 ${message.direction === 'inbound' ? 'items-end self-end' : 'self-start'}`}
        >
          <Bubble message={message} sender={message.author ?? brandName ?? text.team} />
          {message.task_id && requests.includes(message) && (
            <TaskProgressView
              taskId={message.task_id}
              following={followed.has(message.id)}
              hasReply={index < lastReply}
              onChanged={onChanged}
            />
          )}
        </div>
      ))}
      <div ref={end} />
    </div>
  )
}

/** One message with its sender and time. */
export function Bubble({
  message: { direction, body, files, created_at },
  sender,
}: {
  message: PortalMessage
  sender: string
}) {
  const text = usePortalText()
  const times = useTimeFormat()
  const isOwn = direction === 'inbound'
  const colours = isOwn ? 'rounded-br-sm bg-accent text-on-accent' : 'rounded-bl-sm border border-line bg-surface'
  return (
    <>
      <p className="flex gap-2 px-1 text-xs text-muted">
        <span className="font-medium">{isOwn ? text.you : sender}</span>
        <time dateTime={created_at} title={times.long(created_at)}>
          {times.short(created_at)}
        </time>
      </p>
      {body && <p className={`rounded-2xl px-3.5 py-2 break-words whitespace-pre-wrap ${colours}`}>{body}</p>}
      <MessageFiles files={files} />
    </>
  )
}
