import { z } from 'zod'
import { requireOneProject } from '../accounts/authenticate.ts'
import { approveApproval, rejectApproval, reviseApproval } from '../approvals/decide-approval.ts'
import { readApprovalViews } from '../approvals/read-approvals.ts'
import { APPROVAL_STATUSES } from '../approvals/view.ts'
import { findDecidableApproval, listApprovals } from '../approvals/rows.ts'
import type { JsonObject } from '../base/json.ts'
import { badRequest, notFound } from '../base/problem.ts'
import type { McpToolName } from '../contract/tool-names.ts'
import type { Ctx } from '../ctx/ctx.ts'
import type { Role, Scope } from '../ctx/scope.ts'
import { fileIds } from '../files/usable-files.ts'
import { jsonValue, jsonObject, validateFields } from '../http/validate.ts'
import { createTask } from '../tasks/create-task.ts'
import { findTask } from '../tasks/rows.ts'
import { listEnabledWedges } from '../wedges/rows.ts'
import { isWedgeEnabled } from '../wedges/enabled-wedges.ts'
import { MAX_WAIT_S, waitForTask } from './wait-for-task.ts'

/** The caller of a tool. `disconnected` fires when the connection closes or the credential is revoked. */
export interface ToolCaller {
  ctx: Ctx
  scope: Scope
  disconnected: AbortSignal
}

export interface McpTool {
  role: Role
  /** The entry in `tools/list`. */
  definition: { name: string; description: string; inputSchema: object; annotations: object }
  call(caller: ToolCaller, input: JsonObject): Promise<object>
}

const wait_s = z
  .number()
  .min(0)
  .max(MAX_WAIT_S)
  .default(MAX_WAIT_S)
  .meta({ description: 'seconds to wait until the task ends or needs an approval' })

const listWedgesTool = defineTool('list_wedges', 'viewer', {
  description: 'Lists the kinds of work (wedges) that can be run, with their task types.',
  input: z.object({}),
  async call({ ctx, scope }) {
    const enabled = await listEnabledWedges(ctx.db, scope.projectIds)
    const wedges = ctx.wedges.all().filter(({ slug }) => enabled.some((slugs) => isWedgeEnabled(slugs, slug)))
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

const runTaskTool = defineTool('run_task', 'operator', {
  description:
    'Starts a task and waits until it finishes, needs an approval, or wait_s is over. Call get_task to wait longer.',
  input: z.object({
    wedge: z.string().meta({ description: 'from list_wedges' }),
    task_type: z.string().meta({ description: 'a task type of the wedge' }),
    input: jsonValue.optional().meta({ description: 'the input of the task: any JSON value' }),
    files: fileIds.optional(),
    wait_s,
  }),
  async call({ ctx, scope, disconnected }, { wait_s, ...request }) {
    const { task } = await createTask(ctx, requireOneProject(scope), request, null)
    return waitForTask(ctx, task, wait_s, disconnected)
  },
})

const getTaskTool = defineTool('get_task', 'viewer', {
  description: 'Reads a task: its status, output and pending approvals. With wait_s, waits for it as run_task does.',
  input: z.object({ task_id: z.string(), wait_s: wait_s.unwrap().default(0) }),
  async call({ ctx, scope, disconnected }, { task_id, wait_s }) {
    const task = await findTask(ctx.db, scope.projectIds, task_id)
    if (!task) throw notFound('task')
    return waitForTask(ctx, task, wait_s, disconnected)
  },
})

const listApprovalsTool = defineTool('list_approvals', 'viewer', {
  description: 'Lists approvals, newest first. Without a status, those that wait for a decision.',
  input: z.object({
    status: z.enum(APPROVAL_STATUSES).default('pending'),
    limit: z.number().int().min(1).max(200).default(50),
  }),
  async call({ ctx, scope }, { status, limit }) {
    const rows = await listApprovals(ctx.db, scope.projectIds, { status, limit })
    return { approvals: await readApprovalViews(ctx.db, rows.slice(0, limit)) }
  },
})

const decideApprovalTool = defineTool('decide_approval', 'operator', {
  description:
    'Approves or rejects an action of a task, or sends it back (revise). Call it only with the decision of a person: an ' +
    'approved action is carried out, a rejection ends the task, and after revise the task continues with the reason as ' +
    'a note to its agent. An approval with the path question is answered by approve with ' +
    'edited: {answer}; a rejection then means that there is no answer, and the task continues.',
  input: z.object({
    approval_id: z.string(),
    decision: z.enum(['approve', 'reject', 'revise']),
    edited: jsonObject.optional().meta({ description: 'with approve: fields that replace those of the preview' }),
    reason: z
      .string()
      .max(10_000)
      .optional()
      .meta({ description: 'the reason, stored with the decision; required with revise' }),
  }),
  async call({ ctx, scope }, { approval_id, decision, edited, reason }) {
    const project = requireOneProject(scope)
    const approval = await findDecidableApproval(ctx.db, project.projectIds, approval_id)
    if (!approval) throw notFound('approval')
    if (decision === 'approve') {
      const outcome = await approveApproval(ctx, project, approval, { edited, note: reason })
      return { approval_id, task_id: approval.task_id, ...outcome }
    }
    if (decision === 'reject') await rejectApproval(ctx, project, approval, reason)
    else if (reason?.trim()) await reviseApproval(ctx, project, approval, reason)
    else throw badRequest("argument 'reason' is required with revise")
    return { approval_id, task_id: approval.task_id, decision: 'rejected' }
  },
})

export const MCP_TOOLS: McpTool[] = [listWedgesTool, runTaskTool, getTaskTool, listApprovalsTool, decideApprovalTool]

interface ToolSpec<Input extends z.ZodObject> {
  description: string
  input: Input
  call(caller: ToolCaller, input: z.output<Input>): Promise<object>
}

/** One schema both describes and validates the arguments of a tool. */
function defineTool<Input extends z.ZodObject>(name: McpToolName, role: Role, spec: ToolSpec<Input>): McpTool {
  const { $schema: _dialect, ...inputSchema } = z.toJSONSchema(spec.input, { io: 'input', unrepresentable: 'any' })
  const { description } = spec
  return {
    role,
    definition: { name, description, inputSchema, annotations: { readOnlyHint: role === 'viewer' } },
    call: async (caller, input) => spec.call(caller, validateFields(spec.input, input, 'argument')),
  }
}
