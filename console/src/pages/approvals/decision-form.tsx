import { Check, Pencil, Undo2, X } from 'lucide-react'
import { type MouseEvent, useEffect, useRef, useState } from 'react'
import { toText } from '../../api/json.ts'
import type { Approval, JsonObject } from '../../api/types.ts'
import { useShortcuts } from '../../shell/shortcuts.ts'
import { Button, KeyCap } from '../../ui/button.tsx'
import { editedPayload } from './approval-summary.ts'
import { forgetEdit, keepEdit, keptEdit } from './kept-edits.ts'
import { useKeepText } from './kept-texts.ts'
import { RejectForm, ReviseForm } from './note-form.tsx'
import { changedValues } from './payload-diff.ts'
import { PayloadEditor } from './payload-editor.tsx'
import { PayloadView } from './payload-view.tsx'
import { uiText } from '../../ui/text.ts'
import { approvalsText } from './text.ts'
import type { Decision, SendDecision } from './use-decision.ts'

const text = approvalsText.decision

type DecisionMode = 'view' | 'edit' | 'revise' | 'reject'

/**
 * Approves, edits, sends back or rejects. A decision takes two keys or two clicks, so that one slip has no effect: the
 * first `a` or click makes the button ask, the second approves; `r` asks for a reason and Enter rejects.
 */
export function DecisionForm({
  approval,
  schema,
  send: { decide, isPending, hasVoted },
}: {
  approval: Approval
  /** The JSON Schema of the payload; null if it is not known. */
  schema: JsonObject | null
  send: SendDecision
}) {
  const [mode, setMode] = useState<DecisionMode>(keptEdit(approval) ? 'edit' : 'view')
  const [asking, setAsking] = useState(false)
  const form = useRef<HTMLFormElement>(null)
  const edit = usePayloadEdit(approval)
  const changes = mode === 'edit' ? edit.changes : 0
  useKeepText(approval, 'edit', changes > 0 ? edit.typed : null)
  const canApprove = !hasVoted || changes > 0
  const approve = () => decide({ to: 'approve', body: changes > 0 ? { edited: edit.body } : {} })
  // Text that is not valid JSON is not part of the edit, so nothing is approved while there is some.
  const ask = () => form.current?.reportValidity() !== false && setAsking(true)
  const show = (to: DecisionMode) => (setMode(to), setAsking(false))
  useShortcuts({
    // A key that is held down is one press.
    a: ({ repeat }) => !repeat && (mode === 'view' || mode === 'edit') && canApprove && (asking ? approve() : ask()),
    e: () => edit.isAllowed && show('edit'),
    v: () => show('revise'),
    r: () => show('reject'),
    Escape: () => (asking ? setAsking(false) : show('view')),
  })
  if (mode === 'revise' || mode === 'reject')
    return (
      <div className="flex flex-col gap-3">
        <PayloadView approval={approval} />
        <RefusalForm approval={approval} mode={mode} busy={isPending} onDecide={decide} onBack={() => show('view')} />
      </div>
    )
  return (
    <div className="flex flex-col gap-3">
      {mode === 'edit' ? (
        <form ref={form} aria-label={text.edit} onSubmit={(event) => event.preventDefault()}>
          <PayloadEditor {...edit} schema={schema} onChange={(to) => (edit.set(to), setAsking(false))} />
        </form>
      ) : (
        <PayloadView approval={approval} />
      )}
      <div className="sticky bottom-0 -mx-5 flex flex-wrap items-center gap-2 bg-surface px-5 py-2">
        {canApprove && (
          <ApproveButton
            asking={asking}
            label={changes > 0 ? text.approveWithChanges(changes) : text.approve}
            busy={isPending}
            onAsk={ask}
            onApprove={approve}
          />
        )}
        {mode === 'edit' && <DiscardButton onDiscard={() => (show('view'), edit.discard())} />}
        {mode === 'view' && edit.isAllowed && <EditButton onEdit={() => show('edit')} />}
        <RefuseButtons onRevise={() => show('revise')} onReject={() => show('reject')} />
      </div>
      <DecisionHints hasVoted={!canApprove} canEdit={edit.isAllowed} />
    </div>
  )
}

