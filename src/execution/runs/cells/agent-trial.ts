import { errorMessage } from '../../../platform/base/error-message.ts'
import { textField } from '../../../platform/base/json-fields.ts'
import type { Brief } from '../../../platform/contract/agent-protocol.ts'
import { exitMessage } from '../../../platform/contract/exit-message.ts'
import type { Wedge } from '../../../platform/contract/wedge/wedge-manifest.ts'
import { type AgentCell, type AgentCellOptions, openAgentCell } from './agent-cell.ts'
import type { AgentProgram } from './agent-program.ts'

export type TrialOptions = Pick<AgentCellOptions, 'ctx' | 'driver' | 'agentDir'>

/** A program that works longer without a sign has at least started. */
const TRIAL_MS = 20_000
const TRIAL_RUN = 'trial'

/**
 * Starts an agent once with the example input of its task type, in a sandbox whose tokens belong to no run. It works if it
 * writes a line of the agent protocol or sends a request to the service. Returns a sentence if it ends without either.
 */
export async function tryAgent(
  { ctx, driver, agentDir }: TrialOptions,
  wedge: Wedge,
  taskType: string,
  program: AgentProgram,
  stopping: AbortSignal,
): Promise<string | null> {
  const trial: Trial = { works: null, cell: null, cancelTimer: null }
  try {
    const cellOptions = { ctx, driver, agentDir, onRequest: () => trial.works?.(), cellIds: new WeakMap() }
    const cell = (trial.cell = await openAgentCell(cellOptions, 'custom', program))
    return await new Promise<string | null>((resolve) => {
      const works = (trial.works = () => resolve(null))
      trial.cancelTimer = ctx.world.clock.after(TRIAL_MS, works)
      if (stopping.aborted) works()
      stopping.addEventListener('abort', works, { once: true })
      cell.start(TRIAL_RUN, trialBrief(wedge, taskType, cell.socketPathInside), {
        onLine: (line) => (line.ended === true ? resolve(textField(line, 'error')) : works()),
        onExit: ({ signal, code, stderr }) => resolve(exitMessage(signal ?? `exit code ${code}`, stderr)),
      })
    })
  } catch (error) {
    return `the sandbox could not be started: ${errorMessage(error).slice(0, 500)}`
  } finally {
    trial.cancelTimer?.()
    if (trial.works) stopping.removeEventListener('abort', trial.works)
    await trial.cell?.close()
  }
}

interface Trial {
  /** Ends the trial without a problem. */
  works: (() => void) | null
  cell: AgentCell | null
  cancelTimer: (() => void) | null
}

function trialBrief(wedge: Wedge, taskType: string, socket: string | null): Brief {
  const { workflows, task_types } = wedge.manifest
  const input = task_types[taskType]?.example ?? wedge.examples[taskType] ?? {}
  return {
    ...emptyBrief(wedge.slug, taskType, socket),
    task: { id: 'task_trial', wedge: wedge.slug, task_type: taskType, input, constraints: {} },
    skills: wedge.skills,
    knowledge: wedge.knowledge,
    output_schema: task_types[taskType]?.output_schema ?? null,
    workflows,
  }
}

/** Its tokens belong to no run. */
export function emptyBrief(wedge: string, taskType: string, socket: string | null): Brief {
  return {
    v: 1,
    task: { id: 'task_trial', wedge, task_type: taskType, input: {}, constraints: {} },
    instructions: '',
    skills: [],
    knowledge: [],
    history: [],
    files: [],
    output_schema: null,
    strict_output: false,
    tools: [],
    connections: [],
    workflows: [],
    case: null,
    gate_patterns: [],
    shape: 'agent',
    steps: 1,
    temperature: null,
    model: { wire: 'openai', name: 'trial' },
    service: { socket, base_url: 'http://service', task_token: 'trial', gate_token: 'trial' },
  }
}
