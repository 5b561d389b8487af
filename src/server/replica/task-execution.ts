import type { Loop } from '../../platform/ctx/loop.ts'
import { type Ctx, withRetryingStore } from '../../platform/ctx/ctx.ts'
import { openSandboxPlane, type SandboxPlane } from '../planes/sandbox-plane.ts'
import { createAgentChecks } from '../../execution/runs/cells/agent-checks.ts'
import { warnAboutHiddenProgram } from '../../execution/runs/cells/agent-program.ts'
import type { ReplicaLease } from '../../execution/runs/replicas/replica-lease.ts'
import { Runner } from '../../execution/runs/session/runner.ts'
import type { SandboxDriver } from '../../execution/sandbox/driver.ts'
import type { FolderLibrary } from '../../wedges/library/library.ts'
import { WedgePrograms } from '../../execution/workflows/wedge-programs.ts'
import { WorkflowRunner } from '../../execution/workflows/workflow-runner.ts'

/** The parts that execute tasks: the runner with its cells, the sandbox plane, workflows and the programs of wedges. */
export interface TaskExecution {
  driver: SandboxDriver
  runner: Runner
  /** Checks the agents of wedges from time to time. */
  checks: Loop
  workflowProcesses: () => number
  /** Call it when the runner has stopped. */
  closePrograms(): Promise<void>
  /** Call it when no request is open any more. */
  closeWorkflows(): Promise<void>
}

export async function openTaskExecution(
  ctx: Ctx & { wedges: FolderLibrary },
  driver: SandboxDriver,
  agentDir: string,
  lease: ReplicaLease,
): Promise<TaskExecution> {
  const workflows = new WorkflowRunner(ctx, driver, agentDir)
  const programs = new WedgePrograms(driver, agentDir)
  ctx.programStarter.start = (program, onLine) => programs.start(program, onLine)
  let plane: SandboxPlane
  const runner = new Runner(ctx, driver, agentDir, lease, {
    http: (request, response) => plane.http.onRequest(request, response),
    lines: (...call) => plane.pipe(...call),
  })
  plane = openSandboxPlane(withRetryingStore(ctx), runner, workflows)
  warnAboutHiddenProgram(ctx, driver)
  return {
    driver,
    runner,
    checks: createAgentChecks({ ctx, driver, agentDir, library: ctx.wedges }),
    workflowProcesses: () => workflows.processCount,
    closePrograms: () => programs.close(),
    closeWorkflows: () => workflows.close(),
  }
}
