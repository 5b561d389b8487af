import { isJsonObject, type Json, type JsonObject } from '../../../platform/base/json.ts'
import { type ModelApi, PROVIDER_FORMATS } from '../../../platform/contract/providers/provider-formats.ts'
import { HttpResponse } from '../../../platform/http/route.ts'
import { textField } from '../../../platform/base/json-fields.ts'
import { setModelFailure, type ModelRun } from '../model-run.ts'
import { fillPlaceholders } from '../../../platform/contract/rehearsal.ts'
import { toOutputItems } from './rehearsed-items.ts'
import { REHEARSED_RESPONSES, type RehearsedResponse } from './rehearsed-response.ts'

const EVENT_STREAM_HEADERS = { 'content-type': 'text/event-stream; charset=utf-8' }

/**
 * Answers with the next turn of the wedge's rehearsal for this task type. The number of turns of the model in the request
 * tells which turn is next, so no state is kept. A rehearsal costs nothing.
 */
export function playModelRehearsal(run: ModelRun, api: ModelApi, body: JsonObject): HttpResponse {
  const format = PROVIDER_FORMATS[api]
  const played = format.listModelMessages(body).length
  const turn = findTurn(run, played)
  let last: Json | undefined
  const lookUp = (root: string) => {
    if (root === 'input') return run.input
    return root === 'last' ? (last ??= format.listToolResults(body).at(-1)?.value ?? null) : undefined
  }
  const content = toRehearsedContent(turn, `call_${played + 1}`, format.hasTool(body, 'finish'), lookUp)
  const reply = { turn: played + 1, ...content }
  if (reply.call) run.toolLog?.recordCalls([toToolCall(reply.call)])
  if (api === 'responses') run.outputItems.keep(toOutputItems(reply))
  if (body.stream !== true) return new HttpResponse(200, REHEARSED_RESPONSES[api].toWholeResponse(reply))
  // The whole stream is known, so it is sent in one write with a content length.
  return new HttpResponse(200, Buffer.from(REHEARSED_RESPONSES[api].toResponseStream(reply)), EVENT_STREAM_HEADERS)
}

const toToolCall = ({ id, name, input }: NonNullable<RehearsedResponse['call']>) => ({
  id,
  name,
  input: isJsonObject(input) ? input : { input },
  inputError: null,
})

function findTurn(run: ModelRun, played: number): JsonObject {
  const { wedge, taskType } = run
  const script = Object.hasOwn(wedge.rehearsals, taskType) ? wedge.rehearsals[taskType] : undefined
  if (script === undefined) {
    const remedy = `set SVC_MODEL or add rehearsals/${taskType}.json`
    throw setModelFailure(run, `wedge '${wedge.slug}' has no rehearsal for '${taskType}': ${remedy}`, 400)
  }
  const turns: unknown[] = Array.isArray(script) ? script : []
  // A refused output is repeated once: the task then fails because of the output and not because of a missing turn.
  const turn = turns[played] ?? turns.at(-1)
  if (isJsonObject(turn) && (played < turns.length || turn.call === undefined)) return turn
  const end = `has no turn ${played + 1}: it must end with an output`
  throw setModelFailure(run, `the rehearsal for '${taskType}' of wedge '${wedge.slug}' ${end}`, 400)
}

function toRehearsedContent(
  turn: JsonObject,
  id: string,
  hasFinish: boolean,
  lookUp: (root: string) => Json | undefined,
): Omit<RehearsedResponse, 'turn'> {
  const say = fillPlaceholders(textField(turn, 'say'), lookUp)
  const text = typeof say === 'string' ? say : JSON.stringify(say)
  if (isJsonObject(turn.call)) {
    const input = fillPlaceholders(turn.call.input ?? {}, lookUp)
    return { text, call: { id, name: textField(turn.call, 'tool'), input } }
  }
  if (turn.output === undefined) return { text, call: null }
  const output = fillPlaceholders(turn.output, lookUp)
  if (hasFinish) return { text, call: { id, name: 'finish', input: { output } } }
  // Without the finish tool the text is the output, so it must contain nothing else.
  return { text: typeof output === 'string' ? output : JSON.stringify(output), call: null }
}
