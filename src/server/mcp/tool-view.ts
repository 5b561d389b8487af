import { z } from 'zod'
import { ApprovalDetailView } from '../../approvals/requests/detail-view.ts'
import { ApprovalView } from '../../approvals/requests/view.ts'
import { jsonObject } from '../../platform/http/validate.ts'
import { TaskView } from '../../work/tasks/view.ts'

const { status, output, error, cost_usd } = TaskView.shape

/** The structured results of the tools. */
export const WedgesResultView = z.object({
  wedges: z.array(
    z.object({
      wedge: z.string(),
      title: z.string(),
      task_types: z.array(
        z.object({ task_type: z.string(), description: z.string().nullable(), output_schema: jsonObject.nullable() }),
      ),
    }),
  ),
})

export const TaskResultView = z.object({
  task_id: z.string(),
  status,
  finished: z.boolean(),
  output,
  error,
  cost_usd,
  pending_approvals: z.array(ApprovalView),
})

export const ApprovalsResultView = z.object({ approvals: z.array(ApprovalView) })

export const ApprovalResultView = z.object({ approval: ApprovalDetailView })

export const DecisionResultView = z.object({
  approval_id: z.string(),
  task_id: z.string(),
  decision: z.enum(['approved', 'rejected', 'pending']).meta({
    description: 'pending: more people must approve, or the person has not answered the form.',
  }),
  votes: z.number().int().optional().meta({ description: 'with pending: how many people have approved' }),
  needed: z.number().int().optional().meta({ description: 'with pending: how many people must approve' }),
})
