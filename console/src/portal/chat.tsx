import { type KeyboardEvent, useCallback, useEffect, useRef, useState } from 'react'
import { Button } from '../ui/button.tsx'
import { PortalFrame } from './frame.tsx'
import {
  getThread,
  listQuestions,
  type PortalMessage,
  type PortalQuestion,
  type PortalThread,
  sendMessage,
} from './portal-api.ts'
import { portalErrorMessage } from './error-message.ts'
import { QuestionCard } from './question-card.tsx'
import { portalText } from './text.ts'
import { TaskProgressView } from './task-progress.tsx'

/** Only the newest tasks are followed, because browsers limit the number of open connections. */
const MAX_FOLLOWED = 3

const POLL_MS = 5_000

/** One conversation: its messages, the progress of their tasks, and a field for a new message. */
export function Chat({ id, onBack }: { id: string; onBack: () => void }) {
  const [shown, setShown] = useState<(PortalThread & { messages: PortalMessage[] }) | null>(null)
  const [questions, setQuestions] = useState<PortalQuestion[]>([])
  const [problem, setProblem] = useState<string | null>(null)
  const fetchAll = useCallback(async () => {
    const [thread, asked] = await Promise.all([getThread(id), listQuestions()])
    setShown(thread)
    setQuestions(asked.filter(({ thread_id }) => thread_id === id))
  }, [id])
  const load = useCallback(() => {
    fetchAll().catch((error: unknown) => setProblem(portalErrorMessage(error)))
  }, [fetchAll])
  useEffect(load, [load])
  useEffect(() => {
    // There is no stream for replies of team members, so the thread is polled; a failed poll is repeated.
    const poll = () => document.hidden || void fetchAll().catch(() => {})
    const timer = setInterval(poll, POLL_MS)
    return () => clearInterval(timer)
  }, [fetchAll])
  const send = async (body: string) => {
    setProblem(null)
    try {
      await sendMessage(id, body)
      load()
      return true
    } catch (error) {
      setProblem(portalErrorMessage(error))
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
      <Messages
        messages={(shown?.messages ?? []).filter((message) => !questions.some((asked) => isMessageOf(message, asked)))}
        onChanged={load}
      />
      {questions.map((question) => (
        <QuestionCard key={question.id} question={question} onDecided={load} />
      ))}
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

/** A question that waits is shown with its form, and not as a message too. */
const isMessageOf = ({ direction, body, task_id }: PortalMessage, asked: PortalQuestion) =>
  direction === 'outbound' && task_id === asked.task_id && body === asked.question

function Messages({ messages, onChanged }: { messages: PortalMessage[]; onChanged: () => void }) {
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
            {message.task_id && requests.includes(message) && (
              <TaskProgressView
                taskId={message.task_id}
                following={followed.has(message.id)}
                hasReply={index < lastReply}
                onChanged={onChanged}
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
