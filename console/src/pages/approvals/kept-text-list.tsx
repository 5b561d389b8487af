import { useQuery } from '@tanstack/react-query'
import { X } from 'lucide-react'
import { approvalQuery, sessionQuery } from '../../api/queries.ts'
import type { Approval, Session } from '../../api/types.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { actorName } from './actor-name.ts'
import { forgetText, type KeptText, useKeptTexts } from './kept-texts.ts'
import { isReader } from './may-decide.ts'
import { approvalsText } from './text.ts'

const text = approvalsText.kept

/** What the reader was typing about approvals that another person has decided meanwhile. Every page shows it. */
export function KeptTextList() {
  return useKeptTexts().map((kept) => <CheckedText key={kept.key} kept={kept} />)
}

function CheckedText({ kept }: { kept: KeptText }) {
  const query = { ...approvalQuery(kept.approvalId), refetchOnMount: 'always', staleTime: 0 } as const
  const { data, isFetchedAfterMount } = useQuery(query)
  const { data: session } = useQuery(sessionQuery)
  const reason = data && isFetchedAfterMount ? whyGone(data, kept, session) : null
  return reason ? <KeptTextNotice kept={kept} title={reason} /> : null
}

/** Why the text was not sent, in words; null if the reader has only left the form, which has the text when it opens again. */
function whyGone(
  { status, revise, held, decided_by, payload_sha256 }: Approval,
  { kind, payloadSha256 }: KeptText,
  session: Session | undefined,
): string | null {
  if (kind === 'comment') return status === 'pending' && !held ? null : text.comment
  if (status === 'expired') return text.expired
  if (status !== 'pending') {
    const name = decided_by ? actorName(decided_by) : null
    if (name === null || decided_by?.kind === 'system') return text.ended
    return status === 'approved' ? text.approved(name) : revise ? text.sentBack(name) : text.rejected(name)
  }
  if (held) return session && isReader(held.by, session) ? null : text.approved(actorName(held.by))
  return payload_sha256 === payloadSha256 ? null : text.changed
}

/** A text that was not sent, with a button that copies it. */
export function KeptTextNotice({ kept, title }: { kept: KeptText; title: string }) {
  return (
    <section
      role="alert"
      aria-label={title}
      className="panel fixed right-4 bottom-4 z-40 flex max-w-md flex-col gap-2 border-wait p-4 shadow-lg max-sm:left-4"
    >
      <div className="flex items-start gap-2">
        <h2 className="grow font-medium">{title}</h2>
        <Button
          small
          variant="ghost"
          aria-label={text.dismiss}
          onClick={() => forgetText(kept.key)}
          icon={<X size={14} />}
        />
      </div>
      <p className="text-muted">{text.notSent}</p>
      <p className="max-h-40 overflow-y-auto rounded-md border border-line p-2 break-words whitespace-pre-wrap">
        {kept.text}
      </p>
      <div>
        <CopyButton text={() => kept.text} label={text.copy} />
      </div>
    </section>
  )
}
