import { Pencil, Undo2, X } from 'lucide-react'
import { useState } from 'react'
import { toObject, toText } from '../../api/json.ts'
import type { Approval, JsonObject } from '../../api/types.ts'
import { useShortcuts } from '../../shell/shortcuts.ts'
import { Button, KeyCap } from '../../ui/button.tsx'
import { editedPayload } from '../approvals/approval-summary.ts'
import { Countdown } from '../approvals/countdown.tsx'
import { ApproveButton } from '../approvals/decision-form.tsx'
import { SessionHeldRow } from '../approvals/held-decision-list.tsx'
import { forgetEdit, keepEdit, keptEdit } from '../approvals/kept-edits.ts'
import { useKeepText } from '../approvals/kept-texts.ts'
import { RejectForm, ReviseForm } from '../approvals/note-form.tsx'
import { RequireApprover } from '../approvals/require-approver.tsx'
import { type Decision, useDecision } from '../approvals/use-decision.ts'
import { conversationsText } from './text.ts'

/** `text` is the field of every channel; a workflow of a wedge that publishes a reply has `reply`. */
const TEXT_FIELDS = ['text', 'reply']

/** The field with the text of a reply to the client; undefined if the approval is for something else. */
export function replyField({ action, path, preview }: Approval): string | undefined {
  if (path === 'question' || !/(?:^|[:_])reply$/.test(action)) return undefined
  return TEXT_FIELDS.find((field) => typeof toObject(preview)[field] === 'string')
}

/** The agent's draft of an answer, in the place where the answer will be. */
export function DraftBubble({
  approval,
  field,
  answeredBy,
}: {
  approval: Approval
  field: string
  /** The member who has answered since; null: the draft is up to date. */
  answeredBy: string | null
}) {
  const proposed = toText(editedPayload({ ...approval, held: null })[field])
  const typed = keptEdit(approval)
  const [mode, setMode] = useState<DraftMode>(typed ? 'edit' : 'view')
  const [text, setText] = useState(toText(typed?.[field] ?? proposed))
  const { held } = approval
  const edit = (to: string) => (keepEdit(approval, to === proposed ? {} : { [field]: to }), setText(to))
  useKeepText(approval, 'edit', mode === 'edit' && text !== proposed ? text : null)
  return (
    <article
      aria-label={conversationsText.draft}
      className="flex w-full max-w-[85%] flex-col gap-2 self-end rounded-lg border-2 border-dashed border-accent bg-accent-soft p-3"
    >
      <header className="flex items-center gap-2 text-xs text-muted">
        <span className="font-medium whitespace-nowrap text-accent">{conversationsText.draft}</span>
        <span className="ml-auto">
          <Countdown approval={approval} />
        </span>
      </header>
      {answeredBy !== null && (
        <p role="status" className="rounded-md bg-wait-soft px-2 py-1 text-wait">
          {conversationsText.outdated(answeredBy)}
        </p>
      )}
      {mode === 'edit' && !held ? (
        <textarea
          autoFocus
          aria-label={conversationsText.draftText}
          rows={Math.min(14, 2 + text.split('\n').length + Math.floor(text.length / 80))}
          className="field"
          value={text}
          onChange={(event) => edit(event.target.value)}
        />
      ) : (
        <p className="break-words whitespace-pre-wrap">{held ? toText(editedPayload(approval)[field]) : text}</p>
      )}
      {held ? (
        <SessionHeldRow approval={approval} held={held} />
      ) : (
        <RequireApprover approval={approval}>
          <DraftDecision
            approval={approval}
            mode={mode}
            edited={text === proposed ? null : { [field]: text }}
            onMode={setMode}
            onDiscard={() => (forgetEdit(approval), setText(proposed), setMode('view'))}
          />
        </RequireApprover>
      )}
    </article>
  )
}

type DraftMode = 'view' | 'edit' | 'revise' | 'reject'

/** Approve, edit, revise and reject, with the keys of the approvals page. */
function DraftDecision({
  approval,
  mode,
  edited,
  onMode,
  onDiscard,
}: {
  approval: Approval
  mode: DraftMode
  /** The changed text in its field; null if it is the proposed one. */
  edited: JsonObject | null
  onMode: (mode: DraftMode) => void
  onDiscard: () => void
}) {
  const [asking, setAsking] = useState(false)
  const canEdit = approval.allowed_decisions.includes('edit')
  const { decide, isPending } = useDecision(approval, () => {})
  const approve = () => decide({ to: 'approve', body: edited === null ? {} : { edited } })
  useShortcuts({
    a: ({ repeat }) => !repeat && (mode === 'view' || mode === 'edit') && (asking ? approve() : setAsking(true)),
    e: () => canEdit && onMode('edit'),
    v: () => onMode('revise'),
    r: () => onMode('reject'),
    Escape: () => (asking ? setAsking(false) : onDiscard()),
  })
  if (mode === 'revise' || mode === 'reject') {
    return (
      <DraftNoteForm approval={approval} mode={mode} busy={isPending} decide={decide} onBack={() => onMode('view')} />
    )
  }
  return (
    <div className="flex flex-wrap items-center gap-2">
      <ApproveButton
        asking={asking}
        label={edited === null ? conversationsText.approve : conversationsText.approveEdited}
        busy={isPending || Object.values(edited ?? {}).includes('')}
        onAsk={() => setAsking(true)}
        onApprove={approve}
      />
      {mode === 'edit' ? (
        <Button variant="ghost" onClick={onDiscard}>
          {conversationsText.discard}
        </Button>
      ) : (
        canEdit && (
          <Button onClick={() => onMode('edit')} icon={<Pencil size={14} />}>
            {conversationsText.edit} <KeyCap>e</KeyCap>
          </Button>
        )
      )}
      <Button onClick={() => onMode('revise')} icon={<Undo2 size={14} />}>
        {conversationsText.revise} <KeyCap>v</KeyCap>
      </Button>
      <Button variant="danger" onClick={() => onMode('reject')} icon={<X size={14} />}>
        {conversationsText.rejectDraft} <KeyCap>r</KeyCap>
      </Button>
      <p className="w-full text-xs text-muted">{conversationsText.draftHint}</p>
    </div>
  )
}

/** Asks what the agent has to change, or why the draft is discarded. */
function DraftNoteForm({
  approval,
  mode,
  busy,
  decide,
  onBack,
}: {
  approval: Approval
  mode: 'revise' | 'reject'
  busy: boolean
  decide: (decision: Decision) => void
  onBack: () => void
}) {
  if (mode === 'revise') {
    return (
      <ReviseForm
        approval={approval}
        busy={busy}
        onRevise={(note) => decide({ to: 'revise', body: { note } })}
        onBack={onBack}
      />
    )
  }
  return (
    <RejectForm
      approval={approval}
      submitLabel={conversationsText.rejectDraft}
      busy={busy}
      onReject={(reason) => decide({ to: 'reject', body: reason === '' ? {} : { reason } })}
      onBack={onBack}
    />
  )
}
