import type { Json, JsonObject } from '../base/json.ts'
import type { Run } from './run.ts'

export interface Tool {
  name: string
  description: string
  /** The fields of the input; all those named in `required` must be there. */
  properties: JsonObject
  required: string[]
  run(run: Run, input: JsonObject): Promise<Outcome>
}

/** The model reads `output`, or `error` where there is none; the log gets `shown` when that is less. */
export type Outcome = { ok: true; output: Json; shown?: Json } | { ok: false; error: string; output?: Json }

export function failed(error: string): Outcome {
  return { ok: false, error }
}
