import type { OpenRequest } from '../../../approvals/policy/gated-request.ts'
import type { Ctx } from '../../../platform/ctx/ctx.ts'
import type { ApprovalRow, EffectRow } from '../../../platform/store/tables.ts'
import { SERVER_KEY_PREFIX } from './relay-server-question.ts'
import { askPerson } from './ask-person.ts'
import type { TaskRun } from '../session/task-run.ts'

const KEY_PREFIX = 'done:'

/** The service or a server asked this question, not the agent. */
export const isOwnQuestion = ({ key }: OpenRequest): boolean =>
  key.startsWith(KEY_PREFIX) || key.startsWith(SERVER_KEY_PREFIX)

/**
 * Asks the team whether an action happened whose outcome is unknown; null if they give no answer. The question contains
 * the time, so a second unknown outcome of the same action is a new question.
 */
export async function confirmUnknownEffect(
  ctx: Ctx,
  run: TaskRun,
  approval: ApprovalRow,
  { connection, finished_at }: EffectRow,
): Promise<boolean | null> {
  const question =
    `The service sent '${approval.action}' through the connection '${connection}', but the outcome is unknown since ` +
    `${finished_at} (approval ${approval.id}). Was it done? With 'not_done' the service sends it once more.`
  const key = `${KEY_PREFIX}${approval.id} ${finished_at}`
  const { answer } = await askPerson(ctx, run, { question, options: ['done', 'not_done'], to: 'team' }, key)
  return answer === null ? null : answer === 'done'
}
