import type { JsonObject } from '../../../platform/base/json.ts'
import { errorMessage } from '../../../platform/base/error-message.ts'
import type { CommandContext } from '../shell/command.ts'
import { askForAnswer, showQuestion } from './answer-question.ts'
import { askForEdits } from './edit-payload.ts'
import { CommandFailure } from '../shell/failure.ts'
import { toText } from '../shell/format.ts'
import { approvalPath } from '../shell/service-client.ts'
import { approvalCard, contextLines, currentPayload, voteText } from './approval-card.ts'

/** What came of asking once. `no_input`: stdin has no answer. */
export type AnswerOutcome = 'decided' | 'again' | 'no_input'

/** Asks until there is a decision. The signal aborts when the approval was decided elsewhere or the task ended. */
export async function askForDecision(context: CommandContext, approvalId: string, signal: AbortSignal): Promise<void> {
  const { terminal, service } = context
  let approval = await service.call('GET', approvalPath(approvalId))
  if (approval.status !== 'pending' || signal.aborted) return
  const isQuestion = approval.path === 'question'
  showRequest(context, approval)
  while (!signal.aborted) {
    try {
      const outcome = await (isQuestion ? askForAnswer : askForChoice)(context, approval, signal)
      if (outcome === 'decided' || signal.aborted) return
      if (outcome === 'again') continue
      // Ends the line of the question.
      terminal.note('')
      return showHowToDecide(context, approvalId, isQuestion)
    } catch (error) {
      if (!(error instanceof CommandFailure)) throw error
      terminal.note(errorMessage(error))
      const current = await service.call('GET', approvalPath(approvalId))
      if (current.status !== 'pending') return
      // Another approver has edited the payload.
      if (current.payload_sha256 !== approval.payload_sha256) showRequest(context, current)
      approval = current
    }
  }
}

function showRequest(context: CommandContext, approval: JsonObject): void {
  const { terminal } = context
  if (approval.path !== 'question') for (const line of approvalCard(terminal, approval)) terminal.note(line)
  else {
    for (const line of contextLines(terminal, approval)) terminal.note(line)
    showQuestion(context, approval)
  }
}

const CHOICE_LABELS = { approve: '[a]pprove', edit: '[e]dit', revise: 're[v]ise', reject: '[r]eject' }

export function showHowToDecide(
  { programName: svc, terminal }: CommandContext,
  approvalId: string,
  isQuestion: boolean,
): void {
  const verb = isQuestion ? 'answer' : 'approve'
  terminal.note(
    `stdin has no answer; decide with \`${svc} approvals ${verb} ${approvalId}\` or \`${svc} approvals reject ${approvalId}\``,
  )
}

/** Asks once for one of the decisions that the approval allows. */
async function askForChoice(
  context: CommandContext,
  approval: JsonObject,
  signal: AbortSignal,
): Promise<AnswerOutcome> {
  const labels = Object.entries(CHOICE_LABELS).flatMap(([name, label]) => (isAllowed(approval, name) ? [label] : []))
  const answer = await context.terminal.ask(`${labels.join(', ')}? `, signal)
  if (answer === null) return 'no_input'
  return (await applyAnswer(context, approval, answer.trim().toLowerCase(), signal)) ? 'decided' : 'again'
}

const isAllowed = ({ allowed_decisions: allowed }: JsonObject, decision: string): boolean =>
  Array.isArray(allowed) && allowed.includes(decision)

/** Returns true if the answer was a decision. */
async function applyAnswer(context: CommandContext, approval: JsonObject, answer: string, signal: AbortSignal) {
  const { terminal, service } = context
  const path = approvalPath(toText(approval.approval_id))
  if (['a', 'approve', 'y', 'yes'].includes(answer)) {
    await sendApprove(context, approval, {})
    return true
  }
  if (['r', 'reject', 'n', 'no'].includes(answer)) {
    const reason = await terminal.ask('reason (optional): ', signal)
    if (signal.aborted) return true
    await service.call('POST', `${path}/reject`, reason ? { reason } : {})
    return true
  }
  if (['v', 'revise'].includes(answer) && isAllowed(approval, 'revise')) {
    const note = await terminal.ask('note to the agent: ', signal)
    if (signal.aborted) return true
    if (!note?.trim()) return false
    await service.call('POST', `${path}/revise`, { note })
    return true
  }
  if (['e', 'edit'].includes(answer) && isAllowed(approval, 'edit')) return askAndEdit(context, approval, signal)
  terminal.note(isAllowed(approval, 'edit') ? 'type a, e, v or r' : 'type a, v or r')
  return false
}

async function askAndEdit(context: CommandContext, approval: JsonObject, signal: AbortSignal): Promise<boolean> {
  const edited = await askForEdits(context, currentPayload(approval), signal)
  if (edited) await sendApprove(context, approval, { edited })
  else context.terminal.note('the payload was not changed')
  return edited !== null
}

/** The hash says which payload the person has read, so that an edit of another approver is not approved unseen. */
async function sendApprove({ terminal, service }: CommandContext, approval: JsonObject, body: JsonObject) {
  const { approval_id, payload_sha256 = null } = approval
  const decision = await service.call('POST', `${approvalPath(toText(approval_id))}/approve`, {
    ...body,
    payload_sha256,
  })
  if (decision.decision === 'pending') terminal.note(voteText(decision))
}
