import type { Grant } from '../../../connections/actions/grants.ts'
import type { TaskType, Wedge } from '../../../platform/contract/wedge/wedge-manifest.ts'
import type { FileRow, TaskRow } from '../../../platform/store/tables.ts'
import type { TaskConstraints } from '../../../work/tasks/constraints.ts'
import { parseTaskConstraints } from '../../../work/tasks/view.ts'
import type { CellKind } from '../cells/agent-cell.ts'
import type { AgentProgram } from '../cells/agent-program.ts'
import { listGatePatterns } from '../requests/gate-patterns.ts'
import type { StoredRun } from '../resume/stored-run.ts'

/** What is read before a run starts. */
export interface RunSetup {
  wedge: Wedge
  type: TaskType
  grant: Grant
  /** The files that the agent may read. */
  files: FileRow[]
  /** The program of a custom agent. */
  program: AgentProgram | null
  /** A run that does not share its cell (`harness`) makes a process wait while it waits. */
  cellKind: CellKind
}

/** What does not change during a run. */
export interface RunFacts extends RunSetup {
  task: TaskRow
  taskId: string
  projectId: string
  epoch: number
  taskType: string
  constraints: TaskConstraints
  /** A tool whose name contains one of these must pass the gate. */
  gatePatterns: string[]
  /** The run continues after the death of its replica even if it does not wait. */
  isResumable: boolean
  /** The name of the run in its cell. A run that continues has another one, so late lines of the earlier run are ignored. */
  cellRunId: string
}

export function toRunFacts(task: TaskRow, setup: RunSetup, { brief }: Pick<StoredRun, 'brief'>): RunFacts {
  const { wedge, type, files } = setup
  return {
    ...setup,
    task,
    taskId: task.id,
    projectId: task.project_id,
    epoch: task.epoch,
    taskType: task.task_type,
    constraints: parseTaskConstraints(task),
    // A run that continues keeps the files that it knew.
    files: brief ? files.filter(({ id }) => brief.files.some((file) => file.id === id)) : files,
    gatePatterns: listGatePatterns(wedge.manifest),
    isResumable: type.harness.resume,
    cellRunId: `${task.id}.${task.epoch}`,
  }
}
