import { Check, Pencil, Undo2, X } from 'lucide-react'
import { type MouseEvent, useEffect, useRef, useState } from 'react'
import { toObject } from '../../api/json.ts'
import type { Approval, JsonObject } from '../../api/types.ts'
import { useShortcuts } from '../../shell/shortcuts.ts'
import { Button, KeyCap } from '../../ui/button.tsx'
import { RejectForm, ReviseForm } from './note-form.tsx'
import { changedValues } from './payload-diff.ts'
import { PayloadEditor } from './payload-editor.tsx'
import { PayloadView } from './payload-view.tsx'
import { uiText } from '../../ui/text.ts'
import { approvalsText } from './text.ts'
import type { SendDecision } from './use-decision.ts'

const text = approvalsText.decision

type DecisionMode = 'view' | 'edit' | 'revise' | 'reject'

/**
 * Approves, edits, sends back or rejects. A decision takes two keys or two clicks, so that one slip has no effect: the
 * first `a` or click makes the button ask, the second approves; `r` asks for a reason and Enter rejects.
 */
export function DecisionForm({ approval, send }: { approval: Approval; send: SendDecision }) {
  const [mode, setMode] = useState<DecisionMode>('view')
  const [asking, setAsking] = useState(false)
  const payload = toObject(approval.preview)
  const [edited, setEdited] = useState<JsonObject>(payload)
  const canEdit = approval.allowed_decisions.includes('edit')
  const change = changedValues(payload, edited)
  const { decide, isPending } = send
  const approve = () =>
    decide({ to: 'approve', body: mode === 'edit' && Object.keys(change).length > 0 ? { edited: change } : {} })
  const show = (to: DecisionMode) => (setMode(to), setAsking(false))
  const edit = (to: JsonObject) => (setEdited(to), setAsking(false))
  const reject = (reason: string) => decide({ to: 'reject', body: reason ? { reason } : {} })
  useShortcuts({
    a: () => (mode === 'view' || mode === 'edit') && (asking ? approve() : setAsking(true)),
    e: () => canEdit && show('edit'),
    v: () => show('revise'),
    r: () => show('reject'),
    Escape: () => (asking ? setAsking(false) : show('view')),
  })
  const onBack = () => show('view')
  if (mode === 'revise') {
    const revise = (note: string) => decide({ to: 'revise', body: { note } })
    return <ReviseForm busy={isPending} onRevise={revise} onBack={onBack} />
  }
  if (mode === 'reject') {
    return <RejectForm submitLabel={text.rejectAndEnd} busy={isPending} onReject={reject} onBack={onBack} />
  }
  return (
    <div className="flex flex-col gap-3">
      {mode === 'edit' ? (
        <PayloadEditor payload={payload} amount={approval.amount} edited={edited} onChange={edit} />
      ) : (
        <PayloadView approval={approval} />
      )}
      <div className="sticky bottom-0 -mx-5 flex flex-wrap items-center gap-2 bg-surface px-5 py-2">
        <ApproveButton
          asking={asking}
          label={mode === 'edit' ? approveLabel(Object.keys(change).length) : text.approve}
          busy={isPending}
          onAsk={() => setAsking(true)}
          onApprove={approve}
        />
        {mode === 'edit' ? (
          <Button variant="ghost" onClick={() => (show('view'), setEdited(payload))}>
            {text.discardEdits} <KeyCap>{uiText.escapeKey}</KeyCap>
          </Button>
        ) : (
          canEdit && <EditButton onEdit={() => show('edit')} />
        )}
        <RefuseButtons onRevise={() => show('revise')} onReject={() => show('reject')} />
      </div>
      {!canEdit && <p className="text-xs text-muted">{text.cannotEdit}</p>}
    </div>
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

const approveLabel = (changes: number) => (changes > 0 ? text.approveWithChanges(changes) : text.approve)

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
      className="inline-flex h-8 items-center gap-1.5 rounded-md bg-accent px-3 font-medium text-on-accent hover:bg-accent-strong disabled:opacity-50"
    >
      <Check size={15} aria-hidden />
      {asking ? text.confirm(label) : label}
      {!asking && <kbd className="rounded border border-current px-1 text-xs max-sm:hidden">a</kbd>}
    </button>
  )
}
