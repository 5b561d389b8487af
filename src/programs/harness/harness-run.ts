import type { AgentLine, Brief } from '../../platform/contract/agent-protocol.ts'
import type { GateCheck } from '../../platform/contract/gate-check.ts'
import type { PlaneClient } from './plane-client.ts'

/** One run inside a cell. Runs share only the process and its pipe. */
export interface HarnessRun {
  brief: Brief
  plane: PlaneClient
  /** The gate check that a tool of the service sends along with its own request. */
  pendingGateCheck: GateCheck | null
  /** What an earlier process of the run wrote to the log after the last entry of the transcript. */
  logged: { step: number; called: Set<string>; returned: Set<string> }
  /** The files of the run; the folder exists only if the brief has tools for files or commands. */
  folder: string
  emit: (line: AgentLine) => void
  /** For large lines: resolves when the line has been written to the pipe. */
  emitAndDrain: (line: AgentLine) => Promise<void>
}

/** Ends the run: its message becomes the error line of the run. */
export class RunFailure extends Error {}
