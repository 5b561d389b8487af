import { isJsonObject, type Json, type JsonObject } from '../../../platform/base/json.ts'
import type { CommandContext } from '../shell/command.ts'
import { formatTime, toPrintable, toText } from '../shell/format.ts'
import { commandFailed } from '../shell/failure.ts'
import { approvalPath } from '../shell/service-client.ts'
import type { AnswerOutcome } from './decide-inline.ts'

interface Question {
  question: string
  options: Json[]
  schema: JsonObject | null
}

function questionOf({ preview }: JsonObject): Question {
  const { question, options, schema } = isJsonObject(preview) ? preview : {}
  return {
    question: toText(question),
    options: Array.isArray(options) ? options : [],
    schema: isJsonObject(schema) ? schema : null,
  }
}

export function showQuestion({ terminal }: CommandContext, approval: JsonObject): void {
  const { question, options } = questionOf(approval)
  const expiry = typeof approval.expires_at === 'string' ? ` (expires ${formatTime(approval.expires_at)} UTC)` : ''
  terminal.note(terminal.styled('yellow', `question to the ${toText(approval.to)}${expiry}:`))
  terminal.note(toPrintable(question))
  for (const [index, option] of options.entries()) terminal.note(toPrintable(`  ${index + 1}  ${toText(option)}`))
}

/** Asks for the answer once, field by field if the question has a form. */
export async function askForAnswer(
  context: CommandContext,
  approval: JsonObject,
  signal: AbortSignal,
): Promise<AnswerOutcome> {
  const question = questionOf(approval)
  const fields = isJsonObject(question.schema?.properties) ? question.schema.properties : null
  const answer = fields
    ? await askForFields(context, question, fields, signal)
    : await askForLine(context, question, signal)
  if (answer === 'no_input') return 'no_input'
  if (answer !== null) {
    await sendAnswer(context, approval, answer.value)
    return 'decided'
  }
  const sure = await context.terminal.ask('decline the question? [y/N] ', signal)
  if (sure === null) return 'no_input'
  if (!['y', 'yes'].includes(sure.trim().toLowerCase())) return 'again'
  await context.service.call('POST', `${approvalPath(toText(approval.approval_id))}/reject`, {})
  return 'decided'
}

/** Null: the person gave no answer. */
type GivenAnswer = { value: Json } | null | 'no_input'

async function askForLine({ terminal }: CommandContext, question: Question, signal: AbortSignal): Promise<GivenAnswer> {
  const line = await terminal.ask('answer (empty to decline): ', signal)
  if (line === null) return 'no_input'
  return line.trim() === '' ? null : { value: parseAnswer(question, line.trim()) }
}

async function askForFields(
  { terminal }: CommandContext,
  { schema }: Question,
  fields: JsonObject,
  signal: AbortSignal,
): Promise<GivenAnswer> {
  const required = Array.isArray(schema?.required) ? schema.required : []
  const value: JsonObject = {}
  for (const [name, field] of Object.entries(fields)) {
    const line = await terminal.ask(`${toPrintable(fieldLabel(name, field, required.includes(name)))}: `, signal)
    if (line === null) return 'no_input'
    if (line.trim() !== '') value[name] = parseValue(field, line.trim())
  }
  return Object.keys(value).length === 0 ? null : { value }
}

function fieldLabel(name: string, field: Json, isRequired: boolean): string {
  const { description, enum: choices } = isJsonObject(field) ? field : {}
  const hint = Array.isArray(choices) ? choices.map(toText).join(', ') : description
  return [name, isRequired ? '' : ' (optional)', typeof hint === 'string' ? ` [${hint}]` : ''].join('')
}

function parseAnswer({ options, schema }: Question, line: string): Json {
  const chosen = options.includes(line) ? undefined : options[Number(line) - 1]
  return chosen ?? (schema ? parseValue(schema, line) : line)
}

/** Text for a schema that allows text, else JSON. The service refuses what does not match. */
function parseValue(schema: Json, line: string): Json {
  const type = isJsonObject(schema) ? schema.type : undefined
  if (type === undefined || [type].flat().includes('string')) return line
  try {
    return JSON.parse(line)
  } catch {
    return line
  }
}

/** Answers with a line, such as an argument of a command. */
export async function answerWithLine(context: CommandContext, approval: JsonObject, line: string): Promise<void> {
  const question = questionOf(approval)
  const answer = parseAnswer(question, line)
  if (isJsonObject(question.schema?.properties) && !isJsonObject(answer)) {
    const fields = Object.keys(question.schema.properties).join(', ')
    throw commandFailed(
      `this question is a form: the answer must be a JSON object with the fields ${fields}`,
      (svc) => `to be asked for each field: ${svc} approvals answer ${toText(approval.approval_id)}`,
    )
  }
  await sendAnswer(context, approval, answer)
}

async function sendAnswer({ service }: CommandContext, approval: JsonObject, answer: Json): Promise<void> {
  await service.call('POST', `${approvalPath(toText(approval.approval_id))}/approve`, { edited: { answer } })
}
