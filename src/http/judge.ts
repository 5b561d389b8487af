import { z } from 'zod'
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts'
import { badRequest, Problem } from '../base/problem.ts'
import { parseStrictJson } from '../base/strict-json.ts'

/** JSON values as they came: zod looks at their kind and copies nothing, so `__proto__` stays plain data. */
export const json = z.custom<Json>((value) => value !== undefined, 'is required').meta({ description: 'a JSON value' })
export const jsonObject = z.custom<JsonObject>(isJsonObject, 'must be an object').meta({ type: 'object' })

/** The body as an object by the schema, or a 400 that names the first field at fault. */
export function judgeBody<T extends z.ZodType>(
  schema: T | null,
  raw: Buffer | undefined,
  contentType: string | undefined,
): z.output<T> | undefined {
  if (!raw || raw.length === 0) return schema ? judgeFields(schema, {}, 'field') : undefined
  if (!contentType || !/^application\/([a-z.+-]*\+)?json\b/i.test(contentType)) {
    throw new Problem(415, 'content type must be application/json')
  }
  return judgeValue(schema, parseStrictJson(raw))
}

/** The same for a body that has been read already. */
export function judgeValue<T extends z.ZodType>(schema: T | null, value: Json): z.output<T> | undefined {
  if (!schema) return undefined
  if (!isJsonObject(value)) throw badRequest('body must be a json object')
  return judgeFields(schema, value, 'field')
}

export function judgeQuery<T extends z.ZodType>(schema: T | null, query: unknown): z.output<T> | undefined {
  return schema ? judgeFields(schema, query, 'query') : undefined
}

/** What the schema makes of the value, or a 400 that names the first field at fault; `noun` is what a field is called. */
export function judgeFields<T extends z.ZodType>(schema: T, value: unknown, noun: string): z.output<T> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  throw badRequest(issue ? sentence(issue, value, noun) : `${noun}s are not valid`)
}

type Issue = z.core.$ZodIssue

function sentence(issue: Issue, value: unknown, noun: string): string {
  const path = issue.path.map(String).join('.')
  if (path === '') return issue.message
  if (issue.path.reduce<unknown>(step, value) === undefined) return `${noun} '${path}' is required`
  return `${noun} '${path}' ${complaint(issue)}`
}

function step(value: unknown, key: PropertyKey): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<PropertyKey, unknown>)[key] : undefined
}

const ARTICLE: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
}

function complaint(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${ARTICLE[issue.expected] ?? `of type ${issue.expected}`}`
    case 'invalid_value':
      return `must be one of ${issue.values.map(String).join(', ')}`
    case 'too_small':
      return issue.origin === 'string' || issue.origin === 'array'
        ? `must have at least ${issue.minimum} ${issue.origin === 'string' ? 'characters' : 'items'}`
        : `must be ${issue.inclusive ? 'at least' : 'greater than'} ${issue.minimum}`
    case 'too_big':
      return issue.origin === 'string' || issue.origin === 'array'
        ? `must have at most ${issue.maximum} ${issue.origin === 'string' ? 'characters' : 'items'}`
        : `must be ${issue.inclusive ? 'at most' : 'less than'} ${issue.maximum}`
    case 'invalid_union':
      return 'has none of the allowed forms'
    default:
      return issue.message.charAt(0).toLowerCase() + issue.message.slice(1)
  }
}
