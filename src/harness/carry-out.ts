import type { Json } from '../base/json.ts'
import { messageOf } from '../base/message-of.ts'
import type { AgentLine } from '../base/protocol.ts'
import { work } from './agent.ts'
import { collectFiles } from './artifacts.ts'
import { RunFailed } from './conversation.ts'
import { decide } from './decide.ts'
import { handlesFiles, openFolder, outFolder, removeFolder } from './folder.ts'
import type { Run } from './run.ts'
import { runWorkflow } from './workflow.ts'

/** Does the job of the brief and writes its lines; the last one is the output or the error. */
export async function carryOut(run: Run): Promise<void> {
  const last = await ending(run)
  if (handlesFiles(run.brief)) {
    // The output counts more than the files beside it: trouble with them must not take it away.
    await handOverFiles(run).catch(() => {})
  }
  run.emit(last)
}

async function handOverFiles(run: Run): Promise<void> {
  try {
    await collectFiles(outFolder(run.folder), run.emitAndDrain)
  } finally {
    removeFolder(run.folder)
  }
}

async function ending(run: Run): Promise<AgentLine> {
  try {
    if (handlesFiles(run.brief)) openFolder(run.folder)
    return { output: await outputOf(run) }
  } catch (error) {
    if (run.plane.over.isAborted) return { error: 'aborted' }
    if (error instanceof RunFailed) return { error: error.message }
    return { error: `agent failed: ${messageOf(error)}` }
  }
}

async function outputOf(run: Run): Promise<Json> {
  switch (run.brief.shape) {
    case 'agent':
      return work(run)
    case 'decide':
      return decide(run)
    case 'workflow':
      return runWorkflow(run)
    default:
      throw new RunFailed('the brief names no known shape')
  }
}
