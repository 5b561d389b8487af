import type { Json } from '../base/json.ts'
import { RunFailed } from './conversation.ts'
import { startStep } from './events.ts'
import { workflowTool } from './plane-tools.ts'
import type { Run } from './run.ts'
import { execute } from './tools.ts'

/** No model: the declared workflow that is named like the task type is the whole job. */
export async function runWorkflow(run: Run): Promise<Json> {
  const { task_type, input } = run.brief.task
  startStep(run.emit, 1, 'Workflow')
  const call = { id: 'call_1', name: workflowTool.name, input: { name: task_type, args: input }, broken: null }
  const outcome = await execute(run, workflowTool, call)
  if (!outcome.ok) throw new RunFailed(`workflow failed: ${outcome.error}`)
  return outcome.output
}
