import { isJsonObject, type Json } from '../base/json.ts'
import type { EventRow } from '../store/tables.ts'

const MAX_STEPS = 10
const MAX_STEP_CHARACTERS = 200

/** What the agent said and did in one line each, oldest first. Calls without a result are left out: one of them asks. */
export function describeSteps(
  newestFirst: readonly Pick<EventRow, 'type' | 'ts' | 'data'>[],
): { at: string; text: string }[] {
  const results = new Map<Json | undefined, boolean>()
  const steps: { at: string; text: string }[] = []
  for (const { type, ts: at, data: json } of newestFirst) {
    const data: Json = JSON.parse(json)
    if (!isJsonObject(data)) continue
    if (type === 'tool.result') results.set(data.call_id, data.ok === true)
    if (type === 'tool.called' && results.has(data.call_id)) {
      const failed = results.get(data.call_id) ? '' : ' (failed)'
      steps.push({ at, text: `${oneLine(`${textOf(data.tool)} ${JSON.stringify(data.input)}`)}${failed}` })
    }
    // A run that leaves its process or continues is not something that the agent does.
    if (type === 'progress' && data.state === undefined) steps.push({ at, text: oneLine(textOf(data.text)) })
  }
  return steps.slice(0, MAX_STEPS).toReversed()
}

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '')

function oneLine(text: string): string {
  const line = text.replaceAll(/[\p{C}\s]+/gu, ' ').trim()
  return line.length > MAX_STEP_CHARACTERS ? `${line.slice(0, MAX_STEP_CHARACTERS - 1)}…` : line
}
