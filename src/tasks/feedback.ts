import { z } from 'zod'
import { audit } from '../audit/append.ts'
import { type Ctx, inTx } from '../ctx/ctx.ts'
import type { ProjectScope } from '../ctx/scope.ts'
import { appendNote } from '../events/append.ts'
import { json } from '../http/judge.ts'
import { recordFeedback, saysNothing } from '../knowledge/feedback.ts'
import type { Tasks } from '../store/tables.ts'

export const Feedback = z
  .object({
    rating: z.union([z.number(), z.string()]).optional(),
    correction: json.optional(),
    note: z.string().max(10_000).optional(),
  })
  .refine((feedback) => !saysNothing(feedback), "one of 'rating', 'correction' and 'note' is required")

/** The founder's word on a run: a note in its log, and knowledge for the next one. */
export function giveFeedback(ctx: Ctx, scope: ProjectScope, task: Tasks, feedback: z.infer<typeof Feedback>) {
  return inTx(ctx, async (tx) => {
    const knowledgeId = await recordFeedback(tx, scope, task, feedback)
    const { rating, note } = feedback
    await appendNote(tx, task.id, {
      source: 'task',
      knowledge_id: knowledgeId,
      ...(rating !== undefined && { rating }),
      ...(note !== undefined && { note }),
    })
    await audit(tx, task.project_id, scope.actor, 'task.feedback', task.id, { knowledge_id: knowledgeId })
    return { ok: true, knowledge_id: knowledgeId }
  })
}
