import { isJsonObject, type Json, type JsonObject } from '../../../src/platform/base/json.ts'

export type RehearsalTurn = { say?: string; call?: { tool: string; input: JsonObject }; output?: Json }

export interface RehearsalTools {
  workflow: (name: string, args: JsonObject) => Promise<Json>
  act: (connection: string, capability: string, payload: JsonObject) => void
  /** Values by collection and key; the rehearsal changes a copy. */
  records: Record<string, Record<string, JsonObject>>
}

/** Plays a rehearsal with fake tools that respond like the real ones. An unresolved placeholder is an error. */
export async function playRehearsal(turns: RehearsalTurn[], input: Json, tools: RehearsalTools): Promise<Json> {
  const records = structuredClone(tools.records)
  let last: Json = null
  for (const [index, turn] of turns.entries()) {
    const values: JsonObject = { input, last }
    if (turn.say !== undefined) fillPlaceholders(turn.say, values)
    if (turn.output !== undefined) {
      if (index !== turns.length - 1) throw new Error('the output must be the last turn')
      return fillPlaceholders(turn.output, values)
    }
    // A turn that calls no tool would end the run of a real agent.
    if (!turn.call) throw new Error('a turn must call a tool or give the output')
    last = await callTool(turn.call.tool, objectOf(fillPlaceholders(turn.call.input, values)), { ...tools, records })
  }
  throw new Error('the rehearsal ends without an output')
}

async function callTool(tool: string, input: JsonObject, tools: RehearsalTools): Promise<Json> {
  const text = (field: string) => asText(input[field])
  const collection = tools.records[text('collection')] ?? {}
  switch (tool) {
    case 'workflow':
      return await tools.workflow(text('name'), objectOf(input['args']))
    case 'act':
      return perform(tools, text('connection'), text('capability'), objectOf(input['payload']))
    case 'records_put':
      tools.records[text('collection')] = { ...collection, [text('key')]: objectOf(input['value']) }
      return {}
    case 'records_get':
      return { key: text('key'), value: objectOf(collection[text('key')]) }
    case 'records_list':
      return { data: Object.entries(collection).map(([key, value]) => ({ key, value })) }
    case 'case_get':
    case 'case_update':
      return { id: 'case_1', stage: 'open' }
    default: {
      const [connection = '', name] = tool.split('__')
      if (name === undefined) throw new Error(`there is no tool '${tool}'`)
      return perform(tools, connection, `${connection}:${name}`, input)
    }
  }
}

/** The result of an approved action. */
function perform(tools: RehearsalTools, connection: string, capability: string, payload: JsonObject): Json {
  tools.act(connection, capability, payload)
  return { ok: true, status: 200, result: {}, payload, edited: false, approval_id: 'apr_1' }
}

function fillPlaceholders(value: Json, values: JsonObject): Json {
  if (Array.isArray(value)) return value.map((item) => fillPlaceholders(item, values))
  if (isJsonObject(value))
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fillPlaceholders(item, values)]))
  if (typeof value !== 'string') return value
  const whole = /^\{\{([^{}]+)\}\}$/.exec(value)?.[1]
  if (whole !== undefined) return resolvePlaceholder(whole, values)
  return value.replace(/\{\{([^{}]+)\}\}/g, (_, path: string) => asText(resolvePlaceholder(path, values)))
}

function resolvePlaceholder(path: string, values: JsonObject): Json {
  let found: Json | undefined = values
  for (const key of path.split('.')) found = isJsonObject(found) ? found[key] : undefined
  if (found === undefined) throw new Error(`the placeholder '${path}' has no value`)
  return found
}

const asText = (value: Json | undefined) => (typeof value === 'string' ? value : JSON.stringify(value))

function objectOf(value: Json | undefined): JsonObject {
  if (!isJsonObject(value)) throw new Error(`expected an object, not ${JSON.stringify(value)}`)
  return value
}
