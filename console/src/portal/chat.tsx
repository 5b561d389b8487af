import { type KeyboardEvent, useCallback, useEffect, useRef, useState } from 'react'
import { Button } from '../ui/button.tsx'
import { PortalFrame } from './frame.tsx'
import { type PortalMessage, sendMessage, getThread, type PortalThread } from './portal-api.ts'
import { TaskProgressView } from './task-progress.tsx'

/** Only the newest work is followed by itself: a browser has few connections to give. */
const MAX_FOLLOWED = 3

const POLL_MS = 5_000

/** One conversation: what was said, how the work stands, and room to say more. */
export function Chat({ id, onBack }: { id: string; onBack: () => void }) {
  const [shown, setShown] = useState<(PortalThread & { messages: PortalMessage[] }) | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const load = useCallback(() => {
    getThread(id).then(setShown, (error: unknown) => setProblem(chatErrorMessage(error)))
  }, [id])
  useEffect(load, [load])
  useEffect(() => {
    // No stream tells of what a person answers. A look that fails is made again.
    const look = () => document.hidden || void getThread(id).then(setShown, () => {})
    const timer = setInterval(look, POLL_MS)
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
        <Button variant="ghost" className="h-11" onClick={onBack} aria-label="All conversations">
          ‹
        </Button>
        <h1 className="truncate text-lg font-semibold">{shown ? shown.subject || 'Conversation' : ' '}</h1>
      </header>
      <Messages messages={shown?.messages ?? []} onEnded={load} />
      {problem && (
        <p role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-bad">
          {problem}
        </p>
      )}
      {shown?.status === 'closed' ? (
        <p className="text-muted">This conversation is closed.</p>
      ) : (
        <Composer onSend={send} />
      )}
    </PortalFrame>
  )
}

const chatErrorMessage = (error: unknown) => {
  if (error instanceof TypeError) return 'You seem to be offline. Try again.'
  const said = error instanceof Error ? error.message : String(error)
  return said === 'expired' ? 'Your session has ended. Ask for a new link.' : said
}

function Messages({ messages, onEnded }: { messages: PortalMessage[]; onEnded: () => void }) {
  const end = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // Braces: newer browsers answer with a promise, which is no way to clean up.
    end.current?.scrollIntoView({ block: 'end' })
  }, [messages.length])
  const asking = messages.filter(({ direction, task_id }) => direction === 'inbound' && task_id)
  const answered = new Set(messages.flatMap(({ direction, task_id }) => (direction === 'outbound' ? [task_id] : [])))
  const lastAnswer = messages.findLastIndex(({ direction }) => direction === 'outbound')
  const followed = new Set(asking.slice(-MAX_FOLLOWED).map(({ id }) => id))
  return (
    <div role="log" aria-label="Messages" tabIndex={0} className="flex flex-1 flex-col gap-3 overflow-y-auto">
      {messages.map((message, at) => {
        const own = message.direction === 'inbound'
        return (
          <div
            key={message.id}
            className={`flex max-w-[85%] flex-col gap-1 ${own ? 'items-end self-end' : 'self-start'}`}
          >
            <p
              className={`rounded-2xl px-3.5 py-2 break-words whitespace-pre-wrap ${own ? 'bg-accent text-on-accent' : 'border border-line bg-surface'}`}
            >
              {message.body}
            </p>
            {own && message.task_id && (
              <TaskProgressView
                taskId={message.task_id}
                following={followed.has(message.id)}
                answered={at < lastAnswer}
                onEnded={() => answered.has(message.task_id) || onEnded()}
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
        aria-label="Your message"
        placeholder="Write a message"
        rows={2}
        maxLength={10_000}
        className="field text-base"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <Button type="submit" variant="primary" className="h-11" disabled={busy || text.trim() === ''}>
        Send
      </Button>
    </form>
  )
}
