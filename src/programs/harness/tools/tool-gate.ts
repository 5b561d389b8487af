import type { GateCheck } from '../../../platform/contract/gate-check.ts'
import { type HarnessRun, RunFailure } from '../harness-run.ts'
import { type PlaneCallResult, sendToPlane, describeFailure, toGateCall } from '../plane-client.ts'

/** Throws unless the gate allows the call. A refusal ends the run. */
export async function passGate({ plane }: HarnessRun, { tool, input }: GateCheck): Promise<void> {
  const result = await sendToPlane(plane, toGateCall(plane, tool, input))
  if (result.status !== 200) throw gateRefusal(result, tool)
}

/** The error for a response of the gate that does not allow the call. */
export function gateRefusal(result: PlaneCallResult, tool: string): Error {
  if (result.status === 403) return new RunFailure(`the gate refused '${tool}': ${describeFailure(result)}`)
  if (result.status === 401) return new RunFailure('the run is over: its token is no longer valid')
  if (result.status === 409) return new Error(describeFailure(result))
  return new Error(`the gate did not answer: ${describeFailure(result)}`)
}
