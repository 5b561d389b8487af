import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { ArrowLeft, PanelRight } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { type Thread, threadQuery } from '../../api/conversation-queries.ts'
import { errorMessage } from '../../api/http.ts'
import { useShortcuts } from '../../shell/shortcuts.ts'
import { Button, buttonClass, KeyCap } from '../../ui/button.tsx'
import { clientName } from '../../ui/client-name.ts'
import { MutationButton } from '../../ui/mutation-button.tsx'
import { ErrorMessage, Placeholder } from '../../ui/page-states.tsx'
import { RequireRole, useHasRole } from '../../ui/role.tsx'
import { showToast } from '../../ui/toast.tsx'
import { RunAgainButton } from '../tasks/run-again-button.tsx'
import { Composer } from './composer.tsx'
import { MessageList } from './message-list.tsx'
import { SidePanel } from './side-panel.tsx'
import { conversationsText } from './text.ts'
import { useChangeThread, useStartWaiting } from './use-change-thread.ts'

const route = getRouteApi('/shell/conversations/$threadId')

/** One conversation: the messages, the drafts of the agent, the field for an answer, and the facts beside them. */
export function ConversationPage() {
  const { threadId } = route.useParams()
  const { data: thread, error } = useQuery(threadQuery(threadId))
  if (!thread) {
    return (
      <div className="p-4">
        {error ? <ErrorMessage message={errorMessage(error)} /> : <Placeholder className="h-96" />}
      </div>
    )
  }
  return <Conversation key={thread.id} thread={thread} />
}

function Conversation({ thread }: { thread: Thread }) {
  const [showsDetails, setShowsDetails] = useState(false)
  const canWrite = useHasRole()('operator')
  useMarkRead(thread, canWrite)
  return (
    <div className="flex h-full">
      <section aria-label={conversationTitle(thread)} className="flex min-w-0 grow flex-col">
        {/* The list, which has the heading of the page, is hidden on a phone. */}
        <h1 className="sr-only lg:hidden">{conversationsText.title}</h1>
        <ConversationHeader
          thread={thread}
          showsDetails={showsDetails}
          onDetails={() => setShowsDetails(!showsDetails)}
        />
        {showsDetails && (
          <div className="min-h-0 grow overflow-y-auto xl:hidden">
            <SidePanel thread={thread} />
          </div>
        )}
        <div className={`flex min-h-0 grow flex-col ${showsDetails ? 'max-xl:hidden' : ''}`}>
          <StateBanner thread={thread} />
          <MessageList thread={thread} />
          <RequireRole minRole="operator">
            <Composer thread={thread} />
          </RequireRole>
        </div>
      </section>
      <div className="w-76 shrink-0 overflow-y-auto border-l border-line bg-surface max-xl:hidden">
        <SidePanel thread={thread} />
      </div>
    </div>
  )
}

/** Messages are read when they are on the screen of somebody who can answer them. */
function useMarkRead({ id, unread, message_count }: Thread, canWrite: boolean): void {
  const change = useChangeThread(id)
  const done = useRef(0)
  useEffect(() => {
    if (!canWrite || unread === 0 || done.current === message_count || document.hidden) return
    done.current = message_count
    change.mutate({ read: true })
  }, [canWrite, unread, message_count, change])
}

const TITLE_CHARACTERS = 60

/** The subject; a chat has none, so it has the first words of its first message. */
function conversationTitle({ subject, messages }: Thread): string {
  const words = messages.find(({ body }) => body.trim() !== '')?.body.trim() ?? conversationsText.noSubject
  return subject || (words.length > TITLE_CHARACTERS ? `${words.slice(0, TITLE_CHARACTERS)}…` : words)
}

function ConversationHeader({
  thread,
  showsDetails,
  onDetails,
}: {
  thread: Thread
  showsDetails: boolean
  onDetails: () => void
}) {
  const { client_name, channel } = thread
  return (
    <header className="flex flex-wrap items-center gap-x-3 gap-y-2 border-b border-line bg-surface px-4 py-2.5">
      <Link
        to="/conversations"
        search={(old) => old}
        aria-label={conversationsText.back}
        className={`${buttonClass('ghost', true)} lg:hidden`}
      >
        <ArrowLeft size={16} aria-hidden />
      </Link>
      <div className="min-w-0 grow basis-40">
        <h2 className="truncate text-base font-semibold">{conversationTitle(thread)}</h2>
        <p className="truncate text-muted">{[clientName(client_name), channel?.address].filter(Boolean).join(' · ')}</p>
      </div>
      <div className="flex flex-wrap items-center gap-2">
        <RequireRole minRole="operator">
          <ConversationActions thread={thread} />
        </RequireRole>
        <Button
          small
          variant="ghost"
          className="xl:hidden"
          aria-label={conversationsText.side.details}
          aria-pressed={showsDetails}
          onClick={onDetails}
          icon={<PanelRight size={16} />}
        />
      </div>
    </header>
  )
}

function ConversationActions({ thread: { id, status, held_by } }: { thread: Thread }) {
  const change = useChangeThread(id)
  const toggleHold = () => change.mutate({ held_by: held_by ? null : 'me' })
  useShortcuts({ t: toggleHold })
  return (
    <>
      <MutationButton
        small
        title={conversationsText.takeOverHint}
        mutation={{ isPending: change.isPending, mutate: toggleHold }}
      >
        {held_by ? conversationsText.giveBack : conversationsText.takeOver} <KeyCap>t</KeyCap>
      </MutationButton>
      <MutationButton
        small
        mutation={{
          isPending: change.isPending,
          mutate: () => change.mutate({ status: status === 'open' ? 'closed' : 'open' }),
        }}
      >
        {status === 'open' ? conversationsText.close : conversationsText.reopen}
      </MutationButton>
    </>
  )
}

/** The messages of a thread with such a reason have started no task. */
const WAITING_REASONS = ['held', 'too_many_messages', 'too_many_from_domain', 'too_many_unproved']

/** Why the agent does not answer, and what a person can do about it. */
function StateBanner({ thread: { id, held_by, unanswered } }: { thread: Thread }) {
  const change = useChangeThread(id)
  const start = useStartWaiting(id)
  return (
    <>
      {held_by && (
        <p className="border-b border-line bg-accent-soft px-4 py-2 text-accent">
          {conversationsText.held(held_by.name ?? conversationsText.aPerson)}
        </p>
      )}
      {unanswered && (
        <div className="flex flex-wrap items-center gap-2 border-b border-line bg-wait-soft px-4 py-2 text-wait">
          <span role="status">
            {conversationsText.unanswered[unanswered.reason] ?? conversationsText.unansweredOther}
          </span>
          <RequireRole minRole="operator">
            <span className="ml-auto flex gap-2">
              {unanswered.task_id && (
                <RunAgainButton
                  small
                  taskId={unanswered.task_id}
                  onStarted={() => {
                    showToast(conversationsText.started)
                    // The new run answers. If it fails too, the service marks the conversation again.
                    change.mutate({ unanswered: false })
                  }}
                />
              )}
              {!held_by && WAITING_REASONS.includes(unanswered.reason) && (
                <MutationButton small mutation={start}>
                  {conversationsText.startTask}
                </MutationButton>
              )}
              <MutationButton
                small
                mutation={{ isPending: change.isPending, mutate: () => change.mutate({ unanswered: false }) }}
              >
                {conversationsText.dismiss}
              </MutationButton>
            </span>
          </RequireRole>
        </div>
      )}
    </>
  )
}
