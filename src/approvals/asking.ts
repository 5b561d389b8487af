import type { Json } from '../base/json.ts'
import type { LateAbort } from '../base/late-abort.ts'
import type { Wedge } from '../base/wedge.ts'
import type { Connection } from '../connections/rows.ts'
import type { Constraints } from '../tasks/clamp.ts'

/** The run that asks: what the gate needs to know of it. */
export interface AskingRun {
  taskId: string
  epoch: number
  projectId: string
  wedge: Wedge
  taskType: string
  constraints: Constraints
  /** Aborted when the run is ended from outside. */
  over: LateAbort
}

export interface GatedRequest {
  action: string
  payload: Json
  path: 'action' | 'tool'
  risk: string
  /** Through which it would go; null on the tool path. */
  connection: Pick<Connection, 'id' | 'name'> | null
}
