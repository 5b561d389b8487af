import { z } from 'zod'
import { isJsonObject, isNestedDeeperThan, type JsonObject } from '../../platform/base/json.ts'
import type { JsonPath } from '../../platform/base/json-with-lines.ts'
import { findSchemaProblems } from '../../platform/contract/schema-problems.ts'
import type { AmountMapping } from '../connection/tool.ts'
import { checkHeaderMap, HEADER_NAME, isReservedHeader } from './header-rules.ts'
import { findPathProblem, findValueProblem, isPlaceholder } from './placeholders.ts'

/** Slugs, joined by dots: `refund`, `refunds.create`. */
const OPERATION_NAME = /^[a-z0-9][a-z0-9_-]*(\.[a-z0-9][a-z0-9_-]*)*$/
const MAX_SCHEMA_BYTES = 64 * 1024
const MAX_SCHEMA_DEPTH = 32

const inputSchema = z.custom<JsonObject>(isJsonObject, 'must be an object').superRefine((schema, issues) => {
  const report = (message: string, path: JsonPath = []) => issues.addIssue({ code: 'custom', message, path: [...path] })
  if (isNestedDeeperThan(schema, MAX_SCHEMA_DEPTH)) return report(`must not have more than ${MAX_SCHEMA_DEPTH} levels`)
  if (Buffer.byteLength(JSON.stringify(schema)) > MAX_SCHEMA_BYTES) return report('must not be larger than 64 KiB')
  if (schema.type !== undefined && schema.type !== 'object') return report('must be object', ['type'])
  const problem = findSchemaProblems(schema).find(({ kind }) => kind === 'invalid')
  if (problem) report(problem.message, problem.path)
})

/** A constant, or `{field}`. */
const mappedValue = z.union([z.string().max(4000), z.number(), z.boolean()]).superRefine((value, issues) => {
  const message = typeof value === 'string' ? findValueProblem(value) : null
  if (message) issues.addIssue({ code: 'custom', message })
})
const valueMap = z.record(z.string().min(1).max(200), mappedValue)
export type ValueMap = z.infer<typeof valueMap>

const DOTTED_PATH = /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/

/** Strict, because a misspelt `currency` would compare another currency with a limit in dollars. */
const amountMapping = z
  .strictObject({
    path: z.string().regex(DOTTED_PATH, 'must be the name of a field, or names joined by dots'),
    unit: z.enum(['major', 'minor']),
    currency: z
      .string()
      .regex(/^[A-Za-z]{3}$/, 'must be a currency code such as USD')
      .optional(),
    currency_path: z.string().regex(DOTTED_PATH, 'must be the name of a field, or names joined by dots').optional(),
  })
  .refine(
    ({ currency, currency_path }) => (currency === undefined) !== (currency_path === undefined),
    'must have either currency or currency_path',
  ) satisfies z.ZodType<AmountMapping>

const baseUrl = z.string().superRefine((url, issues) => {
  const message = findBaseUrlProblem(url)
  if (message) issues.addIssue({ code: 'custom', message })
})

/** Strict, because a misspelt `read` or `amount` would silently have no effect. */
const Operation = z
  .strictObject({
    name: z.string().max(64).regex(OPERATION_NAME, 'must be a slug: a-z, 0-9, _ and -, or slugs joined by dots'),
    description: z.string().max(4000).optional(),
    method: z
      .string()
      .toUpperCase()
      .pipe(z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])),
    /** For an API with several hosts; without it, the one of the config. */
    base_url: baseUrl.optional(),
    path: z
      .string()
      .max(1000)
      .superRefine((path, issues) => {
        const message = findPathProblem(path)
        if (message) issues.addIssue({ code: 'custom', message })
      }),
    query: valueMap.optional(),
    headers: valueMap.superRefine(checkHeaderMap).optional(),
    body: z.enum(['json', 'form', 'multipart', 'none']).optional(),
    input_schema: inputSchema.optional(),
    read: z.boolean().optional(),
    idempotency_header: z
      .string()
      .regex(HEADER_NAME, 'must be the name of a header')
      .refine((name) => !isReservedHeader(name), 'must not be a header that the service sets')
      .optional(),
    success: z.array(z.int().min(200).max(499)).min(1).max(50).optional(),
    amount: amountMapping.optional(),
    /** Constant fields of the body, such as the query of GraphQL. */
    fixed: z.custom<JsonObject>(isJsonObject, 'must be an object').optional(),
    /** Where a response with a good status names an error, as with GraphQL and Slack. */
    error_path: z.string().regex(DOTTED_PATH, 'must be the name of a field, or names joined by dots').optional(),
  })
  .superRefine(({ method, read, body, fixed, headers = {}, idempotency_header = 'idempotency-key' }, issues) => {
    const report = (path: string, message: string) => issues.addIssue({ code: 'custom', path: [path], message })
    if (read && method !== 'GET') report('read', 'must be false: only a GET can be a read')
    if (method === 'GET' && body !== undefined && body !== 'none') report('body', 'must be none for a GET')
    if (fixed && (method === 'GET' || body === 'none')) report('fixed', 'must not be set without a body')
    const isIdempotencyField = Object.entries(headers).some(
      ([name, value]) => name.toLowerCase() === idempotency_header.toLowerCase() && isPlaceholder(value),
    )
    const hasContentType = Object.keys(headers).some((name) => name.toLowerCase() === 'content-type')
    if (hasContentType && body !== undefined && body !== 'json')
      report('headers', 'must not set content-type: body does')
    if (isIdempotencyField) report('headers', 'must not take the idempotency header from a field')
  })
  .transform((operation) => ({
    ...operation,
    body: operation.body ?? (operation.method === 'GET' || operation.method === 'DELETE' ? 'none' : 'json'),
  }))
export type Operation = z.infer<typeof Operation>

/** The part of the config that declares operations. */
export const OperationsConfig = z.object({
  config: z.object({
    base_url: baseUrl,
    operations: z
      .array(Operation)
      .min(1)
      .max(500)
      .superRefine((operations, issues) => {
        const names = operations.map(({ name }) => name)
        const index = names.findIndex((name, at) => names.indexOf(name) !== at)
        if (index >= 0)
          issues.addIssue({ code: 'custom', path: [index, 'name'], message: `must not be used twice: ${names[index]}` })
      }),
  }),
})

function findBaseUrlProblem(text: string): string | null {
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || !/^https?:$/.test(url.protocol)) return 'must be an http or https url'
  if (url.username || url.password) return 'must not contain a user or a password'
  return url.search || url.hash ? 'must not have a query or a fragment: operations have their own' : null
}
