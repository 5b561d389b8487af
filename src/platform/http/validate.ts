import { z } from 'zod'
import { issueMessage } from '../base/issue-message.ts'
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts'
import { badRequest, Problem } from '../base/problem.ts'
import { parseStrictJson } from '../base/strict-json.ts'
import { parseQuery } from './route-table.ts'

/** JSON values that zod checks but does not copy, so a field named `__proto__` stays plain data. */
export const jsonValue = z
  .custom<Json>((value) => value !== undefined, 'is required')
  .meta({ description: 'Any JSON value.' })
export const jsonObject = z
  .custom<JsonObject>(isJsonObject, 'must be an object')
  .meta({ type: 'object', additionalProperties: true, description: 'Any JSON object.' })

/** The validated body; throws a 400 that names the first invalid field. */
export function validateBody<T extends z.ZodType>(
  schema: T | null,
  raw: Buffer | undefined,
  contentType: string | undefined,
): z.output<T> | undefined {
  if (!raw || raw.length === 0) return schema ? validateFields(schema, {}, 'field') : undefined
  if (!contentType || !/^application\/([a-z.+-]*\+)?json\b/i.test(contentType)) {
    throw new Problem(415, 'content type must be application/json')
  }
  return validateParsedBody(schema, parseStrictJson(raw))
}

/** Like `validateBody`, for a body that is already parsed. */
export function validateParsedBody<T extends z.ZodType>(schema: T | null, value: Json): z.output<T> | undefined {
  if (!schema) return undefined
  if (!isJsonObject(value)) throw badRequest('body must be a json object')
  return validateFields(schema, value, 'field')
}

/** The query is as it is in the URL. */
export function validateQuery<T extends z.ZodType>(schema: T | null, query: string): z.output<T> | undefined {
  return schema ? validateFields(schema, parseQuery(query), 'query') : undefined
}

/** The validated value; throws a 400 that names the first invalid field, such as `field 'name'` for the noun `field`. */
export function validateFields<T extends z.ZodType>(schema: T, value: unknown, noun: string): z.output<T> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  throw badRequest(issue ? errorText(issue, value, noun) : `${noun}s are not valid`)
}

function errorText(issue: z.core.$ZodIssue, value: unknown, noun: string): string {
  const path = issue.path.map(String).join('.')
  return path === '' ? issue.message : `${noun} '${path}' ${issueMessage(issue, value)}`
}
