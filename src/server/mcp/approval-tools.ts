import { z } from 'zod'
import { alreadyDecided } from '../../approvals/people/cast-vote.ts'
import { readApprovalViews } from '../../approvals/decisions/read-approvals.ts'
import { readApprovalDetail } from '../../approvals/decisions/read-detail.ts'
import { findApproval, listApprovals } from '../../approvals/requests/rows.ts'
import { DECISIONS } from '../../approvals/decisions/apply-decision.ts'
import { APPROVAL_STATUSES } from '../../approvals/requests/view.ts'
import { badRequest, notFound } from '../../platform/base/problem.ts'
import { visibleJsonObject } from '../../platform/http/visible-keys.ts'
import { decideFromMcp, readDecision } from './decide.ts'
import { canShowForm, FormNeeded } from './decision-form.ts'
import { defineTool, type ToolCaller } from './define-tool.ts'
import { ApprovalResultView, ApprovalsResultView, DecisionResultView } from './tool-view.ts'
import { MAX_WAIT_S } from './wait-for-task.ts'

export const listApprovalsTool = defineTool('list_approvals', 'viewer', {
  description: 'Lists approvals, newest first. Without a status, those that wait for a decision.',
  input: z.object({
    status: z.enum(APPROVAL_STATUSES).default('pending'),
    limit: z.number().int().min(1).max(200).default(50),
  }),
  output: ApprovalsResultView,
  async call({ ctx, scope }, { status, limit }) {
    const rows = await listApprovals(ctx.store.lists, scope.projectIds, { status, limit })
    return { approvals: await readApprovalViews(ctx.store.lists, rows.slice(0, limit)) }
  },
})

export const getApprovalTool = defineTool('get_approval', 'viewer', {
  description:
    'Reads an approval with everything that a person needs to decide: the end of the conversation, what the agent did ' +
    'before, earlier decisions on the same action, the rule that stopped it, files and the schema of the payload.',
  input: z.object({ approval_id: z.string() }),
  output: ApprovalResultView,
  async call({ ctx, scope }, { approval_id }) {
    const row = await findApproval(ctx.db, scope.projectIds, approval_id)
    if (!row) throw notFound('approval')
    return { approval: await readApprovalDetail(ctx, row) }
  },
})

export const decideApprovalTool = defineTool('decide_approval', 'operator', {
  description:
    'Approves or rejects an action of a task, or sends it back (revise). Call it only with the decision of a person; ' +
    'without a decision, a client that can show forms asks the person itself. An ' +
    'approved action is carried out, a rejection ends the task, and after revise the task continues with the reason as ' +
    'a note to its agent. An approval with the path question is answered by approve with ' +
    'edited: {answer}; a rejection then means that there is no answer, and the task continues.',
  input: z.object({
    approval_id: z.string(),
    decision: z.enum(DECISIONS).optional().meta({ description: 'absent: ask the person by a form' }),
    edited: visibleJsonObject
      .optional()
      .meta({ description: 'with approve: fields that replace those of the preview' }),
    reason: z
      .string()
      .max(10_000)
      .optional()
      .meta({ description: 'the reason, stored with the decision; required with revise' }),
    payload_sha256: z
      .string()
      .optional()
      .meta({ description: 'the hash of the payload that the person has read; an error if it is another one now' }),
  }),
  output: DecisionResultView,
  async call(caller, { approval_id, decision, ...more }) {
    const { ctx, scope } = caller
    if (decision === undefined) return askByForm(caller, approval_id)
    await decideFromMcp(ctx, scope, approval_id, { decision, ...more })
    return readDecision(ctx, scope, approval_id)
  },
})

/** The form, or what has become of the approval after the form was shown. */
async function askByForm({ ctx, scope, forms, startedAt }: ToolCaller, id: string) {
  if (!forms) throw badRequest("argument 'decision' is required: this client cannot show a form")
  const row = await findApproval(ctx.db, scope.projectIds, id)
  if (!row) throw notFound('approval')
  if (row.status !== 'pending' || forms.asked.includes(id)) return readDecision(ctx, scope, id)
  if (row.held_until !== null) throw await alreadyDecided(ctx, id, scope.actor)
  if (!canShowForm(row, forms)) throw badRequest("argument 'decision' is required: this approval has no form")
  return new FormNeeded(row, forms, startedAt + MAX_WAIT_S * 1000)
}
