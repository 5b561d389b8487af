import type { JsonObject } from '../../base/json.ts'
import { errorMessage } from '../../base/error-message.ts'
import type { CommandContext } from '../shell/command.ts'
import { askForAnswer, showQuestion } from './answer-question.ts'
import { approvalPath } from './approval-path.ts'
import { askForEdits } from './edit-payload.ts'
import { CommandFailure } from '../shell/failure.ts'
import { formatTime, toPrintable, toShortText, toText, throughConnection } from '../shell/format.ts'

/** What came of asking once. `no_input`: stdin has no answer. */
export type AnswerOutcome = 'decided' | 'again' | 'no_input'

/** Asks until there is a decision. The signal aborts when the approval was decided elsewhere or the task ended. */
export async function askForDecision(context: CommandContext, approvalId: string, signal: AbortSignal): Promise<void> {
  const { terminal, service } = context
  const approval = await service.call('GET', approvalPath(approvalId))
  if (approval.status !== 'pending' || signal.aborted) return
  const isQuestion = approval.path === 'question'
  if (isQuestion) showQuestion(context, approval)
  else showApproval(context, approval)
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
      if ((await service.call('GET', approvalPath(approvalId))).status !== 'pending') return
    }
  }
}

const CHOICE_LABELS: Record<string, string> = { approve: '[a]pprove', edit: '[e]dit', reject: '[r]eject' }

function showApproval({ terminal }: CommandContext, { action, risk, preview, expires_at, ...rest }: JsonObject): void {
  // The agent makes a tool call itself, so only the payload of an action is what will be sent.
  const what = rest.path === 'tool' ? 'the agent asks to do' : 'will send'
  const expiry = typeof expires_at === 'string' ? `, expires ${formatTime(expires_at)} UTC` : ''
  if (typeof rest.text === 'string') terminal.note(terminal.styled('bold', toShortText(rest.text, 200)))
  terminal.note(
    terminal.styled(
      'yellow',
      `${toShortText(action)}${throughConnection(rest)} (risk ${toShortText(risk)}${expiry}) ${what}:`,
    ),
  )
  terminal.note(toPrintable(JSON.stringify(preview, null, 2)))
}

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
  const choices = Array.isArray(approval.allowed_decisions) ? approval.allowed_decisions : []
  const labels = choices.map((name) => CHOICE_LABELS[toText(name)])
  const answer = await context.terminal.ask(`${labels.join(', ')}? `, signal)
  if (answer === null) return 'no_input'
  return (await applyAnswer(context, approval, answer.trim().toLowerCase(), signal)) ? 'decided' : 'again'
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
