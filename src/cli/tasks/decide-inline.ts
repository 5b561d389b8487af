import type { JsonObject } from '../../base/json.ts'
import { errorMessage } from '../../base/error-message.ts'
import type { CommandContext } from '../shell/command.ts'
import { askForEdits } from './edit-payload.ts'
import { CommandFailure } from '../shell/failure.ts'
import { toPrintable, toShortText, toText, throughConnection } from '../shell/format.ts'

/** Asks the person for a decision until there is one, or until the signal says that it is too late. */
export async function askForDecision(shell: CommandContext, approvalId: string, signal: AbortSignal): Promise<void> {
  const { terminal, service } = shell
  const approval = await service.call('GET', approvalPath(approvalId))
  if (approval.status !== 'pending' || signal.aborted) return
  const choices = Array.isArray(approval.allowed_decisions) ? approval.allowed_decisions : []
  showApproval(shell, approval)
  while (!signal.aborted) {
    const answer = await terminal.ask(`${choices.map((name) => CHOICE_LABELS[toText(name)]).join(', ')}? `, signal)
    if (answer === null) {
      if (signal.aborted) return
      // The question stands at the end of its line.
      terminal.note('')
      return showHowToDecide(shell, approvalId)
    }
    try {
      if (await applyAnswer(shell, approval, answer.trim().toLowerCase(), signal)) return
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
  const until = typeof expires_at === 'string' ? `, until ${expires_at.slice(11, 19)} UTC` : ''
  terminal.note(
    terminal.styled(
      'yellow',
      `${toShortText(action)}${throughConnection(rest)} (risk ${toShortText(risk)}${until}) would send:`,
    ),
  )
  terminal.note(toPrintable(JSON.stringify(preview, null, 2)))
}

export function showHowToDecide({ programName: svc, terminal }: CommandContext, approvalId: string): void {
  terminal.note(
    `nobody to ask here: decide with \`${svc} approvals approve ${approvalId}\` or \`… reject ${approvalId}\``,
  )
}

/** Whether the answer was a decision. */
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
    const reason = await terminal.ask('reason (may be empty): ', signal)
    if (signal.aborted) return true
    await service.call('POST', `${path}/reject`, reason ? { reason } : {})
    return true
  }
  const mayEdit = Array.isArray(approval.allowed_decisions) && approval.allowed_decisions.includes('edit')
  if (!mayEdit || !['e', 'edit'].includes(answer)) {
    terminal.note(mayEdit ? 'answer a, e or r' : 'answer a or r')
    return false
  }
  const edited = await askForEdits({ terminal, service, ...rest }, approval.preview ?? null, signal)
  if (!edited) {
    terminal.note('nothing was changed')
    return false
  }
  await service.call('POST', `${path}/approve`, { edited })
  return true
}
