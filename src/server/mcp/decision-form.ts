import { z } from 'zod'
import { describeAction, parseTool } from '../../approvals/policy/action-text.ts'
import { DECISIONS } from '../../approvals/decisions/apply-decision.ts'
import { approvedPayload, parseProposedPayload } from '../../approvals/requests/view.ts'
import { isJsonObject, type Json, type JsonObject, ownField } from '../../platform/base/json.ts'
import { badRequest } from '../../platform/base/problem.ts'
import type { ApprovalRow } from '../../platform/store/tables.ts'
import type { McpDecision } from './decide.ts'

/** What a call has done in its earlier rounds. The client sends it back, so everything in it is checked again. */
export const FormState = z.object({
  task_id: z.string().max(100).optional(),
  /** The approvals whose form was shown; none is shown twice. */
  asked: z.array(z.string().max(100)).max(20),
})
export type FormState = z.output<typeof FormState>

export const NO_FORMS_YET: FormState = { asked: [] }
/** Clients stop after ten rounds of one call. */
const MAX_FORMS_PER_CALL = 8

/** The form that a person has to answer, and the state with which the call goes on. */
export class FormNeeded {
  readonly approval: ApprovalRow
  readonly state: FormState
  /** A client that stays connected is answered at this time (in ms), even if the person has not answered. */
  readonly waitUntil: number
  constructor(approval: ApprovalRow, state: FormState, waitUntil: number) {
    this.approval = approval
    this.state = { ...state, asked: [...state.asked, approval.id] }
    this.waitUntil = waitUntil
  }
}

/** A form is for the team, has fields without nesting, and is shown once in a call. What is held waits for nobody. */
export function canShowForm(row: ApprovalRow, { asked }: FormState): boolean {
  if (row.held_until !== null || asked.includes(row.id) || asked.length >= MAX_FORMS_PER_CALL) return false
  return row.path !== 'question' || (row.client_id === null && questionFields(row) !== null)
}

const MAX_MESSAGE_CHARACTERS = 4_000
const MAX_TEXT_CHARACTERS = 10_000
const MAX_EDITABLE_FIELDS = 10

/** The parameters of `elicitation/create`. */
export function formParams(row: ApprovalRow) {
  const payload = parseProposedPayload(row)
  if (row.path === 'question') {
    const { properties, required } = questionFields(row) ?? { properties: {}, required: [] }
    const question = isJsonObject(payload) ? textOf(payload.question) : ''
    return { mode: 'form', message: question, requestedSchema: { type: 'object', properties, required } }
  }
  const properties = {
    decision: { type: 'string', title: 'Decision', enum: [...DECISIONS] },
    reason: { type: 'string', title: 'Reason', description: 'Required with revise: a note to the agent.' },
    ...Object.fromEntries(editableFields(row).map(([name, value]) => [EDITED + name, editField(name, value)])),
  }
  return {
    mode: 'form',
    message: describe(row),
    requestedSchema: { type: 'object', properties, required: ['decision'] },
  }
}

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : JSON.stringify(value ?? null))

/** What is asked for: the action, its risk and its payload. */
function describe(row: ApprovalRow): string {
  const payload = approvedPayload(row)
  const { text } = describeAction(parseTool(row), row, payload)
  const action = text ?? [row.connection, row.action].filter(Boolean).join(': ')
  const message = [`Approve this action? ${action}`, `Risk: ${row.risk}`, JSON.stringify(payload, null, 2)].join('\n')
  return message.length > MAX_MESSAGE_CHARACTERS ? `${message.slice(0, MAX_MESSAGE_CHARACTERS)}…` : message
}

const EDITED = 'edited_'
const ANSWER = 'answer_'

function editableFields(row: ApprovalRow): [string, string | number | boolean][] {
  const payload = approvedPayload(row)
  if (row.path !== 'action' || !isJsonObject(payload)) return []
  const editable = Object.entries(payload).flatMap(([name, value]): [string, string | number | boolean][] => {
    if (typeof value === 'string') return value.length <= MAX_TEXT_CHARACTERS ? [[name, value]] : []
    return typeof value === 'number' || typeof value === 'boolean' ? [[name, value]] : []
  })
  return editable.slice(0, MAX_EDITABLE_FIELDS)
}

const editField = (name: string, value: string | number | boolean) => ({
  type: typeof value,
  title: name,
  default: value,
})

/** The fields of a question; null if its answer has nested values, which a form cannot have. */
function questionFields(row: ApprovalRow): { properties: JsonObject; required: string[] } | null {
  const preview = parseProposedPayload(row)
  const { schema = null, options = null } = isJsonObject(preview) ? preview : {}
  const answer = { title: 'Answer', type: 'string' }
  if (Array.isArray(options)) return { properties: { answer: { ...answer, enum: options } }, required: ['answer'] }
  if (!isJsonObject(schema)) return { properties: { answer }, required: ['answer'] }
  if (isFlat(schema)) return { properties: { answer: { title: 'Answer', ...schema } }, required: ['answer'] }
  const { properties, required = [] } = schema
  if (!isJsonObject(properties) || !Object.values(properties).every(isFlat)) return null
  return {
    properties: Object.fromEntries(Object.entries(properties).map(([name, field]) => [ANSWER + name, field])),
    required: (Array.isArray(required) ? required : []).map((name) => ANSWER + textOf(name)),
  }
}

const isFlat = (schema: Json): boolean =>
  isJsonObject(schema) && ['string', 'number', 'integer', 'boolean'].includes(textOf(schema.type))

const FormAnswer = z.object({ decision: z.enum(DECISIONS), reason: z.string().max(MAX_TEXT_CHARACTERS).optional() })

/** The decision of a person who has sent the form. */
export function parseFormContent(row: ApprovalRow, content: JsonObject): McpDecision {
  const { payload_sha256 } = row
  if (row.path === 'question') return { decision: 'approve', edited: { answer: parseAnswer(content) }, payload_sha256 }
  const answer = FormAnswer.safeParse(content)
  if (!answer.success) throw badRequest(`field 'decision' must be one of ${DECISIONS.join(', ')}`)
  const { decision, reason } = answer.data
  const changed = editableFields(row).flatMap(([name, value]) => {
    const sent = ownField(content, EDITED + name)
    return sent === undefined || sent === value ? [] : [[name, sent] as const]
  })
  const edited = decision === 'approve' && changed.length > 0 ? { edited: Object.fromEntries(changed) } : {}
  return { decision, payload_sha256, ...edited, ...(reason && { reason }) }
}

function parseAnswer(content: JsonObject): Json {
  const answer = ownField(content, 'answer')
  if (answer !== undefined) return answer
  const fields = Object.entries(content).filter(([name]) => name.startsWith(ANSWER))
  return Object.fromEntries(fields.map(([name, value]) => [name.slice(ANSWER.length), value]))
}
