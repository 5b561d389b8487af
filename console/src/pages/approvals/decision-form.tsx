import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Check, Pencil, X } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { callApi } from '../../api/http.ts'
import { toObject } from '../../api/json.ts'
import { approvalsQuery } from '../../api/queries.ts'
import type { Approval, JsonObject } from '../../api/types.ts'
import { useShortcuts } from '../../shell/shortcuts.ts'
import { Button, KeyCap } from '../../ui/button.tsx'
import { Field } from '../../ui/form-fields.tsx'
import { showToast } from '../../ui/toast.tsx'
import { changedValues } from './payload-diff.ts'
import { PayloadEditor } from './payload-editor.tsx'
import { PayloadView } from './payload-view.tsx'
import { approvalSummary } from './approval-summary.ts'
import { uiText } from '../../ui/text.ts'
import { approvalsText } from './text.ts'

const text = approvalsText.decision

type DecisionMode = 'view' | 'confirm' | 'edit' | 'reject'

/**
 * Approves, edits or rejects. A decision by keyboard takes two keys, so that one slip has no effect: `a` focuses the
 * button and `a` or Enter approves; `r` asks for a reason and Enter rejects.
 */
export function DecisionForm({ approval, onDecided }: { approval: Approval; onDecided: () => void }) {
  const [mode, setMode] = useState<DecisionMode>('view')
  const payload = toObject(approval.preview)
  const [edited, setEdited] = useState<JsonObject>(payload)
  const canEdit = approval.allowed_decisions.includes('edit')
  const change = changedValues(payload, edited)
  const decide = useDecision(approval, onDecided)
  const approve = () =>
    decide.mutate({ to: 'approve', body: mode === 'edit' && Object.keys(change).length > 0 ? { edited: change } : {} })
  const reject = (reason: string) => decide.mutate({ to: 'reject', body: reason ? { reason } : {} })
  useShortcuts({
    a: () => (mode === 'confirm' ? approve() : setMode('confirm')),
    e: () => canEdit && setMode('edit'),
    r: () => setMode('reject'),
    Escape: () => setMode('view'),
  })
  if (mode === 'reject') {
    const onBack = () => setMode('view')
    return <RejectForm submitLabel={text.rejectAndEnd} busy={decide.isPending} onReject={reject} onBack={onBack} />
  }
  return (
    <div className="flex flex-col gap-3">
      {mode === 'edit' ? (
        <PayloadEditor payload={payload} edited={edited} onChange={setEdited} />
      ) : (
        <PayloadView approval={approval} />
      )}
      <div className="sticky bottom-0 -mx-5 flex flex-wrap items-center gap-2 bg-surface px-5 py-2">
        <ApproveButton
          needsConfirm={mode === 'confirm'}
          label={mode === 'edit' ? approveLabel(Object.keys(change).length) : text.approve}
          showKey={mode === 'view'}
          busy={decide.isPending}
          onApprove={approve}
        />
        {canEdit && mode !== 'edit' && (
          <Button onClick={() => setMode('edit')} icon={<Pencil size={14} />}>
            {text.edit} <KeyCap>e</KeyCap>
          </Button>
        )}
        {mode === 'edit' && (
          <Button variant="ghost" onClick={() => (setMode('view'), setEdited(payload))}>
            {text.discardEdits} <KeyCap>{uiText.escapeKey}</KeyCap>
          </Button>
        )}
        <Button variant="danger" onClick={() => setMode('reject')} icon={<X size={14} />}>
          {text.reject} <KeyCap>r</KeyCap>
        </Button>
      </div>
      {!canEdit && <p className="text-xs text-muted">{text.cannotEdit}</p>}
    </div>
  )
}

const approveLabel = (changes: number) => (changes > 0 ? text.approveWithChanges(changes) : text.approve)

/** With `needsConfirm` the button has the focus and says which key approves. */
export function ApproveButton({
  needsConfirm,
  label,
  showKey,
  busy,
  onApprove,
}: {
  needsConfirm: boolean
  label: string
  showKey: boolean
  busy: boolean
  onApprove: () => void
}) {
  const ref = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    if (needsConfirm) ref.current?.focus()
  }, [needsConfirm])
  return (
    <button
      ref={ref}
      type="button"
      disabled={busy}
      onClick={onApprove}
      className="inline-flex h-8 items-center gap-1.5 rounded-md bg-accent px-3 font-medium text-on-accent hover:bg-accent-strong disabled:opacity-50"
    >
      <Check size={15} aria-hidden />
      {needsConfirm ? text.confirm(label) : label}
      {showKey && <kbd className="rounded border border-current px-1 text-xs max-sm:hidden">a</kbd>}
    </button>
  )
}

export function RejectForm({
  submitLabel,
  busy,
  onReject,
  onBack,
}: {
  submitLabel: string
  busy: boolean
  onReject: (reason: string) => void
  onBack: () => void
}) {
  const [reason, setReason] = useState('')
  return (
    <form
      className="flex flex-col gap-3"
      onSubmit={(event) => (event.preventDefault(), onReject(reason.trim()))}
      onKeyDown={(event) => event.key === 'Escape' && onBack()}
    >
      <Field label={text.reason} hint={text.reasonHint}>
        {(id) => (
          <input
            id={id}
            autoFocus
            className="field h-8"
            value={reason}
            onChange={(event) => setReason(event.target.value)}
          />
        )}
      </Field>
      <div className="flex gap-2">
        <Button type="submit" variant="danger" disabled={busy} icon={<X size={14} />}>
          {submitLabel}
        </Button>
        <Button variant="ghost" onClick={onBack}>
          {text.back} <KeyCap>{uiText.escapeKey}</KeyCap>
        </Button>
      </div>
    </form>
  )
}

interface Decision {
  to: 'approve' | 'reject'
  body: { edited?: JsonObject; reason?: string }
}

function useDecision(approval: Approval, onDecided: () => void) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ to, body }: Decision) =>
      callApi(`/v1/approvals/${approval.approval_id}/${to}`, { method: 'POST', body }),
    onSuccess: (_, { to, body: { edited = null } }) => {
      queries.setQueryData(approvalsQuery('pending').queryKey, (list) =>
        list?.filter(({ approval_id }) => approval_id !== approval.approval_id),
      )
      const done = to === 'reject' ? text.rejected : edited ? text.approvedWithEdits : text.approved
      showToast(done(approvalSummary({ ...approval, edited })))
      onDecided()
    },
    // Also after an error, because another member may have decided first.
    onSettled: () => {
      void queries.invalidateQueries({ queryKey: ['approvals'] })
      void queries.invalidateQueries({ queryKey: ['tasks'] })
    },
  })
}
