import { Link } from '@tanstack/react-router'
import {
  CalendarClock,
  CircleHelp,
  ClockAlert,
  Inbox,
  KeyRound,
  type LucideIcon,
  Mailbox,
  MessageCircleWarning,
  MessageSquareText,
  Plug,
} from 'lucide-react'
import { useState } from 'react'
import { toTaskListItem, type NeedsYouItem } from '../../api/queries.ts'
import { toObject, toText } from '../../api/json.ts'
import { AnimatedList } from '../../ui/animated-list.tsx'
import { Button } from '../../ui/button.tsx'
import { clientName } from '../../ui/client-name.ts'
import { humanize } from '../../ui/humanize.ts'
import { RequireRole } from '../../ui/role.tsx'
import { TimeAgo } from '../../ui/time.tsx'
import { showToast } from '../../ui/toast.tsx'
import { approvalSummary } from '../approvals/approval-summary.ts'
import { Countdown } from '../approvals/countdown.tsx'
import { channelKinds } from '../channels/adapter-text.ts'
import { replyField } from '../conversations/draft-bubble.tsx'
import { RunAgainButton } from '../tasks/run-again-button.tsx'
import { tasksText } from '../tasks/text.ts'
import { homeText } from './text.ts'

type ApprovalThread = NonNullable<NeedsYouItem['thread']>

const text = homeText.needsYou

/** The rows that fit into the list on a phone and on a wide screen. */
const PHONE_ROWS = 5
const WIDE_ROWS = 12

/** Everything that waits for a person. Its height is fixed, so that new items do not move the page, until all are shown. */
export function NeedsYouList({ items, total }: { items: NeedsYouItem[]; total: number }) {
  const [showsAll, setShowsAll] = useState(false)
  return (
    <>
      <NeedsYouRows items={items} showsAll={showsAll} />
      {items.length > PHONE_ROWS && (
        <Button
          small
          variant="ghost"
          className={`m-2 ${items.length > WIDE_ROWS ? '' : 'lg:hidden'}`}
          aria-expanded={showsAll}
          onClick={() => setShowsAll(!showsAll)}
        >
          {showsAll ? text.showFewer : text.showAll(items.length, total)}
        </Button>
      )}
    </>
  )
}

function NeedsYouRows({ items, showsAll }: { items: NeedsYouItem[]; showsAll: boolean }) {
  return (
    <div className={showsAll ? '' : 'h-55 overflow-y-auto lg:h-132'} tabIndex={0} role="region" aria-label={text.title}>
      {items.length === 0 && <p className="p-4 text-muted">{text.none}</p>}
      <AnimatedList>
        {items.map((item) => ({
          key: `${item.kind} ${item.project_id} ${item.id}`,
          className: 'flex h-11 items-center border-b border-line pr-4 hover:bg-hover',
          row: <NeedsYouRow item={item} />,
        }))}
      </AnimatedList>
    </div>
  )
}

const ICONS: Record<NeedsYouItem['kind'], LucideIcon> = {
  approval: Inbox,
  question: CircleHelp,
  conversation: MessageCircleWarning,
  expired_task: ClockAlert,
  lost_secrets: KeyRound,
  connection: Plug,
  channel: Mailbox,
  schedule: CalendarClock,
  intake: MessageSquareText,
}

function NeedsYouRow({ item }: { item: NeedsYouItem }) {
  const Icon = ICONS[item.kind]
  return (
    <>
      <Link {...targetOf(item)} className="flex h-full min-w-0 grow items-center gap-3 pl-4 -outline-offset-2">
        <Icon size={16} aria-label={text.kinds[item.kind]} className={`shrink-0 ${colourOf(item)}`} />
        <span className="min-w-0 truncate">
          <span className="font-medium">{titleOf(item)}</span> <span className="text-muted">{detailOf(item)}</span>
        </span>
      </Link>
      <span className="flex shrink-0 items-center gap-3 pl-3">
        {item.approval ? (
          <Countdown approval={item.approval} />
        ) : (
          <span className="text-xs text-muted max-sm:hidden">
            <TimeAgo ts={item.since} />
          </span>
        )}
        {item.kind === 'expired_task' && (
          <RequireRole minRole="operator">
            <RunAgainButton small taskId={item.id} onStarted={() => showToast(tasksText.expired.started)} />
          </RequireRole>
        )}
      </span>
    </>
  )
}

const FAILING: NeedsYouItem['kind'][] = ['lost_secrets', 'connection', 'channel', 'schedule']

const colourOf = ({ kind }: NeedsYouItem) =>
  FAILING.includes(kind) ? 'text-bad' : kind === 'intake' ? 'text-muted' : 'text-wait'

function targetOf({ kind, id, wedge, thread, approval }: NeedsYouItem) {
  if (thread && approval && replyField(approval) !== undefined)
    return { to: '/conversations/$threadId', params: { threadId: thread.id } } as const
  if (kind === 'approval' || kind === 'question') return { to: '/approvals', search: { id } } as const
  if (kind === 'conversation') return { to: '/conversations/$threadId', params: { threadId: id } } as const
  if (kind === 'expired_task') return { to: '/tasks/$taskId', params: { taskId: id } } as const
  if (kind === 'lost_secrets') return { to: '/connections' } as const
  if (kind === 'connection') return { to: '/connections/$connectionId', params: { connectionId: id } } as const
  if (kind === 'channel') return { to: '/channels' } as const
  if (kind === 'schedule') return { to: '/schedules' } as const
  return { to: '/wedges/$wedge', params: { wedge: wedge ?? '' }, search: { view: 'intake' } } as const
}

function titleOf({ kind, approval, title, thread }: NeedsYouItem): string {
  const draft = approval && replyField(approval)
  if (thread && draft !== null && draft !== undefined)
    return replyTitle(thread, toText(toObject(approval?.preview)[draft]))
  if (approval) return approvalSummary(approval)
  if (kind === 'expired_task') return humanize(title ?? '')
  return kind === 'conversation' ? clientName(title) : (title ?? '')
}

/** Such as "Reply to Kim (mail): Broken cup". A chat has no subject, so the draft is shown instead. */
function replyTitle({ client_name, adapter, subject }: ApprovalThread, draft: string): string {
  const kind = adapter && (channelKinds[adapter] ?? humanize(adapter))
  return text.reply(clientName(client_name), kind, subject || draft)
}

function detailOf({ kind, detail, task, approval }: NeedsYouItem): string {
  if (approval) return ''
  if (kind === 'conversation') return text.unanswered[detail ?? ''] ?? text.unanswered['other'] ?? ''
  if (kind === 'expired_task') return `${text.expired} · ${task ? toTaskListItem(task).summary : ''}`
  if (kind === 'schedule') return detail ?? text.lastRunFailed
  return detail ?? ''
}
