import { z } from 'zod'
import { appendAuditEntry } from '../../audit/append.ts'
import { inTx } from '../../platform/ctx/ctx.ts'
import type { ProjectScope } from '../../platform/ctx/scope.ts'
import { defineRead, defineWrite, type FindInput, nameRoutes } from '../../platform/http/route.ts'
import { requireEnabledPathWedge, requirePathWedge } from '../library/enabled-wedges.ts'
import { answerIntakeQuestion, dismissIntakeQuestion, readIntake, requireIntakeQuestion } from './intake.ts'
import { IntakeQuestionView, IntakeView } from './view.ts'

export const intakeRoutes = nameRoutes({
  getIntake: defineRead('/v1/wedges/:wedge/intake', {
    summary: 'Read the intake questions of a wedge',
    description:
      "Questions of the wedge's authors, and those that agents asked because they lacked knowledge. `coverage` is the percentage of the shown ones that are answered.",
    responses: { 200: IntakeView },
    find: ({ ctx, params }) => requirePathWedge(ctx, params.wedge ?? ''),
    handle: ({ ctx, scope, subject }) => readIntake(ctx.db, subject, scope.projectIds),
  }),

  answerIntakeQuestion: defineWrite('POST', '/v1/wedges/:wedge/intake/:question', {
    summary: 'Answer an intake question',
    description: 'The answer becomes knowledge.',
    body: z.object({ answer: z.string().trim().min(1).max(100_000) }),
    responses: { 200: IntakeQuestionView },
    find: questionInScope,
    handle: ({ ctx, scope, body, params, subject }) =>
      inTx(ctx, async (tx) => {
        const answered = await answerIntakeQuestion(tx, scope.actor, params.wedge ?? '', subject, body.answer)
        await appendAuditEntry(tx, scope.projectId, scope.actor, 'intake.answered', subject.id, {
          wedge: params.wedge ?? '',
          knowledge_id: answered.knowledge_id,
        })
        return answered
      }),
  }),

  dismissIntakeQuestion: defineWrite('POST', '/v1/wedges/:wedge/intake/:question/dismiss', {
    summary: 'Dismiss an intake question',
    description: 'It no longer counts in the coverage.',
    responses: { 200: IntakeQuestionView },
    find: questionInScope,
    handle: ({ ctx, scope, params, subject }) =>
      inTx(ctx, async (tx) => {
        const dismissed = await dismissIntakeQuestion(tx, params.wedge ?? '', subject)
        await appendAuditEntry(tx, scope.projectId, scope.actor, 'intake.dismissed', subject.id, {
          wedge: params.wedge ?? '',
        })
        return dismissed
      }),
  }),
})

async function questionInScope({ ctx, scope, params }: FindInput<ProjectScope>) {
  const wedge = await requireEnabledPathWedge(ctx, scope, params.wedge ?? '')
  return requireIntakeQuestion(ctx.db, wedge, scope.projectId, params.question ?? '')
}
