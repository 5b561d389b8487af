import type { GatedRun } from '../../../approvals/policy/gated-request.ts'
import type { Ctx } from '../../../platform/ctx/ctx.ts'
import { saveRequest } from '../resume/run-state.ts'
import type { TaskRun } from '../session/task-run.ts'
import { confirmUnknownEffect } from './confirm-unknown-effect.ts'
import { relayServerQuestion } from './relay-server-question.ts'

/** The run as the approvals see it. */
export function createGatedRun(ctx: Ctx, parts: Omit<TaskRun, 'gate'>): GatedRun {
  const { facts, usage, ending, workingTime, stored } = parts
  const gate: GatedRun = {
    ...facts,
    usage,
    over: ending.over,
    pendingRequests: new Set(),
    whileWorking: (work) => workingTime.whileWorking(work),
    whileWaiting: (wait) => workingTime.whileWaiting(wait),
    saveRequest: (tx, approval, request) => saveRequest(tx, parts, approval, request),
    // The bundled harness makes one request at a time, so it needs no earlier result when it waits.
    keepsResults: () => facts.isResumable || stored.checkpoint !== null,
    takeEarlierApproval: (key) => stored.takeEarlierApproval(key),
    askWhetherDone: (approval, effect) => confirmUnknownEffect(ctx, { ...parts, gate }, approval, effect),
    askForServer: (callId, connection) => (question) =>
      relayServerQuestion(ctx, { ...parts, gate }, { callId, connection }, question),
  }
  return gate
}
