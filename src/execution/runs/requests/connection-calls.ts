import { toActionTool } from '../../../approvals/policy/action-text.ts'
import { askApproval, waitForApproval } from '../../../approvals/requests/ask-approval.ts'
import { requestKey } from '../../../approvals/policy/gated-request.ts'
import { appendAuditEntry } from '../../../audit/append.ts'
import type { Json } from '../../../platform/base/json.ts'
import { badRequest, Problem, problemOrThrow, tooManyRequests } from '../../../platform/base/problem.ts'
import { requireExecutor } from '../../../connections/executors/executor-table.ts'
import { pickConnection } from '../../../connections/actions/grants.ts'
import { type ConnectionReadResult, readThroughConnection } from '../../../connections/actions/read-through.ts'
import { prepareAction } from '../../../connections/actions/send-action.ts'
import { listFileReferences } from '../../../platform/contract/file-reference.ts'
import { type Ctx, inDurableTx, type Tx } from '../../../platform/ctx/ctx.ts'
import { resolvePayloadFiles } from '../../../work/files/payload-files.ts'
import {
  type ActionResponse,
  performApprovedAction,
  pickApprovedConnection,
  revisionOrThrow,
} from './perform-approved-action.ts'
import { askAndReply, findCalledReply } from './reply-calls.ts'
import { fileUserOf } from '../session/run-files.ts'
import { recordAnswer } from '../resume/run-state.ts'
import type { TaskRun } from '../session/task-run.ts'

export interface ActionBody {
  connection?: string | undefined
  payload?: Json | undefined
}

export interface ReadBody {
  connection?: string | undefined
  path?: string | undefined
  arguments?: Json | undefined
}

/** An action with an outside effect: approved first, then sent once, exactly as approved. */
export async function askAndAct(ctx: Ctx, run: TaskRun, capability: string, body: ActionBody): Promise<ActionResponse> {
  const act = async () => {
    const replyPath = await findCalledReply(ctx, run.facts, capability)
    if (replyPath) return askAndReply(ctx, run, replyPath, body)
    const { approval, connection } = await askForAction(ctx, run, capability, body)
    return performApprovedAction(ctx, run, approval, connection)
  }
  const response = await act().catch(revisionOrThrow)
  recordAnswer(run, response.approval_id)
  return response
}

/** Asks for the approval of an action. A run that continues takes the approval that it waited for in another process. */
async function askForAction(ctx: Ctx, run: TaskRun, capability: string, body: ActionBody) {
  const key = requestKey('action', capability, [body.connection ?? null, body.payload ?? {}])
  const earlier = run.stored.takeEarlierApproval(key)
  if (earlier) {
    const connection = pickApprovedConnection(ctx, run.facts, earlier)
    const approval = await waitForApproval(ctx, run.gate, earlier)
    return { approval, connection }
  }
  const connection = pickConnection(run.facts.grant, capability, body.connection)
  requireExecutor(ctx, connection.kind, 'act')
  await run.log.flush()
  const given = await resolvePayloadFiles(ctx.db, fileUserOf(run.facts), body.payload ?? {})
  const action = { capability, payload: given, runSignal: run.ending.over.signal }
  const { payload, tool } = await run.workingTime.whileWorking(() => prepareAction(ctx, connection, action))
  const asked = { payload, connection, tool: tool && toActionTool(tool) }
  const request = { key, action: capability, path: 'action', risk: 'high', ...asked } as const
  return { approval: await askApproval(ctx, run.gate, request), connection }
}

/** Reads through a connection. Every read counts, and is audited. */
export async function executeRead(
  ctx: Ctx,
  run: TaskRun,
  capability: string,
  read: ReadBody,
): Promise<ConnectionReadResult> {
  const { facts, usage } = run
  const connection = pickConnection(facts.grant, capability, read.connection)
  if (listFileReferences(read.arguments ?? {}).length > 0) throw badRequest('a read cannot send files: use an action')
  if (usage.readCount >= ctx.config.readMaxPerTask)
    throw tooManyRequests(`more than ${ctx.config.readMaxPerTask} reads in one task`, 60)
  usage.readCount++
  const askPerson = run.gate.askForServer(`read ${usage.readCount}`, connection)
  const clientId = facts.task.client_id
  const request = { capability, path: read.path ?? null, arguments: read.arguments ?? {}, clientId, askPerson }
  const result = await run.workingTime
    .whileWorking(() => readThroughConnection(ctx, connection, request))
    .catch(problemOrThrow)
  // A failed read may have reached the other side, so it is audited too.
  const outcome = result instanceof Problem ? { status: null, error: result.message } : { status: result.status }
  const entry = { capability, ...outcome }
  const writeAudit = (tx: Tx) =>
    appendAuditEntry(tx, facts.projectId, { kind: 'task', id: facts.taskId }, 'read.executed', connection.id, entry)
  await inDurableTx(ctx, writeAudit, run.ending.over.signal)
  if (result instanceof Problem) throw result
  return result
}
