import { oneLine } from '../../platform/base/text.ts'
import { isJsonObject, type Json, type JsonObject } from '../../platform/base/json.ts'
import type { EventRow } from '../../platform/store/tables.ts'

const MAX_STEPS = 10
const MAX_STEP_CHARACTERS = 200

type StepEvent = Pick<EventRow, 'type' | 'ts' | 'data'>

/** What the agent said and did in one line each, oldest first. Calls without a result are left out: one of them asks. */
export function describeSteps(newestFirst: readonly StepEvent[]): { at: string; text: string }[] {
  const isOk = new Map<Json | undefined, boolean>()
  const steps: { at: string; text: string }[] = []
  let said = ''
  for (const { type, ts: at, data: json } of newestFirst) {
    const data: Json = JSON.parse(json)
    if (!isJsonObject(data)) continue
    // An agent may send what it says in many pieces.
    said = type === 'token.delta' ? textOf(data.text) + said : ''
    if (type === 'tool.result') isOk.set(data.call_id, data.ok === true)
    const text = type === 'token.delta' ? said : stepText(type, data, isOk)
    const isNextPiece = type === 'token.delta' && said !== textOf(data.text)
    if (isNextPiece) steps.pop()
    if (text !== null) steps.push({ at, text })
  }
  return steps
    .slice(0, MAX_STEPS)
    .toReversed()
    .map(({ at, text }) => ({ at, text: toStepLine(text) }))
}

function stepText(type: string, data: JsonObject, isOk: ReadonlyMap<Json | undefined, boolean>): string | null {
  // A text with a state is about the run, and not something that the agent does.
  if (type === 'progress') return data.state === undefined ? textOf(data.text) : null
  const ok = type === 'tool.called' ? isOk.get(data.call_id) : undefined
  if (ok === undefined) return null
  return `${textOf(data.tool)}${ok ? '' : ' (failed)'} ${JSON.stringify(data.input)}`
}

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '')

function toStepLine(text: string): string {
  const line = oneLine(text)
  return line.length > MAX_STEP_CHARACTERS ? `${line.slice(0, MAX_STEP_CHARACTERS - 1)}…` : line
}
