import { countRunBytes } from '../../../identity/limits/storage-usage.ts'
import type { Config } from '../../../platform/config/config.ts'
import type { NewEvent } from '../../../work/events/event-types.ts'
import type { EarlierRun } from '../resume/run-state.ts'
import type { TaskRun } from './task-run.ts'

/** What a run has used of its limits, in all its processes. */
export interface RunUsage {
  readCount: number
  gapCount: number
  /** What the run has stored as records, events and files. */
  storedBytes: number
  /** The working time in earlier processes. */
  workedMs: number
}

export function toRunUsage(earlier: Pick<EarlierRun, 'state'> | null): RunUsage {
  if (!earlier) return { readCount: 0, gapCount: 0, storedBytes: 0, workedMs: 0 }
  const { read_count, gap_count, stored_bytes, worked_ms } = earlier.state
  return { readCount: read_count, gapCount: gap_count, storedBytes: stored_bytes, workedMs: worked_ms }
}

/** The working time that this process may give the run. */
export const runtimeLeftMs = ({ facts, usage }: Pick<TaskRun, 'facts' | 'usage'>): number =>
  facts.constraints.max_runtime_s * 1000 - usage.workedMs

/** Writes an event to the log of the run, or ends the run if it may store no more. */
export function recordRunEvent(
  config: Config,
  { usage, log, ending }: Pick<TaskRun, 'usage' | 'log' | 'ending'>,
  event: NewEvent,
  size = JSON.stringify(event.data).length,
): void {
  if (countRunBytes(config, usage, size)) log.push(event, size)
  else ending.endWith({ kind: 'storage_full' })
}
