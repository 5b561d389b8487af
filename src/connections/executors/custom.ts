import { badRequest } from '../../base/problem.ts'
import type { Ctx } from '../../ctx/ctx.ts'
import { CALL_TIMEOUT_MS, createEgressClient, MAX_CALL_BYTES } from '../../egress/http-client.ts'
import { openSecret } from '../../vault/secrets.ts'
import { resolveReadUrl } from '../read-url.ts'
import { authorizationHeader } from './authorization-header.ts'
import type { ConnectionExecutor, ReadCall, UpstreamResponse } from './executor.ts'
import { addSender, postPayload, requireConfigUrl, toUpstreamResponse } from './http-request.ts'
import { sendTestRequest } from './test-request.ts'

/** Any HTTP API: acts like email on `config.api_url`, and reads below `config.base_url` (or `api_url` without it). */
export const customExecutor: ConnectionExecutor = {
  requiredConfig: ['api_url', 'base_url'],
  credential: 'secret',
  completePayload: addSender,
  act: postPayload,
  read: getPath,
  async test(ctx, connection) {
    const canRead = connection.config.base_url !== undefined
    const url = requireConfigUrl(connection, canRead ? 'base_url' : 'api_url')
    const headers = authorizationHeader({ connection, secret: await openSecret(ctx, connection) })
    return sendTestRequest(ctx, { method: canRead ? 'GET' : 'OPTIONS', url, headers })
  },
}

async function getPath(ctx: Ctx, read: ReadCall): Promise<UpstreamResponse> {
  if (read.path === null) throw badRequest("field 'path' is required")
  const response = await createEgressClient(ctx).request({
    url: resolveReadUrl(requireConfigUrl(read.connection, 'base_url', 'api_url'), read.path),
    method: 'GET',
    headers: { accept: 'application/json, */*;q=0.5', ...authorizationHeader(read) },
    timeoutMs: CALL_TIMEOUT_MS,
    maxBytes: MAX_CALL_BYTES,
  })
  return toUpstreamResponse(response)
}
