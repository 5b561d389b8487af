import type { JsonObject } from '../../base/json.ts'
import { errorMessage } from '../../base/error-message.ts'
import type { CommandContext } from '../shell/command.ts'
import { askForEdits } from './edit-payload.ts'
import { CommandFailure } from '../shell/failure.ts'
import { toPrintable, toShortText, toText, throughConnection } from '../shell/format.ts'

/** Asks until there is a decision. The signal aborts when the approval was decided elsewhere or the task ended. */
export async function askForDecision(context: CommandContext, approvalId: string, signal: AbortSignal): Promise<void> {
  const { terminal, service } = context
  const approval = await service.call('GET', approvalPath(approvalId))
  if (approval.status !== 'pending' || signal.aborted) return
  const choices = Array.isArray(approval.allowed_decisions) ? approval.allowed_decisions : []
  showApproval(context, approval)
  while (!signal.aborted) {
    const answer = await terminal.ask(`${choices.map((name) => CHOICE_LABELS[toText(name)]).join(', ')}? `, signal)
    if (answer === null) {
      if (signal.aborted) return
      // Ends the line of the question.
      terminal.note('')
      return showHowToDecide(context, approvalId)
    }
    try {
      if (await applyAnswer(context, approval, answer.trim().toLowerCase(), signal)) return
    } catch (error) {
      if (!(error instanceof CommandFailure)) throw error
      terminal.note(errorMessage(error))
      if ((await service.call('GET', approvalPath(approvalId))).status !== 'pending') return
    }
  }
}

export const approvalPath = (approvalId: string) => `/v1/approvals/${encodeURIComponent(approvalId)}`

const CHOICE_LABELS: Record<string, string> = { approve: '[a]pprove', edit: '[e]dit', reject: '[r]eject' }

function showApproval({ terminal }: CommandContext, { action, risk, preview, expires_at, ...rest }: JsonObject): void {
  const expiry = typeof expires_at === 'string' ? `, expires ${expires_at.slice(11, 19)} UTC` : ''
  terminal.note(
    terminal.styled(
      'yellow',
      `${toShortText(action)}${throughConnection(rest)} (risk ${toShortText(risk)}${expiry}) will send:`,
    ),
  )
  terminal.note(toPrintable(JSON.stringify(preview, null, 2)))
}

export function showHowToDecide({ programName: svc, terminal }: CommandContext, approvalId: string): void {
  terminal.note(
    `stdin has no answer; decide with \`${svc} approvals approve ${approvalId}\` or \`${svc} approvals reject ${approvalId}\``,
  )
}

/** Returns true if the answer was a decision. */
async function applyAnswer(
  { terminal, service, ...rest }: CommandContext,
  approval: JsonObject,
  answer: string,
  signal: AbortSignal,
) {
  const path = approvalPath(toText(approval.approval_id))
  if (['a', 'approve', 'y', 'yes'].includes(answer)) {
    await service.call('POST', `${path}/approve`, {})
    return true
  }
  if (['r', 'reject', 'n', 'no'].includes(answer)) {
    const reason = await terminal.ask('reason (optional): ', signal)
    if (signal.aborted) return true
    await service.call('POST', `${path}/reject`, reason ? { reason } : {})
    return true
  }
  const canEdit = Array.isArray(approval.allowed_decisions) && approval.allowed_decisions.includes('edit')
  if (!canEdit || !['e', 'edit'].includes(answer)) {
    terminal.note(canEdit ? 'type a, e or r' : 'type a or r')
    return false
  }
  const edited = await askForEdits({ terminal, service, ...rest }, approval.preview ?? null, signal)
  if (!edited) {
    terminal.note('the payload was not changed')
    return false
  }
  await service.call('POST', `${path}/approve`, { edited })
  return true
}
