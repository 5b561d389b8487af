import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { ReadFile } from '../../api/file-queries.ts'
import type { ApprovalDetail } from '../../api/types.ts'
import { StatusBadge } from '../../ui/status.tsx'
import { uiText } from '../../ui/text.ts'
import { TimeAgo, TimeOfDay } from '../../ui/time.tsx'
import { FileList } from '../files/file-list.tsx'
import { actorName } from './actor-name.ts'
import { actionLabel, connectionName } from './approval-summary.ts'
import { approvalsText } from './text.ts'

const text = approvalsText.details

/** A part of the card that can be folded, with the number of its items. */
export function CardSection({
  title,
  count,
  isOpen = true,
  children,
}: {
  title: string
  count: number
  isOpen?: boolean
  children: ReactNode
}) {
  return (
    <details open={isOpen} className="border-t border-line px-5 py-3">
      <summary className="text-muted">
        <h3 className="inline font-medium">{text.counted(title, count)}</h3>
      </summary>
      <div className="mt-2">{children}</div>
    </details>
  )
}

/** The end of the conversation, oldest message first. The first message alone is on the card already. */
export function ThreadEnd({ messages }: { messages: ApprovalDetail['thread'] }) {
  if (messages.length < 2) return null
  return (
    <CardSection title={text.thread} count={messages.length}>
      <ol aria-label={text.thread} className="flex flex-col gap-2">
        {messages.map(({ id, direction, body, at, unverified, author }) => (
          <li key={id} className={`max-w-[85%] ${direction === 'outbound' ? 'self-end' : 'self-start'}`}>
            <p className="text-xs text-muted">
              {direction === 'inbound' ? text.customer : author ? actorName(author) : text.agent} · <TimeAgo ts={at} />
              {unverified && ` · ${uiText.unverified}`}
            </p>
            <p
              className={`rounded-lg px-3 py-1.5 break-words whitespace-pre-wrap ${direction === 'outbound' ? 'bg-accent-soft' : 'border border-line bg-bg'}`}
            >
              {body}
            </p>
          </li>
        ))}
      </ol>
    </CardSection>
  )
}

/** What the agent did before it asked. */
export function AgentSteps({ steps }: { steps: ApprovalDetail['steps'] }) {
  if (steps.length === 0) return null
  return (
    <CardSection title={text.steps} count={steps.length}>
      <ol aria-label={text.steps} className="flex flex-col gap-1">
        {steps.map((step, index) => (
          <li key={index} className="grid grid-cols-[5rem_1fr] gap-2 max-sm:grid-cols-1 max-sm:gap-0">
            <TimeOfDay ts={step.at} className="text-xs/5 text-muted tabular-nums" />
            <StepText text={step.text} />
          </li>
        ))}
      </ol>
    </CardSection>
  )
}

/** A call is the name of the tool and its input as JSON; any other line is what the agent said. */
function StepText({ text: line }: { text: string }) {
  const [, tool, input] = /^([\w-]+(?: \(failed\))?) (\{.*)$/.exec(line) ?? []
  if (tool === undefined) return <span className="min-w-0 break-words">{line}</span>
  return (
    <span className="min-w-0">
      <code className="font-mono text-xs font-medium">{tool}</code>{' '}
      <code className="font-mono text-xs break-all text-muted">{input}</code>
    </span>
  )
}

/** Earlier decisions on the same action, newest first. */
export function EarlierDecisions({ detail, hasLinks = true }: { detail: ApprovalDetail; hasLinks?: boolean }) {
  const { history, action } = detail
  if (history.length === 0) return null
  return (
    <CardSection title={text.history} count={history.length}>
      <ul aria-label={text.history} className="flex flex-col gap-1.5">
        {history.map((past) => (
          <li key={past.approval_id} className="flex flex-wrap items-center gap-x-2 gap-y-0.5">
            <StatusBadge status={past.status} />
            <PastAction past={past} hasLink={hasLinks}>
              {past.text ?? actionLabel(action, connectionName(detail))}
            </PastAction>
            <span className="text-xs text-muted">
              {past.edited && `${text.edited} · `}
              {past.decided_by && `${text.by(actorName(past.decided_by))} · `}
              {past.decided_at && <TimeAgo ts={past.decided_at} />}
            </span>
            {past.reason && <span className="w-full text-xs break-words text-muted">“{past.reason}”</span>}
          </li>
        ))}
      </ul>
    </CardSection>
  )
}

/** The decision page has no links to pages that need a sign-in. */
function PastAction({
  past,
  hasLink,
  children,
}: {
  past: ApprovalDetail['history'][number]
  hasLink: boolean
  children: string
}) {
  if (!hasLink) return <span className="min-w-0 break-words">{children}</span>
  return (
    <Link
      to="/approvals"
      search={{ status: past.status, id: past.approval_id }}
      className="min-w-0 break-words text-accent underline"
    >
      {children}
    </Link>
  )
}

export function ApprovalFiles({ files, read }: { files: ApprovalDetail['files']; read?: ReadFile }) {
  if (files.length === 0) return null
  return (
    <CardSection title={text.files} count={files.length}>
      <FileList files={files} label={text.files} {...(read && { read })} />
    </CardSection>
  )
}
