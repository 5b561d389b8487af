import { z } from 'zod'
import { appendAuditEntry } from '../../audit/append.ts'
import { type Ctx, inTx } from '../../platform/ctx/ctx.ts'
import type { ProjectScope } from '../../platform/ctx/scope.ts'
import { appendFeedbackEvent } from '../events/append-events.ts'
import { jsonValue } from '../../platform/http/validate.ts'
import { isEmptyFeedback, recordTaskFeedback } from '../../wedges/knowledge/feedback.ts'
import type { TaskRow } from '../../platform/store/tables.ts'

export const TaskFeedbackInput = z
  .object({
    rating: z.union([z.number(), z.string()]).optional(),
    correction: jsonValue.optional(),
    note: z.string().max(10_000).optional(),
  })
  .refine((feedback) => !isEmptyFeedback(feedback), "one of 'rating', 'correction' and 'note' is required")

/** Saves feedback on a run as an event in its log and as knowledge for later runs. */
export function giveTaskFeedback(
  ctx: Ctx,
  scope: ProjectScope,
  task: TaskRow,
  feedback: z.infer<typeof TaskFeedbackInput>,
) {
  return inTx(ctx, async (tx) => {
    const knowledgeId = await recordTaskFeedback(tx, scope, task, feedback)
    const { rating, note } = feedback
    await appendFeedbackEvent(tx, task.id, {
      source: 'task',
      knowledge_id: knowledgeId,
      ...(rating !== undefined && { rating }),
      ...(note !== undefined && { note }),
    })
    await appendAuditEntry(tx, task.project_id, scope.actor, 'task.feedback', task.id, { knowledge_id: knowledgeId })
    return { ok: true, knowledge_id: knowledgeId }
  })
}
