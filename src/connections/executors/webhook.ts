import { createHmac } from 'node:crypto'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import { inlinePayloadFiles } from '../../work/files/payload-files.ts'
import { openSecret } from '../../identity/vault/secrets.ts'
import type { ActionCall, ConnectionExecutor, UpstreamResponse } from '../calls/executor.ts'
import { requireConfigUrl, sendOutgoing } from '../calls/http-request.ts'
import { sendTestCall } from '../calls/test-request.ts'

/** Posts the payload to `config.url`, signed by the Standard Webhooks scheme if the connection has a secret. */
export const webhookExecutor: ConnectionExecutor = {
  requiredConfig: ['url'],
  credential: 'optional_secret',
  act: postSigned,
  async test(ctx, connection) {
    const url = requireConfigUrl(connection, 'url')
    // The test sends no signature; decrypting the secret shows whether it is usable.
    await openSecret(ctx, connection)
    return sendTestCall(ctx, { method: 'OPTIONS', url: new URL(url), headers: {} })
  },
}

async function postSigned(
  ctx: Ctx,
  { connection, secret, payload, files, idempotencyKey }: ActionCall,
): Promise<UpstreamResponse> {
  const body = JSON.stringify(inlinePayloadFiles(payload, files))
  const timestamp = Math.floor(ctx.world.clock.now() / 1000)
  const signature = secret === null ? {} : webhookSignatureHeaders(secret, idempotencyKey, timestamp, body)
  return sendOutgoing(ctx, {
    method: 'POST',
    url: new URL(requireConfigUrl(connection, 'url')),
    headers: {
      'content-type': 'application/json',
      accept: 'application/json',
      'idempotency-key': idempotencyKey,
      ...signature,
    },
    body,
  })
}

/** The Standard Webhooks headers: message id, time and signature of the body. */
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
