import type { Json, JsonObject } from '../base/json.ts'
import type { ToolName } from '../contract/tool-names.ts'
import type { HarnessRun } from './harness-run.ts'

export interface HarnessTool {
  name: ToolName
  description: string
  /** The fields of the input; all those named in `required` must be there. */
  properties: JsonObject
  required: string[]
  run(run: HarnessRun, input: JsonObject): Promise<ToolOutcome>
}

/** The model reads `output`, or `error` where there is none; the log gets `shown` when that is less. */
export type ToolOutcome = { ok: true; output: Json; shown?: Json } | { ok: false; error: string; output?: Json }

export function toolFailure(error: string): ToolOutcome {
  return { ok: false, error }
}
