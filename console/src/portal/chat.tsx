import { type KeyboardEvent, useCallback, useEffect, useRef, useState } from 'react'
import { Button } from '../ui/button.tsx'
import { capitalize } from '../ui/humanize.ts'
import { PortalFrame } from './frame.tsx'
import { type PortalMessage, sendMessage, getThread, type PortalThread, SESSION_EXPIRED } from './portal-api.ts'
import { portalText } from './text.ts'
import { TaskProgressView } from './task-progress.tsx'

/** Only the newest tasks are followed, because browsers limit the number of open connections. */
const MAX_FOLLOWED = 3

const POLL_MS = 5_000

/** One conversation: its messages, the progress of their tasks, and a field for a new message. */
export function Chat({ id, onBack }: { id: string; onBack: () => void }) {
  const [shown, setShown] = useState<(PortalThread & { messages: PortalMessage[] }) | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const load = useCallback(() => {
    getThread(id).then(setShown, (error: unknown) => setProblem(chatErrorMessage(error)))
  }, [id])
  useEffect(load, [load])
  useEffect(() => {
    // There is no stream for replies of team members, so the thread is polled; a failed poll is repeated.
    const poll = () => document.hidden || void getThread(id).then(setShown, () => {})
    const timer = setInterval(poll, POLL_MS)
    return () => clearInterval(timer)
  }, [id])
  const send = async (body: string) => {
    setProblem(null)
    try {
      await sendMessage(id, body)
      load()
      return true
    } catch (error) {
      setProblem(chatErrorMessage(error))
      return false
    }
  }
  return (
    <PortalFrame tall>
      <header className="flex items-center gap-2">
        <Button variant="ghost" className="h-11" onClick={onBack} aria-label={portalText.allConversations}>
          ‹
        </Button>
        <h1 className="truncate text-lg font-semibold">{shown ? shown.subject || portalText.conversation : ' '}</h1>
      </header>
      <Messages messages={shown?.messages ?? []} onFinished={load} />
      {problem && (
        <p role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-bad">
          {problem}
        </p>
      )}
      {shown?.status === 'closed' ? (
        <p className="text-muted">{portalText.conversationClosed}</p>
      ) : (
        <Composer onSend={send} />
      )}
    </PortalFrame>
  )
}

const chatErrorMessage = (error: unknown) => {
  if (error instanceof TypeError) return portalText.offline
  const message = error instanceof Error ? error.message : String(error)
  return message === SESSION_EXPIRED ? portalText.sessionEnded : capitalize(message)
}

function Messages({ messages, onFinished }: { messages: PortalMessage[]; onFinished: () => void }) {
  const end = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // In braces, because newer browsers return a promise, which React would take for a cleanup function.
    end.current?.scrollIntoView({ block: 'end' })
  }, [messages.length])
  const requests = messages.filter(({ direction, task_id }) => direction === 'inbound' && task_id)
  const answeredTasks = new Set(
    messages.flatMap(({ direction, task_id }) => (direction === 'outbound' ? [task_id] : [])),
  )
  const lastReply = messages.findLastIndex(({ direction }) => direction === 'outbound')
  const followed = new Set(requests.slice(-MAX_FOLLOWED).map(({ id }) => id))
  return (
    <div
      role="log"
      aria-label={portalText.messages}
      tabIndex={0}
      className="flex flex-1 flex-col gap-3 overflow-y-auto"
    >
      {messages.map((message, index) => {
        const isOwn = message.direction === 'inbound'
        return (
          <div
            key={message.id}
            className={`flex max-w-[85%] flex-col gap-1 ${isOwn ? 'items-end self-end' : 'self-start'}`}
          >
            <p
              className={`rounded-2xl px-3.5 py-2 break-words whitespace-pre-wrap ${isOwn ? 'bg-accent text-on-accent' : 'border border-line bg-surface'}`}
            >
              {message.body}
            </p>
            {isOwn && message.task_id && (
              <TaskProgressView
                taskId={message.task_id}
                following={followed.has(message.id)}
                hasReply={index < lastReply}
                onFinished={() => answeredTasks.has(message.task_id) || onFinished()}
              />
            )}
          </div>
        )
      })}
      <div ref={end} />
    </div>
  )
}

function Composer({ onSend }: { onSend: (body: string) => Promise<boolean> }) {
  const [text, setText] = useState('')
  const [busy, setBusy] = useState(false)
  const send = async () => {
    if (text.trim() === '' || busy) return
    setBusy(true)
    if (await onSend(text)) setText('')
    setBusy(false)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    void send()
  }
  return (
    <form className="flex items-end gap-2" onSubmit={(event) => (event.preventDefault(), void send())}>
      <textarea
        aria-label={portalText.yourMessage}
        placeholder={portalText.messagePlaceholder}
        rows={2}
        maxLength={10_000}
        className="field text-base"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <Button type="submit" variant="primary" className="h-11" disabled={busy || text.trim() === ''}>
        {portalText.send}
      </Button>
    </form>
  )
}
