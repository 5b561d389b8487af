import { z } from 'zod'
import { requireOneProject } from '../../identity/authentication/authenticate.ts'
import { notFound } from '../../platform/base/problem.ts'
import { fileIds } from '../../work/files/usable-files.ts'
import { jsonValue } from '../../platform/http/validate.ts'
import { createTask } from '../../work/tasks/create-task.ts'
import { findTask } from '../../work/tasks/rows.ts'
import { listEnabledWedges } from '../../wedges/library/rows.ts'
import { isWedgeEnabled } from '../../wedges/library/enabled-wedges.ts'
import { defineTool, type ToolCaller } from './define-tool.ts'
import { TaskResultView, WedgesResultView } from './tool-view.ts'
import { MAX_WAIT_S, WAIT_GOALS, waitForTask } from './wait-for-task.ts'

const wait_s = z.number().min(0).max(MAX_WAIT_S).default(MAX_WAIT_S).meta({ description: 'the most seconds to wait' })

const wait_for = z.enum(WAIT_GOALS).default('decision').meta({
  description:
    'decision: return when the task ends or needs an approval; end: wait for the end, also while people decide',
})

export const listWedgesTool = defineTool('list_wedges', 'viewer', {
  description: 'Lists the kinds of work (wedges) that can be run, with their task types.',
  input: z.object({}),
  output: WedgesResultView,
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

export const runTaskTool = defineTool('run_task', 'operator', {
  description:
    'Starts a task and waits until it finishes, needs an approval, or wait_s is over. Call get_task to wait longer.',
  input: z.object({
    wedge: z.string().meta({ description: 'from list_wedges' }),
    task_type: z.string().meta({ description: 'a task type of the wedge' }),
    input: jsonValue.optional().meta({ description: 'the input of the task: any JSON value' }),
    files: fileIds.optional(),
    wait_s,
    wait_for,
  }),
  output: TaskResultView,
  async call(caller, { wait_s, wait_for, ...request }) {
    // A call that has shown a form goes on with the task that it has started.
    const started = caller.forms?.task_id
    const task = started ? await requireTask(caller, started) : await startTask(caller, request)
    return waitForTask(caller, task, { wait_s, wait_for })
  },
})

export const getTaskTool = defineTool('get_task', 'viewer', {
  description: 'Reads a task: its status, output and pending approvals. With wait_s, waits for it as run_task does.',
  input: z.object({ task_id: z.string(), wait_s: wait_s.unwrap().default(0), wait_for }),
  output: TaskResultView,
  async call(caller, { task_id, ...wait }) {
    return waitForTask(caller, await requireTask(caller, task_id), wait)
  },
})

async function startTask({ ctx, scope, trace }: ToolCaller, request: Parameters<typeof createTask>[2]) {
  return (await createTask(ctx, requireOneProject(scope), request, null, trace)).task
}

async function requireTask({ ctx, scope }: ToolCaller, id: string) {
  const task = await findTask(ctx.db, scope.projectIds, id)
  if (!task) throw notFound('task')
  return task
}
