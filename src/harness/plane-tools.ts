import type { JsonObject } from '../base/json.ts'
import { type Answer, callPlane, failureOf, fieldsOf, gateAsk } from './call.ts'
import { RunFailed } from './conversation.ts'
import { pick, textOf } from '../base/fields.ts'
import { stopped } from './gate.ts'
import type { Run } from './run.ts'
import { failed, type Outcome, type Tool } from './tool.ts'

const connection = { type: 'string', description: 'Name of the connection; may be left out when only one fits.' }
const capability = {
  type: 'string',
  description: 'What to use of it, such as the connection name or a tool of its toolkit.',
}
const collection = { type: 'string' }
const key = { type: 'string' }

const act: Tool = {
  name: 'act',
  description:
    'Does something outside through a connection. It may wait until a person has approved the payload, perhaps with changes: go on from the payload in the answer, which is what was sent.',
  properties: { connection, capability, payload: { type: 'object', description: 'Exactly what is to be sent.' } },
  required: ['capability', 'payload'],
  async run(run, input) {
    const answer = await post(run, `actions/${segment(input, 'capability')}`, pick(input, 'connection', 'payload'))
    // A rejected or expired approval is the end of the run, not something to work around.
    if (answer.status === 403) throw new RunFailed(`the action was refused: ${failureOf(answer)}`)
    const outcome = outcomeOf(answer)
    // The approval is the founder's matter; clients read this line too.
    return outcome.ok ? { ...outcome, shown: pick(fieldsOf(answer), 'status') } : outcome
  },
}

const read: Tool = {
  name: 'read',
  description:
    'Reads through a connection without changing anything: a relative path, or the arguments of a read tool.',
  properties: { connection, capability, path: { type: 'string' }, arguments: { type: 'object' } },
  required: ['capability'],
  async run(run, input) {
    // Nobody offers a method; one that is named all the same goes on, so that the service refuses what is no GET.
    const body = pick(input, 'connection', 'path', 'arguments', 'method')
    return outcomeOf(await post(run, `reads/${segment(input, 'capability')}`, body))
  },
}

export const workflowTool: Tool = {
  name: 'workflow',
  description: 'Calls a declared workflow: reliable code for a step that must not be guessed.',
  properties: { name: { type: 'string' }, args: { description: 'What the workflow takes.' } },
  required: ['name'],
  async run(run, input) {
    // A workflow that takes nothing is called without args; null is an argument like any other.
    const args = input.args === undefined ? {} : input.args
    const answer = await post(run, `workflows/${segment(input, 'name')}`, { args })
    if (!succeeded(answer)) return failed(failureOf(answer))
    return { ok: true, output: fieldsOf(answer).result ?? null }
  },
}

const recordsGet: Tool = {
  name: 'records_get',
  description: 'Reads one stored record.',
  properties: { collection, key },
  required: ['collection', 'key'],
  async run(run, input) {
    return outcomeOf(await get(run, `records/${segment(input, 'collection')}/${segment(input, 'key')}`))
  },
}

const recordsPut: Tool = {
  name: 'records_put',
  description: 'Stores a record under its key, in place of an earlier one.',
  properties: { collection, key, value: { description: 'Any JSON value.' } },
  required: ['collection', 'key', 'value'],
  async run(run, input) {
    const path = `records/${segment(input, 'collection')}/${segment(input, 'key')}`
    return outcomeOf(await post(run, path, { value: input.value ?? null }))
  },
}

const recordsList: Tool = {
  name: 'records_list',
  description: 'Lists stored records, newest first; where compares fields of their values.',
  properties: {
    collection,
    where: { type: 'object', description: 'Such as {"status":"open","amount":{"$gt":10}}.' },
    limit: { type: 'integer' },
    cursor: { type: 'string' },
  },
  required: ['collection'],
  async run(run, input) {
    const query = Object.entries(pick(input, 'where', 'limit', 'cursor')).map(
      ([name, value]) => `${name}=${encodeURIComponent(typeof value === 'string' ? value : JSON.stringify(value))}`,
    )
    const path = `records/${segment(input, 'collection')}`
    return outcomeOf(await get(run, query.length > 0 ? `${path}?${query.join('&')}` : path))
  },
}

const caseGet: Tool = {
  name: 'case_get',
  description: 'Reads the case that this task belongs to.',
  properties: {},
  required: [],
  async run(run) {
    return outcomeOf(await get(run, 'case'))
  },
}

const caseUpdate: Tool = {
  name: 'case_update',
  description: 'Changes the case that this task belongs to; what is left out stays.',
  properties: {
    title: { type: 'string' },
    stage: { type: 'string' },
    data: { type: 'object' },
    status: { type: 'string', enum: ['open', 'closed'] },
    note: { type: 'string' },
  },
  required: [],
  async run(run, input) {
    const body = pick(input, 'title', 'stage', 'data', 'status', 'note')
    return outcomeOf(await call(run, 'PUT', 'case', body))
  },
}

const reportGap: Tool = {
  name: 'report_gap',
  description: 'Reports knowledge that is missing, as a question that the founder can answer.',
  properties: { question: { type: 'string' }, why: { type: 'string', description: 'What it is needed for.' } },
  required: ['question'],
  async run(run, input) {
    return outcomeOf(await post(run, 'knowledge/gap', pick(input, 'question', 'why')))
  },
}

/** Each asks the service for one thing, and does nothing else. */
export const planeTools: Tool[] = [
  act,
  read,
  workflowTool,
  recordsGet,
  recordsPut,
  recordsList,
  caseGet,
  caseUpdate,
  reportGap,
]

function post(run: Run, path: string, body: JsonObject): Promise<Answer> {
  return call(run, 'POST', path, body)
}

function get(run: Run, path: string): Promise<Answer> {
  return call(run, 'GET', path)
}

/** The question for the gate goes along: one way to the service less. */
async function call({ plane, gate }: Run, method: string, path: string, body?: JsonObject): Promise<Answer> {
  const first = gate ? gateAsk(plane, gate.tool, gate.input) : undefined
  const answer = await callPlane(plane, method, `/v1/internal/${path}`, body, first)
  if (answer.first && gate) throw stopped(answer, gate.tool)
  return answer
}

function segment(input: JsonObject, key: string): string {
  return encodeURIComponent(textOf(input, key))
}

function succeeded({ status }: Answer): boolean {
  return status >= 200 && status < 300
}

/** `ok: false` in a 2xx comes from upstream: the model reads the whole answer, the log only that it failed. */
function outcomeOf(answer: Answer): Outcome {
  if (!succeeded(answer)) return failed(failureOf(answer))
  const { ok, status } = fieldsOf(answer)
  if (ok !== false) return { ok: true, output: answer.body }
  const error = typeof status === 'number' ? `upstream answered with status ${status}` : 'upstream failed'
  return { ok: false, error, output: answer.body }
}
