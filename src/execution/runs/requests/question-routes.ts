import { QuestionRequest } from '../../../approvals/requests/question.ts'
import { nameRoutes } from '../../../platform/http/route.ts'
import { askPerson } from './ask-person.ts'
import { recordAnswer } from '../resume/run-state.ts'
import { sandboxRoute } from './sandbox-routes.ts'
import { PersonAnswerView } from './view.ts'

export const questionRoutes = nameRoutes({
  askPerson: sandboxRoute('POST', '/v1/internal/ask', {
    summary: 'Ask a person',
    description: 'Waits for the answer of the team, or of the client of the task. `answered` is false if they decline.',
    body: QuestionRequest,
    responses: { 200: PersonAnswerView },
    async handle({ ctx, scope: run, body }) {
      const answer = await askPerson(ctx, run, body)
      recordAnswer(run, answer.approval_id)
      return answer
    },
  }),
})
