import { z } from 'zod'
import { oneProject } from '../accounts/authenticate.ts'
import { approve, reject } from '../approvals/decide.ts'
import { APPROVAL_STATUSES, showApproval } from '../approvals/record.ts'
import { findDecidable, listApprovals } from '../approvals/rows.ts'
import type { JsonObject } from '../base/json.ts'
import { notFound } from '../base/problem.ts'
import type { Ctx } from '../ctx/ctx.ts'
import type { Role, Scope } from '../ctx/scope.ts'
import { json, jsonObject, judgeFields } from '../http/judge.ts'
import { createTask } from '../tasks/create.ts'
import { findTask } from '../tasks/rows.ts'
import { enabledWedges } from '../wedges/rows.ts'
import { isEnabled } from '../wedges/enabled.ts'
import { MOST_WAIT_S, settledTask } from './settled-task.ts'

/** Who calls a tool; `gone` fires when they hang up. */
export interface ToolAsk {
  ctx: Ctx
  scope: Scope
  gone: AbortSignal
}

export interface Tool {
  role: Role
  /** As `tools/list` shows it. */
  described: { name: string; description: string; inputSchema: object; annotations: object }
  call(ask: ToolAsk, given: JsonObject): Promise<object>
}

const wait_s = z
  .number()
  .min(0)
  .max(MOST_WAIT_S)
  .default(MOST_WAIT_S)
  .meta({ description: 'how many seconds to wait for an end or for an approval that is needed' })

const listWedges = tool('list_wedges', 'viewer', {
  description: 'Lists the kinds of work (wedges) that can be run, with their task types.',
  input: z.object({}),
  async call({ ctx, scope }) {
    const enabled = await enabledWedges(ctx.db, scope.projectIds)
    const wedges = ctx.wedges.all().filter(({ slug }) => enabled.some((slugs) => isEnabled(slugs, slug)))
    return {
      wedges: wedges.map(({ slug, title, manifest }) => ({
        wedge: slug,
        title,
        task_types: Object.entries(manifest.task_types).map(([task_type, { description, output_schema }]) => ({
          task_type,
          description: description ?? null,
          output_schema: output_schema ?? null,
        })),
      })),
    }
  },
})

const runTask = tool('run_task', 'operator', {
  description:
    'Starts a task and waits until it has finished, needs an approval, or the time is over; then get_task waits on.',
  input: z.object({
    wedge: z.string().meta({ description: 'from list_wedges' }),
    task_type: z.string().meta({ description: 'one of the wedge' }),
    input: json.optional().meta({ description: 'what the task is about: any JSON value' }),
    wait_s,
  }),
  async call({ ctx, scope, gone }, { wait_s, ...request }) {
    const { task } = await createTask(ctx, oneProject(scope), request, null)
    return settledTask(ctx, task, wait_s, gone)
  },
})

const getTask = tool('get_task', 'viewer', {
  description: 'Reads a task: its status, output and pending approvals. With wait_s, waits for it as run_task does.',
  input: z.object({ task_id: z.string(), wait_s: wait_s.unwrap().default(0) }),
  async call({ ctx, scope, gone }, { task_id, wait_s }) {
    const task = await findTask(ctx.db, scope.projectIds, task_id)
    if (!task) throw notFound('task')
    return settledTask(ctx, task, wait_s, gone)
  },
})

const listApprovalsTool = tool('list_approvals', 'viewer', {
  description: 'Lists approvals, newest first; those that wait for a decision unless told otherwise.',
  input: z.object({
    status: z.enum(APPROVAL_STATUSES).default('pending'),
    limit: z.number().int().min(1).max(200).default(50),
  }),
  async call({ ctx, scope }, { status, limit }) {
    const rows = await listApprovals(ctx.db, scope.projectIds, { status, limit })
    return { approvals: rows.slice(0, limit).map(showApproval) }
  },
})

const decideApproval = tool('decide_approval', 'operator', {
  description:
    'Approves or rejects what a task wants to do. Only as the person decided: an approval lets it happen in the world, ' +
    'and a rejection ends the task.',
  input: z.object({
    approval_id: z.string(),
    decision: z.enum(['approve', 'reject']),
    edited: jsonObject.optional().meta({ description: 'with approve: fields to lay over the preview' }),
    reason: z.string().max(10_000).optional().meta({ description: 'why; kept with the decision' }),
  }),
  async call({ ctx, scope }, { approval_id, decision, edited, reason }) {
    const project = oneProject(scope)
    const approval = await findDecidable(ctx.db, project.projectIds, approval_id)
    if (!approval) throw notFound('approval')
    if (decision === 'approve') await approve(ctx, project, approval, { edited, note: reason })
    else await reject(ctx, project, approval, reason)
    return { approval_id, task_id: approval.task_id, decision: decision === 'approve' ? 'approved' : 'rejected' }
  },
})

export const TOOLS: Tool[] = [listWedges, runTask, getTask, listApprovalsTool, decideApproval]

interface ToolSpec<Input extends z.ZodObject> {
  description: string
  input: Input
  call(ask: ToolAsk, input: z.output<Input>): Promise<object>
}

/** A tool with its arguments described and judged by one schema. */
function tool<Input extends z.ZodObject>(name: string, role: Role, spec: ToolSpec<Input>): Tool {
  const { $schema: _dialect, ...inputSchema } = z.toJSONSchema(spec.input, { io: 'input', unrepresentable: 'any' })
  const { description } = spec
  return {
    role,
    described: { name, description, inputSchema, annotations: { readOnlyHint: role === 'viewer' } },
    call: async (ask, given) => spec.call(ask, judgeFields(spec.input, given, 'argument')),
  }
}
