import type { Json } from '../../platform/base/json.ts'
import { emitStepStarted } from './agent-events.ts'
import { workflowTool } from './tools/plane-tools.ts'
import { type HarnessRun, RunFailure } from './harness-run.ts'
import { replyWithOutput } from './reply.ts'
import { runHarnessTool } from './tools/tools.ts'

const CALL_ID = 'call_1'

/** Calls the workflow that has the name of the task type; no model is used. */
export async function runWorkflowShape(run: HarnessRun): Promise<Json> {
  const { task_type, input } = run.brief.task
  emitStepStarted(run, 1, 'Workflow')
  const call = { id: CALL_ID, name: workflowTool.name, input: { name: task_type, args: input }, inputError: null }
  const outcome = await runHarnessTool(run, workflowTool, call)
  if (!outcome.ok) throw new RunFailure(`workflow failed: ${outcome.error}`)
  const replied = await replyWithOutput(run, outcome.output)
  if ('output' in replied) return replied.output
  throw new RunFailure(`a workflow cannot change its reply. ${replied.note}`)
}
