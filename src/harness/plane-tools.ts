import type { JsonObject } from '../base/json.ts'
import { type PlaneCallResult, callPlane, describeFailure, resultFields, toGateCall } from './plane-client.ts'
import { pickFields, textField } from '../base/json-fields.ts'
import { gateRefusal } from './tool-gate.ts'
import { type HarnessRun, RunFailure } from './harness-run.ts'
import { toolFailure, type ToolOutcome, type HarnessTool } from './tool.ts'

const connectionProperty = {
  type: 'string',
  description: 'Name of the connection; may be left out when only one fits.',
}
const capabilityProperty = {
  type: 'string',
  description: 'What to use of it, such as the connection name or a tool of its toolkit.',
}
const collectionProperty = { type: 'string' }
const keyProperty = { type: 'string' }

const actTool: HarnessTool = {
  name: 'act',
  description:
    'Does something outside through a connection. It may wait until a person has approved the payload, perhaps with changes: go on from the payload in the answer, which is what was sent.',
  properties: {
    connection: connectionProperty,
    capability: capabilityProperty,
    payload: { type: 'object', description: 'Exactly what is to be sent.' },
  },
  required: ['capability', 'payload'],
  async run(run, input) {
    const answer = await postInternal(
      run,
      `actions/${segment(input, 'capability')}`,
      pickFields(input, 'connection', 'payload'),
    )
    // A rejected or expired approval is the end of the run, not something to work around.
    if (answer.status === 403) throw new RunFailure(`the action was refused: ${describeFailure(answer)}`)
    const outcome = toToolOutcome(answer)
    // The approval is the founder's matter; clients read this line too.
    return outcome.ok ? { ...outcome, shown: pickFields(resultFields(answer), 'status') } : outcome
  },
}

const readTool: HarnessTool = {
  name: 'read',
  description:
    'Reads through a connection without changing anything: a relative path, or the arguments of a read tool.',
  properties: {
    connection: connectionProperty,
    capability: capabilityProperty,
    path: { type: 'string' },
    arguments: { type: 'object' },
  },
  required: ['capability'],
  async run(run, input) {
    // Nobody offers a method; one that is named all the same goes on, so that the service refuses what is no GET.
    const body = pickFields(input, 'connection', 'path', 'arguments', 'method')
    return toToolOutcome(await postInternal(run, `reads/${segment(input, 'capability')}`, body))
  },
}

export const workflowTool: HarnessTool = {
  name: 'workflow',
  description: 'Calls a declared workflow: reliable code for a step that must not be guessed.',
  properties: { name: { type: 'string' }, args: { description: 'What the workflow takes.' } },
  required: ['name'],
  async run(run, input) {
    // A workflow that takes nothing is called without args; null is an argument like any other.
    const args = input.args === undefined ? {} : input.args
    const answer = await postInternal(run, `workflows/${segment(input, 'name')}`, { args })
    if (!isSuccess(answer)) return toolFailure(describeFailure(answer))
    return { ok: true, output: resultFields(answer).result ?? null }
  },
}

const recordsGetTool: HarnessTool = {
  name: 'records_get',
  description: 'Reads one stored record.',
  properties: { collection: collectionProperty, key: keyProperty },
  required: ['collection', 'key'],
  async run(run, input) {
    return toToolOutcome(await getInternal(run, `records/${segment(input, 'collection')}/${segment(input, 'key')}`))
  },
}

const recordsPutTool: HarnessTool = {
  name: 'records_put',
  description: 'Stores a record under its key, in place of an earlier one.',
  properties: { collection: collectionProperty, key: keyProperty, value: { description: 'Any JSON value.' } },
  required: ['collection', 'key', 'value'],
  async run(run, input) {
    const path = `records/${segment(input, 'collection')}/${segment(input, 'key')}`
    return toToolOutcome(await postInternal(run, path, { value: input.value ?? null }))
  },
}

const recordsListTool: HarnessTool = {
  name: 'records_list',
  description: 'Lists stored records, newest first; where compares fields of their values.',
  properties: {
    collection: collectionProperty,
    where: { type: 'object', description: 'Such as {"status":"open","amount":{"$gt":10}}.' },
    limit: { type: 'integer' },
    cursor: { type: 'string' },
  },
  required: ['collection'],
  async run(run, input) {
    const query = Object.entries(pickFields(input, 'where', 'limit', 'cursor')).map(
      ([name, value]) => `${name}=${encodeURIComponent(typeof value === 'string' ? value : JSON.stringify(value))}`,
    )
    const path = `records/${segment(input, 'collection')}`
    return toToolOutcome(await getInternal(run, query.length > 0 ? `${path}?${query.join('&')}` : path))
  },
}

const caseGetTool: HarnessTool = {
  name: 'case_get',
  description: 'Reads the case that this task belongs to.',
  properties: {},
  required: [],
  async run(run) {
    return toToolOutcome(await getInternal(run, 'case'))
  },
}

const caseUpdateTool: HarnessTool = {
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
    const body = pickFields(input, 'title', 'stage', 'data', 'status', 'note')
    return toToolOutcome(await callInternal(run, 'PUT', 'case', body))
  },
}

const reportGapTool: HarnessTool = {
  name: 'report_gap',
  description: 'Reports knowledge that is missing, as a question that the founder can answer.',
  properties: { question: { type: 'string' }, why: { type: 'string', description: 'What it is needed for.' } },
  required: ['question'],
  async run(run, input) {
    return toToolOutcome(await postInternal(run, 'knowledge/gap', pickFields(input, 'question', 'why')))
  },
}

/** Each asks the service for one thing, and does nothing else. */
export const planeTools: HarnessTool[] = [
  actTool,
  readTool,
  workflowTool,
  recordsGetTool,
  recordsPutTool,
  recordsListTool,
  caseGetTool,
  caseUpdateTool,
  reportGapTool,
]

function postInternal(run: HarnessRun, path: string, body: JsonObject): Promise<PlaneCallResult> {
  return callInternal(run, 'POST', path, body)
}

function getInternal(run: HarnessRun, path: string): Promise<PlaneCallResult> {
  return callInternal(run, 'GET', path)
}

/** The question for the gate goes along: one way to the service less. */
async function callInternal(
  { plane, pendingGateCheck: gate }: HarnessRun,
  method: string,
  path: string,
  body?: JsonObject,
): Promise<PlaneCallResult> {
  const first = gate ? toGateCall(plane, gate.tool, gate.input) : undefined
  const answer = await callPlane(plane, method, `/v1/internal/${path}`, body, first)
  if (answer.first && gate) throw gateRefusal(answer, gate.tool)
  return answer
}

function segment(input: JsonObject, key: string): string {
  return encodeURIComponent(textField(input, key))
}

function isSuccess({ status }: PlaneCallResult): boolean {
  return status >= 200 && status < 300
}

/** `ok: false` in a 2xx comes from upstream: the model reads the whole answer, the log only that it failed. */
function toToolOutcome(answer: PlaneCallResult): ToolOutcome {
  if (!isSuccess(answer)) return toolFailure(describeFailure(answer))
  const { ok, status } = resultFields(answer)
  if (ok !== false) return { ok: true, output: answer.body }
  const error = typeof status === 'number' ? `upstream answered with status ${status}` : 'upstream failed'
  return { ok: false, error, output: answer.body }
}
