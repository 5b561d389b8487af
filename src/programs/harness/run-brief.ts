import type { Json } from '../../platform/base/json.ts'
import { errorMessage } from '../../platform/base/error-message.ts'
import type { AgentLine } from '../../platform/contract/agent-protocol.ts'
import { runAgentShape } from './shape-agent.ts'
import { emitArtifacts } from './artifacts.ts'
import { runDecideShape } from './shape-decide.ts'
import { usesFiles, createRunFolder, outputFolder, removeRunFolder } from './run-folder.ts'
import { type HarnessRun, RunFailure } from './harness-run.ts'
import { runWorkflowShape } from './shape-workflow.ts'

/** Executes a brief and emits its lines; the last line is the output or the error. */
export async function runBrief(run: HarnessRun): Promise<void> {
  const last = await runToLastLine(run)
  if (usesFiles(run.brief)) {
    // The output matters more than the files: a failed delivery must not lose it.
    await deliverFiles(run).catch(() => {})
  }
  run.emit(last)
}

async function deliverFiles(run: HarnessRun): Promise<void> {
  try {
    await emitArtifacts(outputFolder(run.folder), run.emitAndDrain, run.brief.artifact_max_mb)
  } finally {
    removeRunFolder(run.folder)
  }
}

async function runToLastLine(run: HarnessRun): Promise<AgentLine> {
  try {
    if (usesFiles(run.brief)) createRunFolder(run.folder)
    return { output: await runShape(run) }
  } catch (error) {
    if (run.plane.over.isAborted) return { error: 'aborted' }
    if (error instanceof RunFailure) return { error: error.message }
    return { error: `agent failed: ${errorMessage(error)}` }
  }
}

async function runShape(run: HarnessRun): Promise<Json> {
  switch (run.brief.shape) {
    case 'agent':
      return runAgentShape(run)
    case 'decide':
      return runDecideShape(run)
    case 'workflow':
      return runWorkflowShape(run)
    default:
      throw new RunFailure("field 'shape' of the brief must be agent, decide or workflow")
  }
}
