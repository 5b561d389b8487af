import type { JsonObject } from '../base/json.ts'
import type { AgentLine, Brief } from '../contract/agent-protocol.ts'
import type { PlaneClient } from './plane-client.ts'

/** What a person or a rule is asked before a tool may run. */
export type GateCheck = { tool: string; input: JsonObject }

/** One run inside a cell. Runs share nothing but the process and its pipe. */
export interface HarnessRun {
  brief: Brief
  plane: PlaneClient
  /** For a tool that only asks the service: what the gate must be asked before that. */
  pendingGateCheck: GateCheck | null
  /** The run's own files; the folder exists only while the brief has tools for files or commands. */
  folder: string
  emit: (line: AgentLine) => void
  /** For large lines: resolves once the line has left the process. */
  emitAndDrain: (line: AgentLine) => Promise<void>
}

/** Ends the run: its message becomes the error line of the run. */
export class RunFailure extends Error {}
