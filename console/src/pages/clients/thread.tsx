import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { type Message, type Thread, threadQuery } from '../../api/client-queries.ts'
import { callApi } from '../../api/http.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { TextArea } from '../../ui/form-fields.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { QueryResult } from '../../ui/query-result.tsx'
import { RequireRole } from '../../ui/role.tsx'
import { Page } from '../../ui/page.tsx'
import { TimeAgo } from '../../ui/time.tsx'
import { MutationButton } from '../../ui/mutation-button.tsx'

const route = getRouteApi('/shell/threads/$threadId')

/** A conversation as both sides know it, each message with the work that it asked for or came from. */
export function ThreadPage() {
  const { threadId } = route.useParams()
  const query = useQuery(threadQuery(threadId))
  return (
    <Page
      title={query.data?.subject || 'Conversation'}
      lead={query.data ? `${query.data.status}, ${query.data.message_count} messages` : ' '}
      actions={
        query.data && (
          <>
            <Link to="/clients/$clientId" params={{ clientId: query.data.client_id }} className={buttonClass()}>
              The client
            </Link>
            <RequireRole minRole="operator">
              <ThreadActions thread={query.data} />
            </RequireRole>
          </>
        )
      }
    >
      <QueryResult query={query}>
        {({ messages }) => (
          <ol aria-label="Messages" className="flex max-w-3xl flex-col gap-3">
            {messages.map((message) => (
              <MessageLine key={message.id} message={message} />
            ))}
          </ol>
        )}
      </QueryResult>
    </Page>
  )
}

function ThreadActions({ thread: { id, status } }: { thread: Thread }) {
  const [answering, setAnswering] = useState(false)
  const isOpen = status === 'open'
  const to = isOpen ? 'closed' : 'open'
  const set = useApiMutation(() => callApi(`/v1/threads/${id}`, { method: 'PUT', body: { status: to } }), {
    invalidates: ['tasks'],
  })
  return (
    <>
      <MutationButton mutation={set}>{isOpen ? 'Close' : 'Open again'}</MutationButton>
      {isOpen && (
        <Button variant="primary" onClick={() => setAnswering(true)}>
          Answer
        </Button>
      )}
      {isOpen && answering && <Answer threadId={id} onClose={() => setAnswering(false)} />}
    </>
  )
}

/** Apart from the messages: below them, it would move whenever one arrives. */
function Answer({ threadId, onClose }: { threadId: string; onClose: () => void }) {
  const [body, setBody] = useState('')
  const send = useApiMutation(() => callApi(`/v1/threads/${threadId}/messages`, { method: 'POST', body: { body } }), {
    invalidates: ['tasks'],
    onSuccess: onClose,
  })
  return (
    <FormDialog
      title="Answer the client"
      submitLabel="Send the answer"
      canSubmit={body.trim() !== ''}
      mutation={send}
      onClose={onClose}
    >
      <TextArea
        label="Your answer"
        hint="The client reads it in the portal. No mail is sent."
        value={body}
        onChange={setBody}
        rows={6}
      />
    </FormDialog>
  )
}

function MessageLine({ message: { direction, from, to, body, task_id, created_at } }: { message: Message }) {
  const theirs = direction === 'inbound'
  const ours = to ? `to ${to.join(', ')}` : task_id ? 'the service' : 'one of you'
  const who = theirs ? (from?.name ?? from?.handle ?? 'the client') : ours
  return (
    <li className={`flex max-w-[85%] flex-col gap-1 ${theirs ? 'self-start' : 'items-end self-end'}`}>
      <p
        className={`rounded-lg px-3.5 py-2 break-words whitespace-pre-wrap ${theirs ? 'border border-line bg-surface' : 'bg-accent-soft'}`}
      >
        {body}
      </p>
      <p className="text-xs text-muted">
        {who} · <TimeAgo ts={created_at} />
        {task_id && (
          <>
            {' · '}
            <Link to="/tasks/$taskId" params={{ taskId: task_id }} className="text-accent underline">
              task
            </Link>
          </>
        )}
      </p>
    </li>
  )
}
