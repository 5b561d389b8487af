import { ArrowLeft } from 'lucide-react'
import { useCallback, useEffect, useEffectEvent, useState } from 'react'
import { Button } from '../ui/button.tsx'
import { ApprovalCard } from './approval-card.tsx'
import { Composer } from './composer.tsx'
import { portalErrorMessage } from './error-message.ts'
import { Alert } from './frame.tsx'
import { usePortalText } from './language.tsx'
import { MessageList } from './message-list.tsx'
import {
  getThread,
  listApprovals,
  listQuestions,
  markRead,
  type NewMessage,
  type PortalApproval,
  type PortalMessage,
  type PortalQuestion,
  sendMessage,
  type WholeThread,
} from './portal-api.ts'
import { QuestionCard } from './question-card.tsx'

const POLL_MS = 5_000

interface ChatProps {
  id: string
  brandName: string | null
  maxFileBytes: number
  onBack: () => void
  /** The list of conversations is out of date. */
  onChanged: () => void
}

/** One conversation: its messages, the progress of their tasks, and a field for a new message. */
export function Chat({ id, brandName, maxFileBytes, onBack, onChanged }: ChatProps) {
  const text = usePortalText()
  const { thread, questions, approvals, problem, load } = useThread(id, onChanged)
  const send = async (message: NewMessage) => {
    try {
      await sendMessage(id, message)
      load()
      onChanged()
      return null
    } catch (error) {
      return portalErrorMessage(error, text)
    }
  }
  const isLoading = thread === null && problem === null
  const shown = (thread?.messages ?? []).filter((message) => !questions.some((asked) => isMessageOf(message, asked)))
  return (
    <section aria-label={text.conversation} className="flex min-h-0 min-w-0 flex-1 flex-col gap-3 p-4">
      <header className="flex items-center gap-2 border-b border-line pb-3">
        <Button variant="ghost" className="h-11 md:hidden" onClick={onBack} aria-label={text.allConversations}>
          <ArrowLeft size={18} aria-hidden />
        </Button>
        <h1 className="truncate text-lg font-semibold">{isLoading ? ' ' : thread?.subject || text.conversation}</h1>
      </header>
      <MessageList messages={shown} brandName={brandName} onChanged={load} />
      {questions.length + approvals.length > 0 && (
        // A long form or payload must leave room for the messages and the composer.
        <div
          role="group"
          aria-label={questions.length > 0 ? text.questions : text.approvals}
          tabIndex={0}
          className="flex max-h-[50dvh] shrink-0 flex-col gap-3 overflow-y-auto"
        >
          {questions.map((question) => (
            <QuestionCard key={question.id} question={question} onDecided={load} />
          ))}
          {approvals.map((approval) => (
            <ApprovalCard key={approval.id} approval={approval} onDecided={load} />
          ))}
        </div>
      )}
      {problem !== null && <Alert>{portalErrorMessage(problem, text)}</Alert>}
      {thread?.status === 'closed' ? (
        <p className="text-muted">{text.conversationClosed}</p>
      ) : (
        // A conversation that cannot be read takes no messages.
        (thread || isLoading) && <Composer draft={id} maxFileBytes={maxFileBytes} onSend={send} />
      )}
    </section>
  )
}

/** The thread with its open questions and its approvals. An answer that is on the screen counts as read. */
function useThread(id: string, onChanged: () => void) {
  const [thread, setThread] = useState<WholeThread | null>(null)
  const [questions, setQuestions] = useState<PortalQuestion[]>([])
  const [approvals, setApprovals] = useState<PortalApproval[]>([])
  const [problem, setProblem] = useState<unknown>(null)
  const changed = useEffectEvent(onChanged)
  const fetchAll = useCallback(async () => {
    const [whole, asked, toApprove] = await Promise.all([getThread(id), listQuestions(), listApprovals()])
    setThread(whole)
    setQuestions(asked.filter(({ thread_id }) => thread_id === id))
    setApprovals(toApprove.filter((approval) => isShownIn(whole, approval)))
    setProblem(null)
  }, [id])
  const load = useCallback(() => void fetchAll().catch(setProblem), [fetchAll])
  useEffect(load, [load])
  useEffect(() => {
    // There is no stream for replies of team members, so the thread is polled; a failed poll is repeated.
    const poll = () => document.hidden || void fetchAll().catch(() => {})
    const timer = setInterval(poll, POLL_MS)
    return () => clearInterval(timer)
  }, [fetchAll])
  const isUnread = thread?.unread === true
  useEffect(() => {
    if (!isUnread || document.hidden) return
    void markRead(id).then(() => changed())
  }, [id, isUnread])
  return { thread, questions, approvals, problem, load }
}

/** A question that waits is shown with its form, and not as a message too. */
const isMessageOf = ({ direction, body, task_id }: PortalMessage, asked: PortalQuestion) =>
  direction === 'outbound' && task_id === asked.task_id && body === asked.question

/** What was decided is shown until the conversation goes on with another task. */
const isShownIn = ({ id, messages }: WholeThread, { thread_id, task_id, status }: PortalApproval) =>
  thread_id === id && (status === 'pending' || task_id === messages.at(-1)?.task_id)
