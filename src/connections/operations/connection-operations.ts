import { isJsonObject, type Json, type JsonObject, ownField } from '../../platform/base/json.ts'
import { badRequest } from '../../platform/base/problem.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import { EgressError } from '../../platform/egress/http-client.ts'
import { NO_FILES, type PayloadFiles } from '../../work/files/payload-files.ts'
import { validateFields } from '../../platform/http/validate.ts'
import type { OutgoingRequest } from '../auth/authorize-request.ts'
import type { ActionCall, ReadCall, UpstreamResponse } from '../calls/executor.ts'
import { findErrorWords } from '../calls/error-words.ts'
import { sendAuthorized } from '../calls/http-request.ts'
import type { Connection } from '../connection/rows.ts'
import { type ConnectionTool, toolNameIn } from '../connection/tool.ts'
import { buildOperationRequest } from './build-request.ts'
import { type Operation, OperationsConfig } from './operation.ts'
import { inputSchemaOf } from './operation-schema.ts'

export const hasOperations = ({ config }: Pick<Connection, 'config'>): boolean => config.operations !== undefined

/** The operations of a config; throws a 400 that names the first invalid field. */
export function parseOperations(config: JsonObject): { baseUrl: string; operations: Operation[] } {
  const parsed = validateFields(OperationsConfig, { config }, 'field')
  return { baseUrl: parsed.config.base_url, operations: parsed.config.operations }
}

export function listOperationTools({ config }: Pick<Connection, 'config'>): ConnectionTool[] {
  return parseOperations(config).operations.map((operation) => ({
    name: operation.name,
    description: operation.description ?? `${operation.method} ${operation.path}`,
    inputSchema: inputSchemaOf(operation),
    class: operation.read ? 'read' : 'ask',
    amount: operation.amount ?? null,
  }))
}

/** Throws a 400 if the operation cannot be sent with these arguments. */
export function checkOperationArguments(connection: Connection, capability: string, args: Json): void {
  buildRequest(connection, capability, args, NO_FILES)
}

/** Sends the operation once, with the approval's id as idempotency key. */
export async function performOperation(ctx: Ctx, action: ActionCall): Promise<UpstreamResponse> {
  const { connection, secret, capability, payload, files, idempotencyKey } = action
  const { operation, request } = buildRequest(connection, capability, payload, files)
  const header = operation.idempotency_header ?? (operation.method === 'GET' ? null : 'idempotency-key')
  const headers = { ...request.headers, ...(header && { [header.toLowerCase()]: idempotencyKey }) }
  const response = await sendAuthorized(ctx, connection, secret, { ...request, headers }).catch(toUnreadableResponse)
  return withSuccess(operation, response)
}

export async function readOperation(ctx: Ctx, read: ReadCall): Promise<UpstreamResponse> {
  if (read.path !== null) throw badRequest("field 'path' must not be set: the operation has its own path")
  const { operation, request } = buildRequest(read.connection, read.capability, read.arguments, NO_FILES)
  return withSuccess(operation, await sendAuthorized(ctx, read.connection, read.secret, request))
}

function buildRequest(
  connection: Connection,
  capability: string,
  args: Json,
  files: PayloadFiles,
): { operation: Operation; request: OutgoingRequest } {
  const { baseUrl, operations } = parseOperations(connection.config)
  const name = toolNameIn(connection, capability)
  const operation = operations.find((one) => one.name === name)
  if (!operation) throw badRequest(`connection '${connection.name}' has no operation '${capability}'`)
  return { operation, request: buildOperationRequest(baseUrl, operation, args, files) }
}

/** The status says whether the action succeeded, even if the body is too large or cannot be read. */
function toUnreadableResponse(error: unknown): UpstreamResponse {
  const isUnreadable = error instanceof EgressError && (error.kind === 'too_large' || error.kind === 'unreadable')
  if (!isUnreadable || error.status === null) throw error
  const ok = error.status >= 200 && error.status < 300
  return { ok, status: error.status, contentType: '', body: null, error: ok ? null : error.message }
}

function withSuccess({ success, error_path }: Operation, response: UpstreamResponse): UpstreamResponse {
  const ok = success ? success.includes(response.status) : response.ok
  const named = ok && error_path !== undefined ? findNamedError(response.body, error_path) : null
  if (ok && named === null) return { ...response, ok, error: null }
  return { ...response, ok: false, error: named ?? response.error }
}

/** The error at the path, as text; null if there is none. */
function findNamedError(body: Json, path: string): string | null {
  const found = path
    .split('.')
    .reduce<Json>((inner, field) => (isJsonObject(inner) ? (ownField(inner, field) ?? null) : null), body)
  if (found === null || found === false || (Array.isArray(found) && found.length === 0)) return null
  return `upstream answered with an error: ${findErrorWords(found) || JSON.stringify(found)}`
}
