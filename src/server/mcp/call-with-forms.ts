import { findApproval } from '../../approvals/requests/rows.ts'
import type { Json, JsonObject } from '../../platform/base/json.ts'
import { badRequest } from '../../platform/base/problem.ts'
import { inTx } from '../../platform/ctx/ctx.ts'
import { waitFor } from '../../platform/ctx/wait-for.ts'
import { callTool } from './call-tool.ts'
import { FormNeeded, formParams, NO_FORMS_YET } from './decision-form.ts'
import type { ToolCaller } from './define-tool.ts'
import { applyFormAnswer, formId, isFormId } from './form-answers.ts'
import type { MethodResult } from './protocol-revision.ts'
import { withinTime } from './wait-for-task.ts'

const POLL_MS = 700

/**
 * A tool call of a revision with a handshake: while it runs, the server sends its forms as requests of its own. The client
 * posts each answer in another request, which takes the decision; this call only learns that there was an answer.
 */
export async function callWithForms(
  caller: ToolCaller,
  params: JsonObject,
  send: (message: object) => void,
): Promise<MethodResult> {
  let forms = NO_FORMS_YET
  for (;;) {
    const called = await callTool({ ...caller, forms }, params)
    if (!(called instanceof FormNeeded)) return called
    const id = `${formId(called.approval)}.${Buffer.from(caller.ctx.world.random(9)).toString('hex')}`
    const isDecidedElsewhere = await waitForAnswer(caller, called, id, () =>
      send({ id, method: 'elicitation/create', params: formParams(called.approval) }),
    )
    if (isDecidedElsewhere) send({ method: 'notifications/cancelled', params: { requestId: id, reason: 'decided' } })
    forms = called.state
  }
}

/** Waits until the person answers, the time is over, or the approval is decided elsewhere: only then the result is true. */
async function waitForAnswer(
  caller: ToolCaller,
  { approval, waitUntil }: FormNeeded,
  id: string,
  show: () => void,
): Promise<boolean> {
  const { ctx } = caller
  const answered = new AbortController()
  const unsubscribe = ctx.changeHints.subscribe({ topic: 'form-answered', id }, () => answered.abort())
  show()
  const check = async () => {
    const row = await findApproval(ctx.db, [approval.project_id], approval.id)
    return row?.status === 'pending' ? null : true
  }
  const topic = { topic: 'project-changed' as const, id: approval.project_id }
  try {
    return await withinTime(caller, waitUntil, async (inTime) => {
      const signal = AbortSignal.any([inTime, answered.signal])
      const decided = await waitFor(ctx, { topic, signal, pollMs: POLL_MS, check })
      return decided === true && !answered.signal.aborted
    })
  } finally {
    unsubscribe()
  }
}

/** The answer to a form that this or another replica has sent. It counts also after the call has ended. */
export async function receiveFormAnswer(
  caller: Pick<ToolCaller, 'ctx' | 'scope'>,
  id: string,
  answer: Json | undefined,
): Promise<void> {
  if (!isFormId(id)) throw badRequest('there is no such form')
  try {
    await applyFormAnswer(caller, id, answer)
  } finally {
    await inTx(caller.ctx, async (tx) => tx.publishAfterCommit({ topic: 'form-answered', id }))
  }
}
