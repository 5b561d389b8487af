import { askApproval } from '../../../approvals/requests/ask-approval.ts'
import { requestKey } from '../../../approvals/policy/gated-request.ts'
import { listApprovedToolCalls } from '../../../approvals/requests/rows.ts'
import { hasMailedClient } from '../../../customers/threads/reply.ts'
import { requiresReplyApproval, SHOWN_REPLY } from '../../../platform/contract/wedge/declared-approvals.ts'
import type { Ctx } from '../../../platform/ctx/ctx.ts'
import type { ActionResponse } from './perform-approved-action.ts'
import { describeShownReply, listGatedReplySteps } from './reply-calls.ts'
import type { RunFacts } from '../session/run-facts.ts'
import type { TaskRun } from '../session/task-run.ts'

/**
 * Whether a reply that no channel sends must be approved before the thread shows it. The gate may have left out the step of
 * the reply because the channel could send it then, and the channel may have been changed or deleted since.
 */
export async function needsApprovalToShow(ctx: Ctx, facts: RunFacts, text: string): Promise<boolean> {
  const { task, taskId, wedge } = facts
  if (task.thread_id === null || (await hasMailedClient(ctx.db, task, task.thread_id, text))) return false
  if (requiresReplyApproval(wedge.manifest)) return true
  const steps = listGatedReplySteps(facts)
  if (steps.length === 0) return false
  const approved = await listApprovedToolCalls(ctx.db, { task_id: taskId })
  return !approved.some(({ action }) => steps.includes(action.toLowerCase()))
}

/** Asks for the approval of a reply that the service shows in the thread when the task ends. */
export async function askToShow(
  ctx: Ctx,
  { facts, gate }: Pick<TaskRun, 'facts' | 'gate'>,
  text: string,
): Promise<ActionResponse> {
  const payload = { text }
  const { id: approval_id } = await askApproval(ctx, gate, {
    key: requestKey('tool', SHOWN_REPLY, payload),
    action: SHOWN_REPLY,
    payload,
    path: 'tool',
    risk: 'high',
    connection: null,
    tool: { phrase: await describeShownReply(ctx, facts.task, 'portal'), amount: null },
    threadId: facts.task.thread_id,
  })
  return { ok: true, approval_id, payload }
}
