import type { Json } from '../base/json.ts'
import type { LazyAbort } from '../base/lazy-abort.ts'
import type { Wedge } from '../contract/wedge-manifest.ts'
import type { Connection } from '../connections/rows.ts'
import type { TaskConstraints } from '../tasks/constraints.ts'

/** The run that asks: what the gate needs to know of it. */
export interface GatedRun {
  taskId: string
  epoch: number
  projectId: string
  wedge: Wedge
  taskType: string
  constraints: TaskConstraints
  /** Aborted when the run is ended from outside. */
  over: LazyAbort
}

export interface GatedRequest {
  action: string
  payload: Json
  path: 'action' | 'tool'
  risk: string
  /** Through which it would go; null on the tool path. */
  connection: Pick<Connection, 'id' | 'name'> | null
}
