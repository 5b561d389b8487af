import { z } from 'zod'
import { isJsonObject, isNestedDeeperThan, type Json, type JsonObject, ownField } from '../../platform/base/json.ts'
import { badRequest } from '../../platform/base/problem.ts'
import { schemaErrors } from '../../platform/contract/output-schema.ts'
import { findSchemaProblems } from '../../platform/contract/schema-problems.ts'
import { jsonObject } from '../../platform/http/validate.ts'

const MAX_OPTIONS = 20
/** People fill in a form that is made from the schema. */
const MAX_SCHEMA_BYTES = 16 * 1024
const MAX_SCHEMA_DEPTH = 12
/** The same limit as for a message of a client. */
const MAX_ANSWER_CHARACTERS = 10_000

const notBlank = (text: string) => text.trim() !== ''

/** A question to a person, as the agent asks it. */
export const QuestionRequest = z.object({
  question: z.string().max(2000).refine(notBlank, 'must not be blank'),
  schema: jsonObject.nullish().meta({ description: 'A JSON Schema of the answer, for the form.' }),
  options: z
    .array(z.string().min(1).max(200).refine(notBlank, 'must not be blank'))
    .min(1)
    .max(MAX_OPTIONS)
    .refine((options) => new Set(options).size === options.length, 'must not name an option twice')
    .nullish()
    .meta({ description: 'The possible answers.' }),
  to: z.enum(['team', 'client']),
})
export type QuestionRequest = z.output<typeof QuestionRequest>

/** What the approval of a question shows. A type, because an interface is not a `JsonObject`. */
export type QuestionPreview = { question: string; schema: JsonObject | null; options: string[] | null }

/** The preview of a question that has an answer: its schema is valid, and every option matches it. */
export function toQuestionPreview({ question, schema = null, options = null }: QuestionRequest): QuestionPreview {
  if (schema) checkSchema(schema)
  const [error] = schema ? (options ?? []).flatMap((option) => schemaErrors(schema, option)) : []
  if (error) throw badRequest(`field 'options' must match field 'schema': an option ${error.message}`)
  return { question, schema, options }
}

function checkSchema(schema: JsonObject): void {
  if (Buffer.byteLength(JSON.stringify(schema)) > MAX_SCHEMA_BYTES)
    throw badRequest("field 'schema' must not be larger than 16 KiB")
  if (isNestedDeeperThan(schema, MAX_SCHEMA_DEPTH))
    throw badRequest(`field 'schema' must not have more than ${MAX_SCHEMA_DEPTH} levels`)
  const problem = findSchemaProblems(schema, ['schema']).find(({ kind }) => kind === 'invalid')
  if (problem) throw badRequest(`field '${problem.path.join('.')}' ${problem.message}`)
}

/** The edit that answers a question; throws a 400 without a valid answer. */
export function toAnswer(preview: Json, edited: JsonObject | undefined): JsonObject {
  const answer = edited && ownField(edited, 'answer')
  if (answer === undefined) throw badRequest("field 'edited.answer' is required: it answers the question")
  const other = Object.keys(edited ?? {}).find((key) => key !== 'answer')
  if (other !== undefined) throw badRequest("field 'edited' must have no field but 'answer'")
  const problem = answerProblem(preview, answer)
  if (problem !== null) throw badRequest(`field 'edited.answer' ${problem}`)
  return { answer }
}

/** What is wrong with an answer to the question; null if it is valid. */
export function answerProblem(preview: Json, answer: Json): string | null {
  const { schema = null, options = null } = isJsonObject(preview) ? preview : {}
  if (JSON.stringify(answer).length > MAX_ANSWER_CHARACTERS) return 'must not be longer than 10,000 characters'
  if (Array.isArray(options)) return options.includes(answer) ? null : `must be one of ${JSON.stringify(options)}`
  if (!isJsonObject(schema)) return isBlank(answer) ? 'must not be blank' : null
  const [error] = schemaErrors(schema, answer)
  return error ? `does not match the schema: ${error.path} ${error.message}` : null
}

const isBlank = (answer: Json) => answer === null || (typeof answer === 'string' && !notBlank(answer))
