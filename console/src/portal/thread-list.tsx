import { isTitleOf } from '../api/repeated-text.ts'
import { humanize } from '../ui/humanize.ts'
import { usePortalText, useTimeFormat } from './language.tsx'
import type { PortalCase, PortalThread } from './portal-api.ts'
import type { PortalText } from '../../../client-text/en.ts'

/** The conversations of the client, newest activity first. */
export function ThreadList({
  threads,
  openId,
  onOpen,
}: {
  threads: PortalThread[]
  openId: string | null
  onOpen: (id: string) => void
}) {
  const text = usePortalText()
  if (threads.length === 0) return <p className="text-muted">{text.noConversations}</p>
  return (
    <ul aria-label={text.conversations} className="flex flex-col gap-1">
      {threads.map((thread) => (
        <li key={thread.id}>
          <button
            type="button"
            aria-current={thread.id === openId}
            onClick={() => onOpen(thread.id)}
            className="flex w-full flex-col gap-0.5 rounded-lg px-3 py-2.5 text-left hover:bg-hover aria-current:bg-accent-soft"
          >
            <ThreadTitle thread={thread} />
            <ThreadPreview thread={thread} />
          </button>
        </li>
      ))}
    </ul>
  )
}

function ThreadTitle({ thread }: { thread: PortalThread }) {
  const { subject, unread, updated_at } = thread
  const text = usePortalText()
  const times = useTimeFormat()
  return (
    <span className="flex items-center gap-2">
      {unread && <span role="img" aria-label={text.unread} className="size-2 shrink-0 rounded-full bg-accent" />}
      <span className={`min-w-0 flex-1 truncate ${unread ? 'font-semibold' : 'font-medium'}`}>
        {(isTitleRepeated(thread) ? thread.last_message?.body : subject) || text.conversation}
      </span>
      <time dateTime={updated_at} title={times.long(updated_at)} className="text-xs whitespace-nowrap text-muted">
        {times.short(updated_at)}
      </time>
    </span>
  )
}

/** Then the message is the title, and is not shown again. */
const isTitleRepeated = ({ subject, last_message }: PortalThread): boolean =>
  last_message?.direction === 'inbound' && isTitleOf(subject ?? '', last_message.body)

function ThreadPreview({ thread }: { thread: PortalThread }) {
  const { last_message, status } = thread
  const text = usePortalText()
  const lead = last_message?.direction === 'inbound' ? `${text.you}: ` : ''
  return (
    <span className="flex items-center gap-2 text-sm text-muted">
      <span className="min-w-0 flex-1 truncate">
        {last_message && !isTitleRepeated(thread) ? lead + last_message.body : ' '}
      </span>
      {status === 'closed' && <span className="rounded bg-off-soft px-1.5 text-xs">{text.status['closed']}</span>}
    </span>
  )
}

/** A stage in the words of the wedge; common ones are translated. */
function stageName(stage: string, text: PortalText): string {
  const words = stage.toLowerCase().replaceAll(/[\s_-]+/g, ' ')
  return Object.hasOwn(text.stages, words) ? (text.stages[words] ?? '') : humanize(stage)
}

export function CaseList({ cases }: { cases: PortalCase[] }) {
  const text = usePortalText()
  const times = useTimeFormat()
  if (cases.length === 0) return null
  return (
    <section className="flex flex-col gap-2">
      <h2 className="px-3 font-semibold">{text.cases}</h2>
      <ul className="divide-y divide-line">
        {cases.map(({ id, title, stage, status, updated_at }) => (
          <li key={id} className="flex items-center gap-3 px-3 py-2.5">
            <span className="min-w-0 flex-1 truncate font-medium">{title || text.case}</span>
            <span className="rounded bg-off-soft px-1.5 text-xs text-muted">
              {status === 'closed' ? text.status['closed'] : stageName(stage, text)}
            </span>
            <time dateTime={updated_at} title={times.long(updated_at)} className="text-xs whitespace-nowrap text-muted">
              {times.short(updated_at)}
            </time>
          </li>
        ))}
      </ul>
    </section>
  )
}
