import type { JsonObject } from '../../../platform/base/json.ts'
import {
  actionRequest,
  PLANE_TOOLS,
  type PlaneToolRequest,
  readRequest,
} from '../../../platform/contract/plane-tools.ts'
import { type PlaneCallResult, callPlane, describeFailure, resultFields, toGateCall } from '../plane-client.ts'
import { pickFields, textField } from '../../../platform/base/json-fields.ts'
import { gateRefusal } from './tool-gate.ts'
import { type HarnessRun, RunFailure } from '../harness-run.ts'
import { toolFailure, type ToolOutcome, type HarnessTool } from './tool.ts'

const actTool: HarnessTool = {
  name: 'act',
  ...PLANE_TOOLS.act,
  run: (run, input) => performAction(run, PLANE_TOOLS.act.toRequest(input)),
}

export const workflowTool: HarnessTool = {
  name: 'workflow',
  ...PLANE_TOOLS.workflow,
  async run(run, input) {
    const result = await callInternal(run, PLANE_TOOLS.workflow.toRequest(input))
    if (!isSuccess(result)) return toolFailure(describeFailure(result))
    return { ok: true, output: resultFields(result).result ?? null }
  },
}

const askPersonTool: HarnessTool = {
  name: 'ask_person',
  ...PLANE_TOOLS.ask_person,
  async run(run, input) {
    const result = await callInternal(run, PLANE_TOOLS.ask_person.toRequest(input))
    // The task has ended: nobody answered in time, or a person cancelled it.
    if (result.status === 403) throw new RunFailure(`the question was not answered: ${describeFailure(result)}`)
    const outcome = toToolOutcome(result)
    // Clients may read this event, so it does not show the answer.
    return outcome.ok ? { ...outcome, shown: pickFields(resultFields(result), 'answered') } : outcome
  },
}

const skillReadTool: HarnessTool = {
  name: 'skill_read',
  ...PLANE_TOOLS.skill_read,
  async run(run, input) {
    const result = await callInternal(run, PLANE_TOOLS.skill_read.toRequest(input))
    const outcome = toToolOutcome(result)
    // The file is in the wedge, so the event does not repeat it.
    return outcome.ok ? { ...outcome, shown: pickFields(resultFields(result), 'skill', 'path', 'size') } : outcome
  },
}

/** A tool whose result is the response of the service. */
const plainTool = (name: 'read' | `records_${'get' | 'put' | 'list'}` | `case_${'get' | 'update'}` | 'report_gap') => {
  const spec = PLANE_TOOLS[name]
  const run: HarnessTool['run'] = async (of, input) => toToolOutcome(await callInternal(of, spec.toRequest(input)))
  return { name, ...spec, run } satisfies HarnessTool
}

/** Tools that consist of one request to the service. */
export const planeTools: HarnessTool[] = [
  actTool,
  plainTool('read'),
  workflowTool,
  plainTool('records_get'),
  plainTool('records_put'),
  plainTool('records_list'),
  plainTool('case_get'),
  plainTool('case_update'),
  skillReadTool,
  plainTool('report_gap'),
  askPersonTool,
]

export function postAction(run: HarnessRun, capability: string, body: JsonObject): Promise<ToolOutcome> {
  return performAction(run, actionRequest(capability, body))
}

/** Performs an action once a person or a rule has approved it. */
async function performAction(run: HarnessRun, request: PlaneToolRequest): Promise<ToolOutcome> {
  const result = await callInternal(run, request)
  // A rejected or expired approval ends the run: the model must not look for another way.
  if (result.status === 403) throw new RunFailure(`the action was refused: ${describeFailure(result)}`)
  const outcome = toToolOutcome(result)
  // Clients may read this event, so it does not show the approval.
  return outcome.ok ? { ...outcome, shown: pickFields(resultFields(result), 'status') } : outcome
}

export async function postRead(run: HarnessRun, capability: string, body: JsonObject): Promise<ToolOutcome> {
  return toToolOutcome(await callInternal(run, readRequest(capability, body)))
}

/** Stores a file, so that an action can send it. */
export async function postFile(run: HarnessRun, file: JsonObject): Promise<ToolOutcome> {
  return toToolOutcome(await callInternal(run, { method: 'POST', path: 'files', body: file }))
}

/** Sends the gate check along with the request, which saves a round trip. */
async function callInternal(
  { plane, pendingGateCheck: gate }: HarnessRun,
  { method, path, body }: PlaneToolRequest,
): Promise<PlaneCallResult> {
  const first = gate ? toGateCall(plane, gate.tool, gate.input) : undefined
  const result = await callPlane(plane, method, `/v1/internal/${path}`, body, first)
  if (result.first && gate) throw gateRefusal(result, gate.tool)
  return result
}

function isSuccess({ status }: PlaneCallResult): boolean {
  return status >= 200 && status < 300
}

/** `ok: false` in a 2xx response comes from upstream: the model gets the whole body, the event only the reason. */
function toToolOutcome(result: PlaneCallResult): ToolOutcome {
  if (!isSuccess(result)) return toolFailure(describeFailure(result))
  const fields = resultFields(result)
  const { ok, revise } = fields
  if (ok !== false) return { ok: true, output: result.body }
  if (revise === true) return { ok: false, error: 'a person sent it back', output: result.body }
  return { ok: false, error: textField(fields, 'error') || 'upstream failed', output: result.body }
}
