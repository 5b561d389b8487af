import {
  DEFAULT_AGENT_MEMORY_MB,
  findHiddenProgram,
  findMissingFile,
} from '../../../platform/contract/wedge/declared-agents.ts'
import type { TaskType, Wedge } from '../../../platform/contract/wedge/wedge-manifest.ts'
import type { Config } from '../../../platform/config/config.ts'
import type { Ctx } from '../../../platform/ctx/ctx.ts'
import type { SandboxDriver } from '../../sandbox/driver.ts'

/** The program of a custom agent. */
export interface AgentProgram {
  /** The folder that the program sees and in which it starts. */
  dir: string | null
  command: string
  memoryMb: number
  /** The files of a wedge may change while the service runs; those of the deployment's agent may not. */
  isInWedge: boolean
}

/** The program that does the tasks of a type: that of the type, or that of the deployment. Null: the bundled agent. */
export function findAgentProgram(config: Config, wedge: Wedge, { harness }: TaskType): AgentProgram | null {
  const { agent, memory_mb: memoryMb = usualMemoryMb(config) } = harness
  if (!agent) return findDeploymentProgram(config, memoryMb)
  return { dir: wedge.agents[agent.dir]?.path ?? null, command: agent.command, memoryMb, isInWedge: true }
}

export function findDeploymentProgram(config: Config, memoryMb = usualMemoryMb(config)): AgentProgram | null {
  const { agentCommand, agentDir } = config
  return agentCommand === null ? null : { dir: agentDir, command: agentCommand, memoryMb, isInWedge: false }
}

const usualMemoryMb = ({ agentMaxMemoryMb }: Config): number => Math.min(DEFAULT_AGENT_MEMORY_MB, agentMaxMemoryMb)

/** A warm cell has the deployment's agent with the usual memory. */
export const fitsWarmCell = (config: Config, { isInWedge, memoryMb }: AgentProgram): boolean =>
  !isInWedge && memoryMb === usualMemoryMb(config)

/** Logs why the agent of the deployment cannot be started in the sandbox. A cell of the process driver sees all programs. */
export function warnAboutHiddenProgram({ config, world }: Ctx, driver: SandboxDriver): void {
  const program = findDeploymentProgram(config)
  if (!program || driver.kind === 'process') return
  const { dir, command } = program
  const problem = (dir && findMissingFile(dir, command)) ?? findHiddenProgram(dir, command, world.env('PATH') ?? '')
  if (problem) world.log.warn(`SVC_AGENT_COMMAND: ${problem}`)
}
