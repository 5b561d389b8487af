import { ApprovalRefusal } from '../../../approvals/requests/ask-approval.ts'
import { isJsonObject, type JsonObject } from '../../../platform/base/json.ts'
import { Problem } from '../../../platform/base/problem.ts'
import { replyText } from '../../../customers/channels/reply-path.ts'
import { type Ctx, inDurableTx } from '../../../platform/ctx/ctx.ts'
import { appendEvents } from '../../../work/events/append-events.ts'
import type { RunOutcome } from '../session/agent-session.ts'
import type { RunEnd } from '../session/run-ending.ts'
import { isValidOutput } from '../session/finish-run.ts'
import { type ActionResponse, revisionOrThrow } from './perform-approved-action.ts'
import { askAndReply, findReplyOfRun } from './reply-calls.ts'
import { askToShow, needsApprovalToShow } from './show-reply.ts'
import type { TaskRun } from '../session/task-run.ts'

/**
 * Sends the `reply` of the output to the client before the task ends, if its channel can reply. The bundled harness has
 * done it by then, so that a person can send the text back to the model; the output of a custom agent is sent from here.
 * The output gets the text that was sent, which a person may have edited.
 */
export async function sendOutputReply(ctx: Ctx, run: TaskRun, outcome: RunOutcome): Promise<RunOutcome> {
  const { end } = outcome
  if (end.kind !== 'output' || !isJsonObject(end.output) || !isValidOutput(run, end.output)) return outcome
  const { output } = end
  const text = typeof output.reply === 'string' ? output.reply : ''
  const ask = text.trim() === '' ? null : await findRequest(ctx, run, text)
  if (!ask) return outcome
  const { events, entries } = outcome.unwritten
  // What the agent did comes before the request in the log.
  if (events.length > 0) await inDurableTx(ctx, (tx) => appendEvents(tx, run.facts, events), run.ending.over.signal)
  const replied = await ask()
    .catch(revisionOrThrow)
    .then((response) => toEnd(output, response))
    .catch(toRunEnd)
  return { ...outcome, end: replied, unwritten: { events: [], entries } }
}

/** How the reply is asked for; null if it is shown without an approval. */
async function findRequest(ctx: Ctx, run: TaskRun, text: string): Promise<(() => Promise<ActionResponse>) | null> {
  const replyPath = await findReplyOfRun(ctx, run.facts)
  if (replyPath) return () => askAndReply(ctx, run, replyPath, { payload: { text } })
  return (await needsApprovalToShow(ctx, run.facts, text)) ? () => askToShow(ctx, run, text) : null
}

function toEnd(output: JsonObject, sent: ActionResponse): RunEnd {
  if (sent.revise === true)
    return { kind: 'error', message: 'a person sent the reply back, and the agent had ended already' }
  const text = replyText(sent.payload ?? null)
  return { kind: 'output', output: { ...output, reply: text === '' ? (output.reply ?? '') : text } }
}

/** A refusal has ended the task already. Every other problem fails the run, because the client has no answer. */
function toRunEnd(error: unknown): RunEnd {
  if (error instanceof ApprovalRefusal) return { kind: 'ended' }
  if (error instanceof Problem) return { kind: 'error', message: `the reply could not be sent: ${error.message}` }
  throw error
}
