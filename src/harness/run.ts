import type { AgentLine, Brief } from '../base/protocol.ts'
import type { Plane } from './call.ts'

/** One run inside a cell. Runs share nothing but the process and its pipe. */
export interface Run {
  brief: Brief
  plane: Plane
  /** The run's own files; the folder exists only while the brief has tools for files or commands. */
  folder: string
  emit: (line: AgentLine) => void
  /** For large lines: resolves once the line has left the process. */
  emitAndDrain: (line: AgentLine) => Promise<void>
}
