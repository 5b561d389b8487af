import { approveApproval } from '../../approvals/decisions/decide-approval.ts'
import { answerProblem } from '../../approvals/requests/question.ts'
import type { DecidableApproval } from '../../approvals/requests/rows.ts'
import { parseProposedPayload } from '../../approvals/requests/view.ts'
import { isJsonObject, type Json } from '../../platform/base/json.ts'
import { badRequest, unauthorized } from '../../platform/base/problem.ts'
import { findBrand } from '../../customers/brand/rows.ts'
import { appendAnswer } from '../../customers/threads/reply.ts'
import { findClient } from '../../customers/clients/rows.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import type { ClientScope } from '../../platform/ctx/scope.ts'
import { findTask } from '../../work/tasks/rows.ts'
import { describeAnswer } from './answer-text.ts'

/** A client's answer to a question. It is also a message in the thread of the task, which the team and later runs read. */
export async function answerQuestion(
  ctx: Ctx,
  scope: ClientScope,
  approval: DecidableApproval,
  answer: Json,
): Promise<void> {
  const preview = parseProposedPayload(approval)
  const problem = answerProblem(preview, answer)
  if (problem !== null) throw badRequest(`field 'answer' ${problem}`)
  const client = await findClient(ctx.db, [scope.projectId], scope.clientId)
  const task = await findTask(ctx.db, [scope.projectId], approval.task_id)
  if (!client || !task) throw unauthorized()
  const { language } = await findBrand(ctx.db, scope.projectId)
  const text = describeAnswer(answer, isJsonObject(preview) ? preview.schema : undefined, language)
  await approveApproval(ctx, scope, approval, { edited: { answer } }, (tx) => appendAnswer(tx, task, client, text))
}
