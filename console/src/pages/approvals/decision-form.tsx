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

type DecisionMode = 'look' | 'ready' | 'edit' | 'reject'

/**
 * The answers. By keyboard an answer takes two strokes, so that a slip of the finger moves no money: `a` makes ready and
 * `a` or Enter approves; `r` asks for the reason and Enter rejects.
 */
export function DecisionForm({ approval, onDecided }: { approval: Approval; onDecided: () => void }) {
  const [mode, setMode] = useState<DecisionMode>('look')
  const payload = toObject(approval.preview)
  const [edited, setEdited] = useState<JsonObject>(payload)
  const canEdit = approval.allowed_decisions.includes('edit')
  const change = changedValues(payload, edited)
  const decide = useDecision(approval, onDecided)
  const approve = () =>
    decide.mutate({ to: 'approve', body: mode === 'edit' && Object.keys(change).length > 0 ? { edited: change } : {} })
  const reject = (reason: string) => decide.mutate({ to: 'reject', body: reason ? { reason } : {} })
  useShortcuts({
    a: () => (mode === 'ready' ? approve() : setMode('ready')),
    e: () => canEdit && setMode('edit'),
    r: () => setMode('reject'),
    Escape: () => setMode('look'),
  })
  if (mode === 'reject') {
    const onBack = () => setMode('look')
    return <RejectForm submit="Reject and end the task" busy={decide.isPending} onReject={reject} onBack={onBack} />
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
          ready={mode === 'ready'}
          label={mode === 'edit' ? approveLabel(Object.keys(change).length) : 'Approve'}
          cap={mode === 'look'}
          busy={decide.isPending}
          onApprove={approve}
        />
        {canEdit && mode !== 'edit' && (
          <Button onClick={() => setMode('edit')} icon={<Pencil size={14} />}>
            Edit <KeyCap>e</KeyCap>
          </Button>
        )}
        {mode === 'edit' && (
          <Button variant="ghost" onClick={() => (setMode('look'), setEdited(payload))}>
            Do not edit <KeyCap>Esc</KeyCap>
          </Button>
        )}
        <Button variant="danger" onClick={() => setMode('reject')} icon={<X size={14} />}>
          Reject <KeyCap>r</KeyCap>
        </Button>
      </div>
      {!canEdit && (
        <p className="text-xs text-muted">
          This cannot be edited: it is a tool call that the agent makes itself. Approve it as it is, or reject it and
          the task ends.
        </p>
      )}
    </div>
  )
}

const approveLabel = (changed: number) =>
  changed > 0 ? `Approve with ${changed} change${changed > 1 ? 's' : ''}` : 'Approve'

/** The first stroke makes it ready, the second one presses it. */
export function ApproveButton({
  ready,
  label,
  cap,
  busy,
  onApprove,
}: {
  ready: boolean
  label: string
  cap: boolean
  busy: boolean
  onApprove: () => void
}) {
  const ref = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    if (ready) ref.current?.focus()
  }, [ready])
  return (
    <button
      ref={ref}
      type="button"
      disabled={busy}
      onClick={onApprove}
      className="inline-flex h-8 items-center gap-1.5 rounded-md bg-accent px-3 font-medium text-on-accent hover:bg-accent-strong disabled:opacity-50"
    >
      <Check size={15} aria-hidden />
      {ready ? `${label}: press a or Enter` : label}
      {cap && <kbd className="rounded border border-current px-1 text-xs max-sm:hidden">a</kbd>}
    </button>
  )
}

export function RejectForm({
  submit,
  busy,
  onReject,
  onBack,
}: {
  submit: string
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
      <Field label="Why not?" hint="For you and the audit only; customers never see it. Rejecting ends the whole task.">
        {(id) => (
          <input
            id={id}
            autoFocus
            className="field h-8"
            placeholder="Optional"
            value={reason}
            onChange={(event) => setReason(event.target.value)}
          />
        )}
      </Field>
      <div className="flex gap-2">
        <Button type="submit" variant="danger" disabled={busy} icon={<X size={14} />}>
          {submit}
        </Button>
        <Button variant="ghost" onClick={onBack}>
          Back <KeyCap>Esc</KeyCap>
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
      const done = to === 'reject' ? 'Rejected' : edited ? 'Approved as edited' : 'Approved'
      showToast(`${done}: ${approvalSummary({ ...approval, edited })}`)
      onDecided()
    },
    // Also after a refusal: somebody else may have been quicker.
    onSettled: () => {
      void queries.invalidateQueries({ queryKey: ['approvals'] })
      void queries.invalidateQueries({ queryKey: ['tasks'] })
    },
  })
}
