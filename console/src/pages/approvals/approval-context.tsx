import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { caseQuery } from '../../api/case-queries.ts'
import type { Approval } from '../../api/types.ts'
import { clientName } from '../../ui/client-name.ts'
import { uiText } from '../../ui/text.ts'
import { TimeAgo } from '../../ui/time.tsx'
import { caseName } from '../cases/case-name.ts'
import { actorName } from './actor-name.ts'
import { approvalsText } from './text.ts'

const text = approvalsText.context

type Context = Approval['context']

/** What the request answers: the customer's message, the conversation, the case, and who started the task. */
export function ApprovalContext({ context }: { context: Context }) {
  return (
    <>
      {context.message && <CustomerMessage message={context.message} client={context.client} />}
      <ContextFacts context={context} />
    </>
  )
}

export function CustomerMessage({
  message: { body, at, from, unverified },
  client,
}: {
  message: NonNullable<Context['message']>
  client: Context['client']
}) {
  const name = senderName({ from }, client)
  return (
    <figure className="flex flex-col gap-1">
      <figcaption className="text-xs text-muted">
        <span className="font-medium text-text">{text.wrote(name)}</span> · <TimeAgo ts={at} />
        {unverified && ` · ${uiText.unverified}`}
      </figcaption>
      <blockquote
        tabIndex={0}
        aria-label={text.message}
        className="max-h-44 overflow-y-auto rounded-lg rounded-tl-none border border-line bg-bg px-3.5 py-2 break-words whitespace-pre-wrap"
      >
        {body}
      </blockquote>
    </figure>
  )
}

const senderName = ({ from }: Pick<NonNullable<Context['message']>, 'from'>, client: Context['client']): string =>
  from || client?.name ? clientName(from?.name || client?.name || from?.handle) : text.customer

/** Who started the task; a task that a channel started was started by a message. */
export function starterName({ requested_by, message, client }: Context): string | null {
  const isChannel = requested_by?.kind === 'system' || requested_by?.kind === 'client'
  if (message && isChannel) return text.messageOf(senderName(message, client))
  return requested_by && actorName(requested_by)
}

function ContextFacts({ context }: { context: Context }) {
  const { client, thread_id, case_id } = context
  const starter = starterName(context)
  if (!client && !thread_id && !case_id && !starter) return null
  return (
    <ul aria-label={text.facts} className="flex flex-wrap gap-x-5 gap-y-1 text-xs">
      {client && (
        <Fact label={text.client}>
          <Link to="/clients/$clientId" params={{ clientId: client.id }} className="text-accent underline">
            {clientName(client.name)}
          </Link>
        </Fact>
      )}
      {thread_id && (
        <Fact label={text.conversation}>
          <Link to="/conversations/$threadId" params={{ threadId: thread_id }} className="text-accent underline">
            {text.openConversation}
          </Link>
        </Fact>
      )}
      {case_id && (
        <Fact label={text.case}>
          <CaseLink caseId={case_id} />
        </Fact>
      )}
      {starter && <Fact label={text.startedBy}>{starter}</Fact>}
    </ul>
  )
}

export function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <li>
      <span className="text-muted">{label}:</span> {children}
    </li>
  )
}

function CaseLink({ caseId }: { caseId: string }) {
  const { data } = useQuery(caseQuery(caseId))
  return (
    <Link to="/cases/$caseId" params={{ caseId }} className="text-accent underline">
      {data ? caseName(data) : text.openCase}
    </Link>
  )
}
