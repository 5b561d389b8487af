import type { Json } from '../base/json.ts'
import type { LazyAbort } from '../base/lazy-abort.ts'
import type { Connection } from '../connections/rows.ts'
import type { Wedge } from '../contract/wedge-manifest.ts'
import type { TaskConstraints } from '../tasks/constraints.ts'

/** What the gate needs to know of the run that asks for an approval. */
export interface GatedRun {
  taskId: string
  epoch: number
  projectId: string
  wedge: Wedge
  taskType: string
  constraints: TaskConstraints
  /** Aborted when the run is ended by a cancel, a rejection, an expiry or a lost lease. */
  over: LazyAbort
}

export interface GatedRequest {
  action: string
  payload: Json
  path: 'action' | 'tool'
  risk: string
  /** The connection that would send the action; null for a tool call, which the agent makes itself. */
  connection: Pick<Connection, 'id' | 'name'> | null
}
