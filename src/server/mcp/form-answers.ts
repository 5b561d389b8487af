import { payloadChanged } from '../../approvals/decisions/decide-approval.ts'
import { findApproval } from '../../approvals/requests/rows.ts'
import { isJsonObject, type Json } from '../../platform/base/json.ts'
import { badRequest, notFound } from '../../platform/base/problem.ts'
import type { ApprovalRow } from '../../platform/store/tables.ts'
import { decideFromMcp } from './decide.ts'
import { FormState, NO_FORMS_YET, parseFormContent } from './decision-form.ts'
import type { ToolCaller } from './define-tool.ts'

/**
 * The id of a form: the approval and the hash of the payload that it shows. The answer may arrive at another replica, or
 * after the call has ended, so the id has everything that the decision needs.
 */
export const formId = ({ id, payload_sha256 }: ApprovalRow): string => `${id}.${payload_sha256}`

/** Of the revisions with a handshake, followed by a number that is random for each time that it is shown. */
const FORM_ID = /^(apr_[0-9a-z]{26})\.([0-9a-f]{64})(\.[0-9a-f]{18})?$/

export const isFormId = (text: string): boolean => FORM_ID.test(text)

/** Takes the decision of a form that a person has sent. A form that was closed or declined changes nothing. */
export async function applyFormAnswer(
  { ctx, scope }: Pick<ToolCaller, 'ctx' | 'scope'>,
  form: string,
  answer: Json | undefined,
): Promise<void> {
  const [, id, hash] = FORM_ID.exec(form) ?? []
  if (!id) throw badRequest('there is no such form')
  if (!isJsonObject(answer) || answer.action !== 'accept') return
  const row = await findApproval(ctx.db, scope.projectIds, id)
  if (!row) throw notFound('approval')
  if (row.payload_sha256 !== hash) throw payloadChanged()
  await decideFromMcp(ctx, scope, id, parseFormContent(row, isJsonObject(answer.content) ? answer.content : {}))
}

/** The state of a call as an opaque text, which the client sends back. */
export const encodeFormState = (state: FormState): string => Buffer.from(JSON.stringify(state)).toString('base64url')

export function decodeFormState(text: Json | undefined): FormState {
  if (text === undefined) return NO_FORMS_YET
  const decoded = typeof text === 'string' ? Buffer.from(text, 'base64url').toString('utf8') : ''
  const parsed = FormState.safeParse(parseJson(decoded))
  if (!parsed.success) throw badRequest('params.requestState is not valid')
  return parsed.data
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
