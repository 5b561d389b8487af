import { useQueries } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useLayoutEffect, useRef } from 'react'
import type { Message, Thread } from '../../api/conversation-queries.ts'
import { toText } from '../../api/json.ts'
import { approvalQuery } from '../../api/queries.ts'
import type { Approval } from '../../api/types.ts'
import { clientName } from '../../ui/client-name.ts'
import { Tag } from '../../ui/status.tsx'
import { uiText } from '../../ui/text.ts'
import { TimeAgo } from '../../ui/time.tsx'
import { ApprovalCard } from '../approvals/approval-card.tsx'
import { isOnlyForClient } from '../approvals/may-decide.ts'
import { FileList } from '../files/file-list.tsx'
import { DraftBubble, replyField } from './draft-bubble.tsx'
import { conversationsText } from './text.ts'

/** How far from the end somebody may have scrolled and still follow new messages. */
const NEAR_END_PX = 120
const ACTIVE = ['queued', 'provisioning', 'running']

/** The messages, oldest first, and below them what the agent proposes. It follows new messages at the end. */
export function MessageList({ thread }: { thread: Thread }) {
  const { messages, pending, tasks } = thread
  const approvals = useQueries({ queries: pending.map((id) => approvalQuery(id)) }).flatMap(({ data }) =>
    data?.status === 'pending' ? [data] : [],
  )
  const isWorking = tasks.some(({ status }) => ACTIVE.includes(status))
  const scroller = useFollowEnd(`${messages.length} ${approvals.length} ${isWorking}`)
  return (
    <div
      ref={scroller}
      tabIndex={0}
      role="log"
      aria-label={conversationsText.messages}
      className="flex min-h-0 grow flex-col gap-4 overflow-y-auto p-4 -outline-offset-2"
    >
      <ol aria-label={conversationsText.messages} className="flex flex-col gap-4">
        {messages.map((message) => (
          <MessageBubble key={message.id} message={message} isShownOnly={isShownOnly(thread, message)} />
        ))}
      </ol>
      {approvals.map((approval) => (
        <PendingApproval key={approval.approval_id} approval={approval} thread={thread} />
      ))}
      {isWorking && <p className="self-end text-muted">{conversationsText.working}</p>}
    </div>
  )
}

function useFollowEnd(content: string) {
  const ref = useRef<HTMLDivElement>(null)
  const wasNearEnd = useRef(true)
  useLayoutEffect(() => {
    const element = ref.current
    if (!element) return undefined
    if (wasNearEnd.current) element.scrollTop = element.scrollHeight
    const onScroll = () => {
      wasNearEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_END_PX
    }
    element.addEventListener('scroll', onScroll)
    return () => element.removeEventListener('scroll', onScroll)
  }, [content])
  return ref
}

function PendingApproval({ approval, thread }: { approval: Approval; thread: Thread }) {
  const field = replyField(approval)
  if (field !== undefined && !isOnlyForClient(approval)) {
    const answeredBy = findLaterAnswer(thread, approval)
    return <DraftBubble key={approval.payload_sha256} approval={approval} field={field} answeredBy={answeredBy} />
  }
  return <ApprovalCard approval={approval} onDecided={() => {}} omits="conversation" />
}

/** The member who has answered since the draft was written. */
function findLaterAnswer({ messages }: Thread, { created_at }: Approval): string | null {
  const answer = messages.findLast((message) => message.author !== null && message.created_at > created_at)
  return answer ? (answer.author?.name ?? conversationsText.teamMember) : null
}

/** A notice that the channel does not send, so that clients read it in the portal or not at all. */
const isShownOnly = ({ channel }: Thread, { direction, is_automatic }: Message): boolean =>
  direction === 'outbound' && is_automatic && channel?.adapter !== 'widget'

function MessageBubble({ message, isShownOnly }: { message: Message; isShownOnly: boolean }) {
  const { direction, body, files, task_id, created_at, is_automatic, unverified } = message
  const isInbound = direction === 'inbound'
  return (
    <li className={`flex max-w-[85%] flex-col gap-1 ${isInbound ? 'self-start' : 'items-end self-end'}`}>
      <p className="text-xs text-muted">
        <span className="font-medium text-text">{authorOf(message)}</span> · <TimeAgo ts={created_at} />
        {is_automatic && isInbound && ` · ${conversationsText.automatic}`}
        {unverified && (
          <>
            {' '}
            <Tag tone="bad">{uiText.unverified}</Tag>
          </>
        )}
        {isShownOnly && ` · ${conversationsText.portalOnlyNotice}`}
      </p>
      {body !== '' && (
        <p
          className={`rounded-lg px-3.5 py-2 break-words whitespace-pre-wrap ${isInbound ? 'border border-line bg-surface' : 'bg-accent-soft'}`}
        >
          {body}
        </p>
      )}
      {files.length > 0 && <FileList files={files} />}
      <MessageFooter message={message} />
      {task_id && !isInbound && (
        <Link to="/tasks/$taskId" params={{ taskId: task_id }} className="text-xs text-accent underline">
          {conversationsText.viewTask}
        </Link>
      )}
    </li>
  )
}

/** Whether the message was delivered, and whether its sender is proved. */
function MessageFooter({ message }: { message: Message }) {
  return (
    <>
      <SenderCheck message={message} />
      <DeliveryState message={message} />
    </>
  )
}

function SenderCheck({ message: { from, sent_by, unverified, verdict } }: { message: Message }) {
  const results = verdict && Object.entries(verdict).map(([name, result]) => `${name} ${toText(result)}`)
  const facts = [
    unverified && conversationsText.unverifiedHint,
    sent_by && conversationsText.sentBy(from?.handle ?? conversationsText.client, sent_by),
    results && conversationsText.sender(results.join(', ')),
  ].filter(Boolean)
  return facts.length > 0 && <p className="text-xs text-muted">{facts.join(' ')}</p>
}

function DeliveryState({ message: { delivery, delivery_error } }: { message: Message }) {
  if (!delivery) return null
  const isBad = delivery === 'failed' || delivery === 'unknown'
  return (
    <p className={`text-xs ${isBad ? 'text-bad' : 'text-muted'}`}>
      {conversationsText.delivery[delivery]}
      {delivery_error && `: ${delivery_error}`}
    </p>
  )
}

function authorOf({ direction, from, author, to, task_id, is_automatic }: Message): string {
  if (direction === 'inbound') return clientName(from?.name || from?.handle || conversationsText.client)
  if (is_automatic) return conversationsText.notice
  const writer = author ? (author.name ?? conversationsText.teamMember) : task_id ? conversationsText.agent : null
  return [writer ?? conversationsText.teamMember, to && conversationsText.toOthers(to)].filter(Boolean).join(' ')
}
