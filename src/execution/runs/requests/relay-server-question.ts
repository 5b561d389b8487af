import { rejectApproval } from '../../../approvals/decisions/decide-approval.ts'
import { findDecidableApproval } from '../../../approvals/requests/rows.ts'
import type { Json } from '../../../platform/base/json.ts'
import { problemOrThrow } from '../../../platform/base/problem.ts'
import type { ServerQuestion } from '../../../connections/calls/executor.ts'
import type { Connection } from '../../../connections/connection/rows.ts'
import type { Ctx } from '../../../platform/ctx/ctx.ts'
import { SYSTEM_ACTOR } from '../../../platform/ctx/scope.ts'
import { sleep } from '../../../platform/ctx/world.ts'
import { askPerson } from './ask-person.ts'
import type { TaskRun } from '../session/task-run.ts'

export const SERVER_KEY_PREFIX = 'server:'

/**
 * Asks the team what an MCP server wants to know during a call; null without an answer. The run keeps its cell meanwhile,
 * because the call waits in this process, and the time does not count.
 */
export async function relayServerQuestion(
  ctx: Ctx,
  run: TaskRun,
  { callId, connection }: { callId: string; connection: Pick<Connection, 'name'> },
  { question, schema, number, withdrawn }: ServerQuestion,
): Promise<Json> {
  // People must know that the text comes from outside.
  const text = `The MCP server of connection '${connection.name}' asks: ${question}`.slice(0, MAX_CHARACTERS)
  const key = `${SERVER_KEY_PREFIX}${callId} ${number}`
  const over = new AbortController()
  withdrawn.addEventListener('abort', () => void withdrawQuestion(ctx, run, key, over.signal))
  run.parking.openServerQuestions++
  try {
    if (withdrawn.aborted) return null
    const ask = () => askPerson(ctx, run, { question: text, schema, to: 'team' }, key)
    return (await run.workingTime.whileInterrupted(ask)).answer
  } finally {
    over.abort()
    run.parking.openServerQuestions--
  }
}

/** The limit of a question. */
const MAX_CHARACTERS = 2_000

/** The request of the question may still be on its way to the store. */
const RETRY_MS = 200

/** Rejects a question whose answer the server does not need any more, so that the task goes on. */
async function withdrawQuestion(
  ctx: Ctx,
  { facts, stored }: Pick<TaskRun, 'facts' | 'stored'>,
  key: string,
  over: AbortSignal,
): Promise<void> {
  const reason = 'the server does not wait for the answer any more'
  while (!over.aborted) {
    try {
      const request = stored.requests.findLast((one) => one.key === key)
      const approval = request && (await findDecidableApproval(ctx.db, [facts.projectId], request.approval_id))
      // If a person decides at the same moment, their decision counts.
      if (approval) await rejectApproval(ctx, { actor: SYSTEM_ACTOR }, approval, reason).catch(problemOrThrow)
    } catch (err) {
      ctx.world.log.warn({ err, task: facts.taskId }, 'the question of a server was not withdrawn yet')
    }
    await sleep(ctx.world.clock, RETRY_MS)
  }
}
