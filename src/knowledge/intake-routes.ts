import { z } from 'zod'
import { audit } from '../audit/append.ts'
import { inTx } from '../ctx/ctx.ts'
import type { ProjectScope } from '../ctx/scope.ts'
import { type Finding, read, write, nameRoutes } from '../http/route.ts'
import { enabledWedgeAt, wedgeAt } from '../wedges/enabled.ts'
import { answerQuestion, dismissQuestion, findQuestion, intakeOf, MOST_SHOWN } from './intake.ts'

const question = z.object({
  id: z.string(),
  project_id: z.string(),
  question: z.string(),
  why: z.string().nullable(),
  kind: z.enum(['seed', 'gap']),
  status: z.enum(['open', 'answered', 'dismissed']),
  answer: z.string().nullable(),
  knowledge_id: z.string().nullable(),
  task_id: z.string().nullable(),
  asked: z.number().int().meta({ description: 'how often runs have missed it' }),
  created_at: z.string().nullable(),
})

export const intakeRoutes = nameRoutes({
  getIntake: read('/v1/wedges/:wedge/intake', {
    summary: 'What the wedge would like to know',
    answers: {
      200: z.object({
        wedge: z.string(),
        coverage: z.number().meta({ description: 'percent of the questions that are shown' }),
        questions: z
          .array(question)
          .meta({ description: `with the newest gaps, ${MOST_SHOWN} that runs or people touched` }),
      }),
    },
    find: ({ ctx, params }) => wedgeAt(ctx, params.wedge ?? ''),
    handle: ({ ctx, scope, subject }) => intakeOf(ctx.db, subject, scope.projectIds),
  }),

  answerIntakeQuestion: write('POST', '/v1/wedges/:wedge/intake/:question', {
    summary: 'Answer a question: the answer becomes knowledge',
    body: z.object({ answer: z.string().trim().min(1).max(100_000) }),
    answers: { 200: question },
    find: asked,
    handle: ({ ctx, scope, body, params, subject }) =>
      inTx(ctx, async (tx) => {
        const answered = await answerQuestion(tx, scope.actor, params.wedge ?? '', subject, body.answer)
        await audit(tx, scope.projectId, scope.actor, 'intake.answered', subject.id, {
          wedge: params.wedge ?? '',
          knowledge_id: answered.knowledge_id,
        })
        return answered
      }),
  }),

  dismissIntakeQuestion: write('POST', '/v1/wedges/:wedge/intake/:question/dismiss', {
    summary: 'Dismiss a question: it counts no more',
    answers: { 200: question },
    find: asked,
    handle: ({ ctx, scope, params, subject }) =>
      inTx(ctx, async (tx) => {
        const dismissed = await dismissQuestion(tx, params.wedge ?? '', subject)
        await audit(tx, scope.projectId, scope.actor, 'intake.dismissed', subject.id, { wedge: params.wedge ?? '' })
        return dismissed
      }),
  }),
})

async function asked({ ctx, scope, params }: Finding<ProjectScope>) {
  const wedge = await enabledWedgeAt(ctx, scope, params.wedge ?? '')
  return findQuestion(ctx.db, wedge, scope.projectId, params.question ?? '')
}
