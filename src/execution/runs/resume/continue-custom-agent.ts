import { isSentBack, RevisionRequested } from '../../../approvals/requests/ask-approval.ts'
import type { Json } from '../../../platform/base/json.ts'
import { Problem, problemOrThrow } from '../../../platform/base/problem.ts'
import type { BriefResume } from '../../../platform/contract/agent-protocol.ts'
import type { Ctx } from '../../../platform/ctx/ctx.ts'
import type { ApprovalRow } from '../../../platform/store/tables.ts'
import { isOwnQuestion } from '../requests/confirm-unknown-effect.ts'
import { toPersonAnswer } from '../requests/ask-person.ts'
import { performApprovedAction, pickApprovedConnection, revisionOrThrow } from '../requests/perform-approved-action.ts'
import type { EarlierRun } from './run-state.ts'
import type { TaskRun } from '../session/task-run.ts'

/**
 * What a custom agent gets when it continues: its checkpoint and the answer to its last request. An approved action is
 * sent here, because the agent need not repeat its request.
 */
export async function createBriefResume(ctx: Ctx, run: TaskRun, earlier: EarlierRun): Promise<BriefResume> {
  const { checkpoint, requests } = run.stored
  const request = requests.findLast((one) => !one.is_used && !isOwnQuestion(one))
  const last = earlier.approvals.find(({ id }) => id === request?.approval_id)
  if (!request || !last) return { checkpoint, pending: null }
  // The agent makes the call without asking again, and one approval is for one call.
  if (last.path === 'tool') run.stored.takeEarlierApproval(request.key)
  const { id: approval_id, action, status: decision } = last
  const result = await resultOf(ctx, run, last)
  run.stored.markAnswered(approval_id, Date.now())
  return { checkpoint, pending: { approval_id, action, decision, result } }
}

async function resultOf(ctx: Ctx, run: TaskRun, approval: ApprovalRow): Promise<Json> {
  if (approval.path === 'question') return toPersonAnswer(run.ending, approval)
  if (isSentBack(approval)) return revisionOrThrow(new RevisionRequested(approval))
  if (approval.path !== 'action') return null
  const act = async () => performApprovedAction(ctx, run, approval, pickApprovedConnection(ctx, run.facts, approval))
  const result = await act().catch(problemOrThrow)
  return result instanceof Problem ? { ok: false, error: result.message } : result
}