function DecisionHints({ hasVoted: voted, canEdit }: { hasVoted: boolean; canEdit: boolean }) {
  return (
    <>
      {voted && <p className="text-xs text-muted">{text.youApproved}</p>}
      {!canEdit && <p className="text-xs text-muted">{text.cannotEdit}</p>}
    </>
  )
}

/** The edit of a payload. If several people must approve, the first of them may have edited it already. */
function usePayloadEdit(approval: Approval) {
  const payload = editedPayload(approval)
  const [edited, setEdited] = useState<JsonObject>({ ...payload, ...keptEdit(approval) })
  const change = changedValues(payload, edited)
  return {
    isAllowed: approval.allowed_decisions.includes('edit'),
    payload,
    amount: approval.amount,
    edited,
    set: (to: JsonObject) => (keepEdit(approval, changedValues(payload, to)), setEdited(to)),
    discard: () => (forgetEdit(approval), setEdited(payload)),
    changes: Object.keys(change).length,
    /** The new values, to copy. */
    typed: Object.values(change).map(toText).join('\n\n'),
    /** All fields that differ from the proposed payload. */
    body: { ...approval.edited, ...change },
  }
}

function RefusalForm({
  approval,
  mode,
  busy,
  onDecide,
  onBack,
}: {
  approval: Approval
  mode: 'revise' | 'reject'
  busy: boolean
  onDecide: (decision: Decision) => void
  onBack: () => void
}) {
  if (mode === 'revise') {
    const revise = (note: string) => onDecide({ to: 'revise', body: { note } })
    return <ReviseForm approval={approval} busy={busy} onRevise={revise} onBack={onBack} />
  }
  const reject = (reason: string) => onDecide({ to: 'reject', body: reason ? { reason } : {} })
  return (
    <RejectForm approval={approval} submitLabel={text.rejectAndEnd} busy={busy} onReject={reject} onBack={onBack} />
  )
}

function DiscardButton({ onDiscard }: { onDiscard: () => void }) {
  return (
    <Button variant="ghost" onClick={onDiscard}>
      {text.discardEdits} <KeyCap>{uiText.escapeKey}</KeyCap>
    </Button>
  )
}

function EditButton({ onEdit }: { onEdit: () => void }) {
  return (
    <Button onClick={onEdit} icon={<Pencil size={14} />}>
      {text.edit} <KeyCap>e</KeyCap>
    </Button>
  )
}

function RefuseButtons({ onRevise, onReject }: { onRevise: () => void; onReject: () => void }) {
  return (
    <>
      <Button onClick={onRevise} icon={<Undo2 size={14} />}>
        {text.revise} <KeyCap>v</KeyCap>
      </Button>
      <Button variant="danger" onClick={onReject} icon={<X size={14} />}>
        {text.reject} <KeyCap>r</KeyCap>
      </Button>
    </>
  )
}

/** The first press asks, the second approves. While it asks, the button has the focus. */
export function ApproveButton({
  asking,
  label,
  busy,
  onAsk,
  onApprove,
}: {
  asking: boolean
  label: string
  busy: boolean
  onAsk: () => void
  onApprove: () => void
}) {
  const ref = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    if (asking) ref.current?.focus()
  }, [asking])
  const press = ({ detail: clicks }: MouseEvent) => {
    // The second click of a double click is no second decision.
    if (clicks > 1) return
    if (asking) onApprove()
    else onAsk()
  }
  return (
    <button
      ref={ref}
      type="button"
      disabled={busy}
      onClick={press}
      // Enter that is held down is one press.
      onKeyDown={(event) => event.repeat && event.preventDefault()}
      className="inline-flex h-8 items-center gap-1.5 rounded-md bg-accent px-3 font-medium text-on-accent hover:bg-accent-strong disabled:opacity-50"
    >
      <Check size={15} aria-hidden />
      {asking ? text.confirm(label) : label}
      {!asking && <kbd className="rounded border border-current px-1 text-xs max-sm:hidden">a</kbd>}
    </button>
  )
}
