import { RevisionRequested } from '../../../approvals/requests/ask-approval.ts'
import { performAction } from '../../../approvals/effects/perform-action.ts'
import { approvedPayload } from '../../../approvals/requests/view.ts'
import type { JsonObject } from '../../../platform/base/json.ts'
import { notFound } from '../../../platform/base/problem.ts'
import { parseSentMail, recordSentMail } from '../../../customers/threads/reply.ts'
import { requireExecutor } from '../../../connections/executors/executor-table.ts'
import { pickConnection } from '../../../connections/actions/grants.ts'
import type { Connection } from '../../../connections/connection/rows.ts'
import type { ActionResult } from '../../../connections/actions/send-action.ts'
import type { Ctx, Tx } from '../../../platform/ctx/ctx.ts'
import type { ApprovalRow } from '../../../platform/store/tables.ts'
import { recordAnswer } from '../resume/run-state.ts'
import type { RunFacts } from '../session/run-facts.ts'
import type { TaskRun } from '../session/task-run.ts'

/** The connection of an approval that an earlier process of the run asked for. */
export function pickApprovedConnection(ctx: Ctx, { grant }: RunFacts, approval: ApprovalRow): Connection {
  const connection = pickConnection(grant, approval.action, approval.connection ?? undefined)
  requireExecutor(ctx, connection.kind, 'act')
  // The approval is for one connection, and another one may have its name by now.
  if (approval.connection_id !== connection.id) throw notFound('connection')
  return connection
}

export interface ActionResponse extends JsonObject {
  ok: boolean
  approval_id: string
}

/** What the agent gets for a request that a person sent back. Nothing was sent. */
export function revisionOrThrow(error: unknown): ActionResponse {
  if (!(error instanceof RevisionRequested)) throw error
  const { approvalId: approval_id, note, message } = error
  return { ok: false, status: null, result: null, revise: true, note, approval_id, error: message }
}

/** The agent gets the note as the answer of the tool gate. */
export const recordRevision = (run: Pick<TaskRun, 'stored' | 'log'>) => (error: unknown) => {
  if (error instanceof RevisionRequested) recordAnswer(run, error.approvalId)
  throw error
}

/** Sends an approved action once and returns what the agent gets as its result. */
export async function performApprovedAction(
  ctx: Ctx,
  { facts, gate }: Pick<TaskRun, 'facts' | 'gate'>,
  approval: ApprovalRow,
  connection: Connection,
): Promise<ActionResponse> {
  // The payload as it was sent: a person may have edited it, and the agent must know.
  const payload = approvedPayload(approval)
  const mail = connection.kind === 'email' ? parseSentMail(payload) : null
  const onOutcome = async (tx: Tx, { ok }: ActionResult) => {
    if (ok && mail) await recordSentMail(tx, facts.task, mail)
  }
  const { ok, status, result, error } = await performAction(ctx, { run: gate, approval, connection, onOutcome })
  const edited = approval.edited !== null
  return { ok, status, result, payload, edited, approval_id: approval.id, ...(error !== null && { error }) }
}
