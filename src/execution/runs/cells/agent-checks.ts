import { findHiddenProgram } from '../../../platform/contract/wedge/declared-agents.ts'
import type { FileProblem, Wedge } from '../../../platform/contract/wedge/wedge-manifest.ts'
import type { Ctx } from '../../../platform/ctx/ctx.ts'
import { createLoop, type Loop } from '../../../platform/ctx/loop.ts'
import { type AgentProgram, findAgentProgram } from './agent-program.ts'
import { type TrialOptions, tryAgent } from './agent-trial.ts'

const CHECK_INTERVAL_MS = 1_000
/** Installed packages are not watched, so an agent with a problem is checked again from time to time. */
const REPEAT_MS = 60_000

/**
 * Finds out at the start, and after each change of a wedge, whether its agents can be started and give an output. What is
 * wrong becomes a problem of the wedge, whose other task types work all the same. A trial without a
 * sandbox could have effects, so nothing is checked without one.
 */
export function createAgentChecks(options: CheckOptions): Loop {
  const { ctx, driver } = options
  const { clock, log } = ctx.world
  const checked = new WeakMap<Wedge, WedgeCheck>()
  const checkAll = async (stopping: AbortSignal) => {
    if (driver.kind === 'process') return
    const due = ctx.wedges.all().flatMap((wedge) => {
      const check = checked.get(wedge) ?? { agents: listAgents(ctx, wedge), at: null }
      checked.set(wedge, check)
      return isDue(check, clock.now()) ? { wedge, check } : []
    })
    // First for all of them, because it takes no time.
    for (const { wedge, check } of due) reportHiddenPrograms(options, wedge, check)
    for (const { wedge, check } of due) await reportTrials(options, wedge, check, stopping)
  }
  return createLoop(clock, CHECK_INTERVAL_MS, checkAll, (err) => log.error({ err }, 'agents could not be checked'))
}

interface CheckOptions extends TrialOptions {
  /** Shows the problems. */
  library: { setAgentProblems(wedge: Wedge, problems: FileProblem[]): void }
}

/** The agents of one version of a wedge, and when they were checked last. */
interface WedgeCheck {
  agents: CheckedAgent[]
  at: number | null
}

interface CheckedAgent {
  /** The folder as the manifest names it. */
  dir: string
  taskType: string
  program: AgentProgram
  /** It was started once. */
  isTried: boolean
  problem: string | null
}

const isDue = ({ agents, at }: WedgeCheck, now: number): boolean =>
  at === null || (now - at >= REPEAT_MS && agents.some(({ problem }) => problem !== null))

/** Task types that start the same program are checked once. */
function listAgents({ config }: Ctx, wedge: Wedge): CheckedAgent[] {
  const agents = new Map<string, CheckedAgent>()
  for (const [taskType, type] of Object.entries(wedge.manifest.task_types)) {
    const { agent } = type.harness
    const program = agent && findAgentProgram(config, wedge, type)
    const key = JSON.stringify(agent)
    if (program && !agents.has(key))
      agents.set(key, { dir: agent.dir, taskType, program, isTried: false, problem: null })
  }
  return [...agents.values()]
}

function reportHiddenPrograms(options: CheckOptions, wedge: Wedge, check: WedgeCheck): void {
  const { ctx } = options
  check.at = ctx.world.clock.now()
  for (const agent of check.agents) {
    const { dir, command } = agent.program
    const hidden = findHiddenProgram(dir, command, ctx.world.env('PATH') ?? '')
    if (hidden !== null) report(options, wedge, check, agent, hidden)
  }
}

async function reportTrials(
  options: CheckOptions,
  wedge: Wedge,
  check: WedgeCheck,
  stopping: AbortSignal,
): Promise<void> {
  const { ctx } = options
  for (const agent of check.agents) {
    // Only agents with a problem are started again, because each start takes memory and time.
    if (agent.isTried && agent.problem === null) continue
    const { dir, command } = agent.program
    const isCurrent = ctx.wedges.get(wedge.slug) === wedge
    if (stopping.aborted || !isCurrent || findHiddenProgram(dir, command, ctx.world.env('PATH') ?? '')) continue
    const problem = await tryAgent(options, wedge, agent.taskType, agent.program, stopping)
    if (stopping.aborted) return
    agent.isTried = true
    report(options, wedge, check, agent, problem)
  }
}

function report(
  { ctx, library }: CheckOptions,
  wedge: Wedge,
  check: WedgeCheck,
  agent: CheckedAgent,
  problem: string | null,
): void {
  if (agent.problem === problem) return
  agent.problem = problem
  const name = `agent of '${wedge.slug}/${agent.taskType}'`
  if (problem === null) ctx.world.log.info(`${name}: works now`)
  else ctx.world.log.warn(`${name}: ${problem}`)
  const problems = check.agents.flatMap(({ dir, program: { command }, problem: message }) =>
    message === null ? [] : { file: dir, line: 1, message: `${dir} does not work with '${command}': ${message}` },
  )
  library.setAgentProblems(wedge, problems)
}
