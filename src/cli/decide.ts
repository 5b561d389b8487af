import type { JsonObject } from '../base/json.ts'
import { messageOf } from '../base/message-of.ts'
import type { Shell } from './command.ts'
import { editedFields } from './edit.ts'
import { Failure } from './failure.ts'
import { printable, short, textOf, through } from './table.ts'

/** Asks the person for a decision until there is one, or until the signal says that it is too late. */
export async function decideHere(shell: Shell, approvalId: string, signal: AbortSignal): Promise<void> {
  const { terminal, service } = shell
  const approval = await service.call('GET', pathOf(approvalId))
  if (approval.status !== 'pending' || signal.aborted) return
  const choices = Array.isArray(approval.allowed_decisions) ? approval.allowed_decisions : []
  describe(shell, approval)
  while (!signal.aborted) {
    const answer = await terminal.ask(`${choices.map((name) => CHOICES[textOf(name)]).join(', ')}? `, signal)
    if (answer === null) {
      if (signal.aborted) return
      // The question stands at the end of its line.
      terminal.note('')
      return tellWhere(shell, approvalId)
    }
    try {
      if (await carryOut(shell, approval, answer.trim().toLowerCase(), signal)) return
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      terminal.note(messageOf(error))
      if ((await service.call('GET', pathOf(approvalId))).status !== 'pending') return
    }
  }
}

export const pathOf = (approvalId: string) => `/v1/approvals/${encodeURIComponent(approvalId)}`

const CHOICES: Record<string, string> = { approve: '[a]pprove', edit: '[e]dit', reject: '[r]eject' }

function describe({ terminal }: Shell, { action, risk, preview, expires_at, ...rest }: JsonObject): void {
  const until = typeof expires_at === 'string' ? `, until ${expires_at.slice(11, 19)} UTC` : ''
  terminal.note(terminal.paint('yellow', `${short(action)}${through(rest)} (risk ${short(risk)}${until}) would send:`))
  terminal.note(printable(JSON.stringify(preview, null, 2)))
}

export function tellWhere({ svc, terminal }: Shell, approvalId: string): void {
  terminal.note(
    `nobody to ask here: decide with \`${svc} approvals approve ${approvalId}\` or \`… reject ${approvalId}\``,
  )
}

/** Whether the answer was a decision. */
async function carryOut(
  { terminal, service, ...rest }: Shell,
  approval: JsonObject,
  answer: string,
  signal: AbortSignal,
) {
  const path = pathOf(textOf(approval.approval_id))
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
  const edited = await editedFields({ terminal, service, ...rest }, approval.preview ?? null, signal)
  if (!edited) {
    terminal.note('nothing was changed')
    return false
  }
  await service.call('POST', `${path}/approve`, { edited })
  return true
}
