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
  const { list, content, onScroll } = useStayAtEnd(messages.length)
  const lastReply = messages.findLastIndex(({ direction }) => direction === 'outbound')
  const progress = progressOf(messages)
  const followed = [...progress.values()].slice(-MAX_FOLLOWED)
  return (
    <div
      ref={list}
      role="log"
      aria-label={text.messages}
      tabIndex={0}
      className="flex-1 overflow-y-auto p-1"
      onScroll={onScroll}
    >
      <div ref={content} className="flex flex-col gap-4">
        {messages.map((message) => {
          const shown = progress.get(message.id)
          const isOwn = message.direction === 'inbound'
          return (
            <div
              key={message.id}
              data-direction={message.direction}
              className={`flex flex-col gap-1 ${isOwn ? 'items-end pl-[15%]' : 'items-start pr-[15%]'}`}
            >
              <Bubble message={message} sender={message.author ?? brandName ?? text.team} />
              {shown && (
                <TaskProgressView
                  taskId={shown.taskId}
                  following={followed.includes(shown)}
                  hasReply={shown.requestIndex < lastReply}
                  isOwn={isOwn}
                  onChanged={onChanged}
                />
              )}
            </div>
          )
        })}
      </div>
    </div>
  )
}

interface ShownProgress {
  taskId: string
  /** The place of the client's message that the task is about. */
  requestIndex: number
}

/**
 * By the id of the message below which the progress of a task is shown: the newest one of the task, so that the result is
 * below the answer once there is one.
 */
function progressOf(messages: readonly PortalMessage[]): Map<string, ShownProgress> {
  const requests = new Map<string, number>()
  // The answer to a question belongs to the task of an earlier message.
  for (const [index, { direction, task_id }] of messages.entries())
    if (direction === 'inbound' && task_id) requests.set(task_id, index)
  const shown = [...requests].map(([taskId, requestIndex]): [string, ShownProgress] => {
    const newest = messages.findLast(({ task_id }) => task_id === taskId)
    return [newest?.id ?? '', { taskId, requestIndex }]
  })
  return new Map(shown)
}

const NEAR_END_PX = 60

/**
 * Shows the newest message, also when images or the progress of a task make the list longer, as long as the client has not
 * scrolled up.
 */
function useStayAtEnd(messageCount: number) {
  const list = useRef<HTMLDivElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)
  useEffect(() => {
    isAtEnd.current = true
    scrollToEnd(list.current)
  }, [messageCount])
  useEffect(() => {
    if (!content.current) return undefined
    const observer = new ResizeObserver(() => isAtEnd.current && scrollToEnd(list.current))
    observer.observe(content.current)
    return () => observer.disconnect()
  }, [])
  const onScroll = () => {
    const { scrollHeight = 0, scrollTop = 0, clientHeight = 0 } = list.current ?? {}
    isAtEnd.current = scrollHeight - scrollTop - clientHeight < NEAR_END_PX
  }
  return { list, content, onScroll }
}

const scrollToEnd = (list: HTMLElement | null) => list?.scrollTo({ top: list.scrollHeight })

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
      {body && <p className={`rounded-2xl px-3.5 py-2 wrap-anywhere whitespace-pre-wrap ${colours}`}>{body}</p>}
      <MessageFiles files={files} />
    </>
  )
}
