import type { Ctx } from '../../ctx/ctx.ts'
import { toIsoTime } from '../../ctx/world.ts'
import type { AuthConfig } from './auth-config.ts'
import type { AuthorizedRequest, OutgoingRequest } from './authorize-request.ts'

/** AWS Signature Version 4. The secret is the secret access key; only the signature is sent. */
export async function signSigv4(
  ctx: Ctx,
  auth: Extract<AuthConfig, { type: 'sigv4' }>,
  secret: string,
  request: OutgoingRequest,
): Promise<AuthorizedRequest> {
  const { AwsV4Signer } = await import('aws4fetch')
  const signer = new AwsV4Signer({
    method: request.method,
    url: request.url.href,
    headers: request.headers,
    ...(request.body !== undefined && { body: new Uint8Array(Buffer.from(request.body)) }),
    accessKeyId: auth.access_key_id,
    secretAccessKey: secret,
    region: auth.region,
    service: auth.service,
    // Such as 20150830T123600Z.
    datetime: toIsoTime(ctx.world.clock.now()).replaceAll(/[:-]|\.\d+/g, ''),
  })
  const signed = await signer.sign()
  return { ...request, url: signed.url, headers: Object.fromEntries(signed.headers), secrets: [secret] }
}
