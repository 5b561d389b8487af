import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { type Message, type Thread, threadQuery } from '../../api/client-queries.ts'
import { callApi } from '../../api/http.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { expiredThreadTasksQuery } from '../../api/queries.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { TextArea } from '../../ui/form-fields.tsx'
import { MutationButton } from '../../ui/mutation-button.tsx'
import { Page } from '../../ui/page.tsx'
import { QueryResult } from '../../ui/query-result.tsx'
import { RequireRole } from '../../ui/role.tsx'
import { TimeAgo } from '../../ui/time.tsx'
import { ExpiredTasks } from '../tasks/expired-tasks.tsx'
import { tasksText } from '../tasks/text.ts'
import { clientsText } from './text.ts'

const route = getRouteApi('/shell/threads/$threadId')

/** A conversation with a client. A message links to the task that it started or that wrote it. */
export function ThreadPage() {
  const { threadId } = route.useParams()
  const query = useQuery(threadQuery(threadId))
  return (
    <Page
      title={query.data?.subject || clientsText.conversation}
      lead={query.data ? describeThread(query.data) : ' '}
      actions={
        query.data && (
          <>
            <Link to="/clients/$clientId" params={{ clientId: query.data.client_id }} className={buttonClass()}>
              {clientsText.viewClient}
            </Link>
            <RequireRole minRole="operator">
              <ThreadActions thread={query.data} />
            </RequireRole>
          </>
        )
      }
    >
      <QueryResult query={query}>
        {(thread) => (
          <div className="flex max-w-3xl flex-col gap-4">
            <ol aria-label={clientsText.messages} className="flex flex-col gap-3">
              {thread.messages.map((message) => (
                <ThreadMessage key={message.id} message={message} />
              ))}
            </ol>
            <ExpiredRequests thread={thread} />
          </div>
        )}
      </QueryResult>
    </Page>
  )
}

/** The requests of the thread that nobody decided in time. The client has read in the thread that they stopped. */
function ExpiredRequests({ thread }: { thread: Thread }) {
  const { data: tasks = [] } = useQuery(expiredThreadTasksQuery(thread))
  if (tasks.length === 0) return null
  return (
    <section className="panel overflow-hidden">
      <h2 className="border-b border-line px-4 py-2 font-semibold">{tasksText.expired.title}</h2>
      <ExpiredTasks tasks={tasks} />
    </section>
  )
}

const describeThread = ({ status, message_count }: Thread) =>
  `${clientsText.threadStatus[status]} · ${clientsText.messageCount(message_count)}`

function ThreadActions({ thread: { id, status } }: { thread: Thread }) {
  const [isReplying, setIsReplying] = useState(false)
  const isOpen = status === 'open'
  const newStatus = isOpen ? 'closed' : 'open'
  const setStatus = useApiMutation(() => callApi(`/v1/threads/${id}`, { method: 'PUT', body: { status: newStatus } }), {
    invalidates: ['tasks'],
  })
  return (
    <>
      <MutationButton mutation={setStatus}>{isOpen ? clientsText.close : clientsText.reopen}</MutationButton>
      {isOpen && (
        <Button variant="primary" onClick={() => setIsReplying(true)}>
          {clientsText.reply}
        </Button>
      )}
      {isOpen && isReplying && <ReplyForm threadId={id} onClose={() => setIsReplying(false)} />}
    </>
  )
}

/** A dialog, because a form below the messages would move whenever one arrives. */
function ReplyForm({ threadId, onClose }: { threadId: string; onClose: () => void }) {
  const [body, setBody] = useState('')
  const send = useApiMutation(() => callApi(`/v1/threads/${threadId}/messages`, { method: 'POST', body: { body } }), {
    invalidates: ['tasks'],
    onSuccess: onClose,
  })
  return (
    <FormDialog
      title={clientsText.replyTitle}
      submitLabel={clientsText.sendReply}
      canSubmit={body.trim() !== ''}
      mutation={send}
      onClose={onClose}
    >
      <TextArea label={clientsText.yourReply} hint={clientsText.replyHint} value={body} onChange={setBody} rows={6} />
    </FormDialog>
  )
}

function ThreadMessage({ message: { direction, from, to, body, task_id, created_at } }: { message: Message }) {
  const isInbound = direction === 'inbound'
  const sender = to ? clientsText.sentTo(to) : task_id ? clientsText.agent : clientsText.teamMember
  const author = isInbound ? (from?.name ?? from?.handle ?? clientsText.client) : sender
  return (
    <li className={`flex max-w-[85%] flex-col gap-1 ${isInbound ? 'self-start' : 'items-end self-end'}`}>
      <p
        className={`rounded-lg px-3.5 py-2 break-words whitespace-pre-wrap ${isInbound ? 'border border-line bg-surface' : 'bg-accent-soft'}`}
      >
        {body}
      </p>
      <p className="text-xs text-muted">
        {author} · <TimeAgo ts={created_at} />
        {task_id && (
          <>
            {' · '}
            <Link to="/tasks/$taskId" params={{ taskId: task_id }} className="text-accent underline">
              {clientsText.viewTask}
            </Link>
          </>
        )}
      </p>
    </li>
  )
}
