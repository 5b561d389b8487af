import type { Ctx } from '../../platform/ctx/ctx.ts'
import { signAwsRequest } from '../../platform/egress/sign-aws-request.ts'
import type { AuthConfig } from './auth-config.ts'
import type { AuthorizedRequest, OutgoingRequest } from './authorize-request.ts'

/** AWS Signature Version 4. The secret is the secret access key. */
export async function signSigv4(
  ctx: Ctx,
  { access_key_id, region, service }: Extract<AuthConfig, { type: 'sigv4' }>,
  secret: string,
  request: OutgoingRequest,
): Promise<AuthorizedRequest> {
  const credentials = { accessKeyId: access_key_id, secretAccessKey: secret, region, service }
  const signed = await signAwsRequest({ ...request, url: request.url.href }, credentials, ctx.world.clock.now())
  return { ...request, ...signed, secrets: [secret] }
}
