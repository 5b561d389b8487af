import { badRequest } from '../../base/problem.ts'
import type { Ctx } from '../../ctx/ctx.ts'
import { resolveReadUrl } from '../read-url.ts'
import type { ConnectionExecutor, ReadCall, UpstreamResponse } from './executor.ts'
import { addSender, postPayload, requireConfigUrl, sendAuthorized } from './http-request.ts'
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
    return sendTestRequest(ctx, connection, { method: canRead ? 'GET' : 'OPTIONS', url })
  },
}

async function getPath(ctx: Ctx, { connection, secret, path }: ReadCall): Promise<UpstreamResponse> {
  if (path === null) throw badRequest("field 'path' is required")
  return sendAuthorized(ctx, connection, secret, {
    method: 'GET',
    url: resolveReadUrl(requireConfigUrl(connection, 'base_url', 'api_url'), path),
    headers: { accept: 'application/json, */*;q=0.5' },
  })
}
