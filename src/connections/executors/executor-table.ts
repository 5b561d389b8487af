import { badRequest } from '../../base/problem.ts'
import type { Ctx } from '../../ctx/ctx.ts'
import { brokerExecutor } from './broker.ts'
import { customExecutor } from './custom.ts'
import { emailExecutor } from './email.ts'
import type { ConnectionExecutor } from './executor.ts'
import { webhookExecutor } from './webhook.ts'

export const CONNECTION_KINDS = ['email', 'webhook', 'custom', 'broker'] as const

export function findExecutor(ctx: Ctx, kind: string): ConnectionExecutor | null {
  if (kind === 'email') return emailExecutor
  if (kind === 'webhook') return webhookExecutor
  if (kind === 'custom') return customExecutor
  if (kind === 'broker') return brokerExecutor(ctx)
  return null
}

/** How a kind does what is asked, or a 400. Call it before a person is asked for something that cannot be done. */
export function requireExecutor<What extends 'act' | 'read'>(
  ctx: Ctx,
  kind: string,
  what: What,
): NonNullable<ConnectionExecutor[What]> {
  const does = findExecutor(ctx, kind)?.[what]
  if (!does) throw badRequest(`no executor for kind '${kind}'`)
  return does
}
