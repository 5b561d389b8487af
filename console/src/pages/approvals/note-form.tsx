import { Undo2, X } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import type { Approval } from '../../api/types.ts'
import { Button, KeyCap } from '../../ui/button.tsx'
import { Field } from '../../ui/form-fields.tsx'
import { uiText } from '../../ui/text.ts'
import { keptText, useKeepText } from './kept-texts.ts'
import { approvalsText } from './text.ts'

const text = approvalsText.decision

/** Asks for the note that the agent gets when its request is sent back. */
export function ReviseForm({
  approval,
  busy,
  onRevise,
  onBack,
}: {
  approval: Approval
  busy: boolean
  onRevise: (note: string) => void
  onBack: () => void
}) {
  const [note, setNote] = useState(() => keptText(approval, 'note'))
  return (
    <NoteForm
      approval={approval}
      kind="note"
      label={text.note}
      hint={text.noteHint}
      value={note}
      onChange={setNote}
      onSubmit={onRevise}
      onBack={onBack}
    >
      <Button type="submit" variant="primary" disabled={busy || note.trim() === ''} icon={<Undo2 size={14} />}>
        {text.sendBack}
      </Button>
    </NoteForm>
  )
}

/** Asks for the reason of a rejection, which may stay empty. */
export function RejectForm({
  approval = null,
  submitLabel,
  busy,
  onReject,
  onBack,
}: {
  /** Null for several approvals. */
  approval?: Approval | null
  submitLabel: string
  busy: boolean
  onReject: (reason: string) => void
  onBack: () => void
}) {
  const [reason, setReason] = useState(() => keptText(approval, 'reason'))
  return (
    <NoteForm
      approval={approval}
      kind="reason"
      label={text.reason}
      hint={text.reasonHint}
      value={reason}
      onChange={setReason}
      onSubmit={onReject}
      onBack={onBack}
    >
      <Button type="submit" variant="danger" disabled={busy} icon={<X size={14} />}>
        {submitLabel}
      </Button>
    </NoteForm>
  )
}

function NoteForm({
  approval,
  kind,
  label,
  hint,
  value,
  onChange,
  onSubmit,
  onBack,
  children,
}: {
  approval: Approval | null
  kind: 'note' | 'reason'
  label: string
  hint: string
  value: string
  onChange: (value: string) => void
  onSubmit: (value: string) => void
  onBack: () => void
  children: ReactNode
}) {
  useKeepText(approval, kind, value)
  return (
    <form
      className="flex flex-col gap-3"
      onSubmit={(event) => (event.preventDefault(), onSubmit(value.trim()))}
      onKeyDown={(event) => event.key === 'Escape' && onBack()}
    >
      <Field label={label} hint={hint}>
        {(id) => (
          <input
            id={id}
            autoFocus
            className="field h-8"
            value={value}
            onChange={(event) => onChange(event.target.value)}
          />
        )}
      </Field>
      <div className="flex gap-2">
        {children}
        <Button variant="ghost" onClick={onBack}>
          {text.back} <KeyCap>{uiText.escapeKey}</KeyCap>
        </Button>
      </div>
    </form>
  )
}
