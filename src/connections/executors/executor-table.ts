import { badRequest } from '../../platform/base/problem.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import type { Connection } from '../connection/rows.ts'
import { brokerExecutor } from './broker.ts'
import { customExecutor } from './custom.ts'
import { emailExecutor } from './email.ts'
import type { ConnectionExecutor } from '../calls/executor.ts'
import { mcpExecutor } from './mcp.ts'
import { webhookExecutor } from './webhook.ts'

export const CONNECTION_KINDS = ['email', 'webhook', 'custom', 'broker', 'mcp'] as const

/** Each connection kind with the code that acts, reads and tests for it. */
const EXECUTORS: Record<(typeof CONNECTION_KINDS)[number], ConnectionExecutor> = {
  email: emailExecutor,
  webhook: webhookExecutor,
  custom: customExecutor,
  broker: brokerExecutor,
  mcp: mcpExecutor,
}

export function findExecutor(kind: string): ConnectionExecutor | null {
  const known = CONNECTION_KINDS.find((one) => one === kind)
  return known ? EXECUTORS[known] : null
}

/** True for a webhook that is not signed, an MCP server that is open to everybody, and a mail server without a login. */
export function needsNoCredential({ kind, secret_ref, config }: Connection): boolean {
  if (secret_ref !== null || config.auth !== undefined) return false
  const executor = findExecutor(kind)
  return executor?.credential === 'optional_secret' || executor?.needsNoSecret?.({ config }) === true
}

/** The function that acts or reads for a kind, or a 400. Call it before asking for an approval that could not be used. */
export function requireExecutor<What extends 'act' | 'read'>(
  ctx: Ctx,
  kind: string,
  what: What,
): NonNullable<ConnectionExecutor[What]> {
  const executor = findExecutor(kind)
  const isConfigured = executor?.isConfigured?.(ctx) ?? true
  const execute = isConfigured ? executor?.[what] : undefined
  if (!execute) throw badRequest(`no executor for kind '${kind}'`)
  return execute
}
