import { badRequest } from '../../base/problem.ts'
import type { Ctx } from '../../ctx/ctx.ts'
import { brokerExecutor } from './broker.ts'
import { custom } from './custom.ts'
import { email } from './email.ts'
import type { Executor } from './executor.ts'
import { webhook } from './webhook.ts'

export const KINDS = ['email', 'webhook', 'custom', 'broker'] as const

export function executorFor(ctx: Ctx, kind: string): Executor | null {
  if (kind === 'email') return email
  if (kind === 'webhook') return webhook
  if (kind === 'custom') return custom
  if (kind === 'broker') return brokerExecutor(ctx)
  return null
}

/** How a kind does what is asked, or a 400. Call it before a person is asked for something that cannot be done. */
export function requireExecutor<What extends 'act' | 'read'>(
  ctx: Ctx,
  kind: string,
  what: What,
): NonNullable<Executor[What]> {
  const does = executorFor(ctx, kind)?.[what]
  if (!does) throw badRequest(`no executor for kind '${kind}'`)
  return does
}
