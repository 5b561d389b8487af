import { ApiError } from '../api/request.ts'
import { Check, X } from 'lucide-react'
import { type MouseEvent, useState } from 'react'
import { Button } from '../ui/button.tsx'
import { TextArea } from '../ui/form-fields.tsx'
import { portalErrorMessage } from './error-message.ts'
import { Alert } from './frame.tsx'
import { usePortalText, useTimeFormat } from './language.tsx'
import { PayloadFields } from './payload-fields.tsx'
import { approve, decline, type PortalApproval } from './portal-api.ts'
import type { PortalText } from '../../../client-text/en.ts'

/** One action that the client approves or declines, or what was decided. `onDecided` loads the approvals again. */
export function ApprovalCard({ approval, onDecided }: { approval: PortalApproval; onDecided: () => void }) {
  const text = usePortalText()
  const isOpen = approval.status === 'pending' && approval.your_decision === null
  return (
    <section
      // With its title, because several may wait.
      aria-label={`${text.approval.label}: ${approval.title}`}
      className={`panel flex flex-col gap-3 p-4 ${isOpen ? 'border-accent' : ''}`}
    >
      {isOpen && <p className="text-xs text-muted">{text.approval.label}</p>}
      <h2 className="font-semibold wrap-anywhere">{approval.title}</h2>
      <Payload approval={approval} />
      {isOpen ? (
        // Another payload is another decision, so the form starts again.
        <DecisionForm key={approval.payload_sha256} approval={approval} onDecided={onDecided} />
      ) : (
        <p role="status" className="flex items-center gap-1.5 text-muted">
          {approval.your_decision === 'approved' && <Check size={14} aria-hidden />}
          {approval.your_decision === 'rejected' && <X size={14} aria-hidden />}
          {outcomeText(approval, text.approval)}
        </p>
      )}
    </section>
  )
}

function Payload({ approval: { amount, payload } }: { approval: PortalApproval }) {
  return (
    <div className="rounded-md border border-line bg-bg px-4 py-2.5">
      {amount && <p className="mb-1.5 text-2xl font-semibold tabular-nums">{amount.text}</p>}
      <PayloadFields value={payload} texts={amount ? { [amount.path]: amount.text } : {}} />
    </div>
  )
}

function outcomeText({ status, your_decision }: PortalApproval, text: PortalText['approval']): string {
  if (status === 'expired') return text.expired
  if (status === 'pending') return text.waitsForOthers
  if (status === 'approved') return your_decision === 'approved' ? text.youApproved : text.approved
  return your_decision === 'rejected' ? text.youDeclined : text.withdrawn
}

/** Both decisions are confirmed, so that one slip does not decide. */
function DecisionForm({ approval, onDecided }: { approval: PortalApproval; onDecided: () => void }) {
  const text = usePortalText()
  const { long } = useTimeFormat()
  const [chosen, setChosen] = useState<'approve' | 'decline' | null>(null)
  const [reason, setReason] = useState('')
  const { busy, problem, decide } = useSend(onDecided)
  const send = ({ detail: clicks }: MouseEvent) => {
    // The second click of a double click is no second decision.
    if (clicks <= 1) decide(chosen === 'approve' ? approve(approval) : decline(approval.id, reason))
  }
  return (
    <div className="flex flex-col gap-3">
      {chosen === 'decline' && (
        <TextArea
          label={`${text.approval.reason} (${text.optional})`}
          value={reason}
          maxLength={MAX_REASON_CHARACTERS}
          onChange={setReason}
        />
      )}
      {chosen !== null && (
        <p className="text-muted">{chosen === 'approve' ? text.approval.approveHint : text.approval.declineHint}</p>
      )}
      {problem !== null && <Alert>{problem}</Alert>}
      <div className="flex flex-wrap items-center gap-2">
        {chosen === null ? (
          <>
            <Button variant="primary" className="h-11" onClick={() => setChosen('approve')}>
              {text.approval.approve}
            </Button>
            <Button className="h-11" onClick={() => setChosen('decline')}>
              {text.approval.decline}
            </Button>
          </>
        ) : (
          <>
            <Button variant="primary" className="h-11" disabled={busy} onClick={send}>
              {chosen === 'approve' ? text.approval.confirmApprove : text.approval.confirmDecline}
            </Button>
            <Button variant="ghost" className="h-11" disabled={busy} onClick={() => setChosen(null)}>
              {text.cancel}
            </Button>
          </>
        )}
      </div>
      {approval.expires_at && <p className="text-xs text-muted">{text.approval.decideBy(long(approval.expires_at))}</p>}
    </div>
  )
}

/** The server has the same limit. */
const MAX_REASON_CHARACTERS = 1_000

function useSend(onDecided: () => void) {
  const text = usePortalText()
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const send = async (sent: Promise<unknown>) => {
    setBusy(true)
    setProblem(null)
    try {
      await sent
    } catch (error) {
      const isOutdated = error instanceof ApiError && error.status === 409
      setProblem(isOutdated ? text.approval.changed : portalErrorMessage(error, text))
    }
    setBusy(false)
    // Also after an error: the approval may have been changed or decided meanwhile.
    onDecided()
  }
  return { busy, problem, decide: (sent: Promise<unknown>) => void send(sent) }
}
