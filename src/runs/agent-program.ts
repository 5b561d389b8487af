import { DEFAULT_AGENT_MEMORY_MB, findHiddenProgram } from '../contract/declared-agents.ts'
import type { TaskType, Wedge } from '../contract/wedge-manifest.ts'
import type { Config } from '../config/config.ts'
import type { Ctx } from '../ctx/ctx.ts'
import type { SandboxDriver } from '../sandbox/driver.ts'

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
  const { agent, memory_mb: memoryMb = DEFAULT_AGENT_MEMORY_MB } = harness
  if (!agent) return findDeploymentProgram(config, memoryMb)
  return { dir: wedge.agents[agent.dir]?.path ?? null, command: agent.command, memoryMb, isInWedge: true }
}

export function findDeploymentProgram(
  { agentCommand, agentDir }: Config,
  memoryMb = DEFAULT_AGENT_MEMORY_MB,
): AgentProgram | null {
  return agentCommand === null ? null : { dir: agentDir, command: agentCommand, memoryMb, isInWedge: false }
}

/** Whether a warm cell fits: it has the deployment's agent with the usual memory. */
export const isUsualProgram = ({ isInWedge, memoryMb }: AgentProgram): boolean =>
  !isInWedge && memoryMb === DEFAULT_AGENT_MEMORY_MB

/** Logs, for each custom agent, why the sandbox cannot start it. A cell of the process driver sees all programs. */
export function warnAboutHiddenPrograms({ config, wedges, world }: Ctx, driver: SandboxDriver): void {
  if (driver.kind !== 'bwrap') return
  const warn = (name: string, { dir, command }: Pick<AgentProgram, 'dir' | 'command'>) => {
    const problem = findHiddenProgram(dir, command, world.env('PATH') ?? '')
    if (problem !== null) world.log.warn(`${name}: ${problem}`)
  }
  const shared = findDeploymentProgram(config)
  if (shared) warn('SVC_AGENT_COMMAND', shared)
  for (const wedge of wedges.all())
    for (const [name, type] of Object.entries(wedge.manifest.task_types)) {
      const program = type.harness.agent && findAgentProgram(config, wedge, type)
      if (program) warn(`agent of '${wedge.slug}/${name}'`, program)
    }
}
