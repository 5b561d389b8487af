import { createHmac } from 'node:crypto'
import type { Ctx } from '../../ctx/ctx.ts'
import type { Action, Executor, Reply } from './executor.ts'
import { configUrl, post } from './http.ts'

/** `POST {config.url}`, signed as Standard Webhooks says when there is a secret. */
export const webhook: Executor = { act: deliver }

async function deliver(ctx: Ctx, { connection, secret, payload, idempotencyKey }: Action): Promise<Reply> {
  const body = JSON.stringify(payload)
  const timestamp = Math.floor(ctx.world.clock.now() / 1000)
  const signature = secret === null ? {} : signed(secret, idempotencyKey, timestamp, body)
  return post(ctx, configUrl(connection, 'url'), body, { 'idempotency-key': idempotencyKey, ...signature })
}

/** The headers by which a receiver knows who sent the body, which one it is, and when. */
export function signed(secret: string, id: string, timestamp: number, body: string): Record<string, string> {
  const mac = createHmac('sha256', signingKey(secret)).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': String(timestamp), 'webhook-signature': `v1,${mac}` }
}

function signingKey(secret: string): Buffer {
  const [, base64] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? []
  return base64 === undefined ? Buffer.from(secret) : Buffer.from(base64, 'base64')
}
