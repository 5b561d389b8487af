import type { Json, JsonObject } from '../../../platform/base/json.ts'
import type { NamedTool } from '../../../platform/contract/connection-tool-names.ts'
import type { ToolName } from '../../../platform/contract/tool-names.ts'
import type { HarnessRun } from '../harness-run.ts'

export interface HarnessTool {
  name: ToolName
  description: string
  /** The schema of each input field; those named in `required` must be present. */
  properties: JsonObject
  required: string[]
  run(run: HarnessRun, input: JsonObject): Promise<ToolOutcome>
}

/** A tool of a granted connection, which brings its own schema. */
export interface ConnectionHarnessTool extends Omit<HarnessTool, 'name' | 'properties' | 'required'> {
  name: string
  schema: JsonObject
  target: NamedTool
}

export type CallableTool = HarnessTool | ConnectionHarnessTool

/** The model gets `output`, or `error` without an output; the event gets `shown` if it must not contain the output. */
export type ToolOutcome = { ok: true; output: Json; shown?: Json } | { ok: false; error: string; output?: Json }

export function toolFailure(error: string): ToolOutcome {
  return { ok: false, error }
}
