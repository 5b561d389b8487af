import { ApprovalRefusal, askDecision } from '../../../approvals/requests/ask-approval.ts'
import { type GatedRequest, requestKey } from '../../../approvals/policy/gated-request.ts'
import { type QuestionRequest, toQuestionPreview } from '../../../approvals/requests/question.ts'
import type { Json, JsonObject } from '../../../platform/base/json.ts'
import { textField } from '../../../platform/base/json-fields.ts'
import { badRequest, Problem } from '../../../platform/base/problem.ts'
import { appendTaskMessage } from '../../../customers/threads/reply.ts'
import type { Ctx } from '../../../platform/ctx/ctx.ts'
import type { ApprovalRow } from '../../../platform/store/tables.ts'
import { type ActionResponse, revisionOrThrow } from './perform-approved-action.ts'
import { askAndReply, findReplyOfRun } from './reply-calls.ts'
import type { RunEnding } from '../session/run-ending.ts'
import type { RunFacts } from '../session/run-facts.ts'
import type { TaskRun } from '../session/task-run.ts'

/** What the agent gets. The answer of a client is data that the service does not trust. */
export type PersonAnswer = { approval_id: string } & (
  | { answered: true; answer: Json; answered_by: 'team' | 'client' }
  | { answered: false; answer: null; note?: Json }
)

/**
 * Asks the team or the client of the task a question and waits for the answer, as for an approval: the run leaves its cell
 * after SVC_PARK_AFTER_S. A rejected question has no answer; an expired one ends the task.
 */
export async function askPerson(
  ctx: Ctx,
  run: TaskRun,
  question: QuestionRequest,
  key: string | null = null,
): Promise<PersonAnswer> {
  const clientId = question.to === 'client' ? requireClient(run.facts) : null
  const payload = toQuestionPreview(question)
  await run.log.flush()
  const sent = clientId === null ? null : await sendQuestion(ctx, run, question)
  if (sent?.revise === true)
    return { approval_id: sent.approval_id, answered: false, answer: null, note: sent.note ?? null }
  const request: GatedRequest = {
    key: key ?? requestKey('question', 'ask_person', [payload, question.to]),
    action: 'ask_person',
    payload,
    path: 'question',
    risk: 'low',
    connection: null,
    clientId,
  }
  const approval = await askDecision(ctx, run.gate, request, async (tx) => {
    if (clientId !== null && !sent) await appendTaskMessage(tx, run.facts.task, question.question.replaceAll('\0', ''))
  })
  return toPersonAnswer(run.ending, approval)
}

/**
 * Sends the question the way the client's message came, once a person or a rule has approved it. Null if the client reads
 * the thread itself, in the portal or in the widget.
 */
async function sendQuestion(ctx: Ctx, run: TaskRun, question: QuestionRequest): Promise<ActionResponse | null> {
  const replyPath = await findReplyOfRun(ctx, run.facts)
  if (!replyPath?.sentThrough) return null
  const options = (question.options ?? []).map((option, index) => `${index + 1}. ${option}`)
  const text = [question.question, ...(options.length > 0 ? [options.join('\n')] : [])].join('\n\n')
  const sent = await askAndReply(ctx, run, replyPath, { payload: { text } }).catch(revisionOrThrow)
  if (!sent.ok && sent.revise !== true)
    throw new Problem(502, `the question could not be sent: ${textField(sent, 'error')}`)
  return sent
}

function requireClient({ task }: RunFacts): string {
  if (task.client_id === null) throw badRequest("field 'to' must be 'team': the task has no client")
  return task.client_id
}

export function toPersonAnswer(
  { over }: RunEnding,
  { id: approval_id, status, edited, decided_by_kind }: ApprovalRow,
): PersonAnswer {
  if (status === 'approved' && edited) {
    const { answer = null }: JsonObject = JSON.parse(edited)
    return { approval_id, answered: true, answer, answered_by: decided_by_kind === 'client' ? 'client' : 'team' }
  }
  // A cancel rejects the question too, but ends the run.
  if (status !== 'rejected' || over.isAborted) throw new ApprovalRefusal(status)
  return { approval_id, answered: false, answer: null }
}
