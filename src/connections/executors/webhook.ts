import { createHmac } from 'node:crypto'
import type { Ctx } from '../../ctx/ctx.ts'
import type { ActionCall, ConnectionExecutor, UpstreamResponse } from './executor.ts'
import { requireConfigUrl, postJson } from './http-request.ts'

/** `POST {config.url}`, signed as Standard Webhooks says when there is a secret. */
export const webhookExecutor: ConnectionExecutor = { act: postSigned }

async function postSigned(
  ctx: Ctx,
  { connection, secret, payload, idempotencyKey }: ActionCall,
): Promise<UpstreamResponse> {
  const body = JSON.stringify(payload)
  const timestamp = Math.floor(ctx.world.clock.now() / 1000)
  const signature = secret === null ? {} : webhookSignatureHeaders(secret, idempotencyKey, timestamp, body)
  return postJson(ctx, requireConfigUrl(connection, 'url'), body, { 'idempotency-key': idempotencyKey, ...signature })
}

/** The headers by which a receiver knows who sent the body, which one it is, and when. */
export function webhookSignatureHeaders(
  secret: string,
  id: string,
  timestamp: number,
  body: string,
): Record<string, string> {
  const mac = createHmac('sha256', webhookSigningKey(secret)).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': String(timestamp), 'webhook-signature': `v1,${mac}` }
}

function webhookSigningKey(secret: string): Buffer {
  const [, base64] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? []
  return base64 === undefined ? Buffer.from(secret) : Buffer.from(base64, 'base64')
}
