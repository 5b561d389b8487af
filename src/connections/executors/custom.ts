import { badRequest } from '../../base/problem.ts'
import type { Ctx } from '../../ctx/ctx.ts'
import { createEgressClient } from '../../egress/http-client.ts'
import { CALL_TIMEOUT_MS, MAX_CALL_BYTES } from '../../egress/limits.ts'
import { resolveReadUrl } from '../read-url.ts'
import type { ConnectionExecutor, ReadCall, UpstreamResponse } from './executor.ts'
import { authorizationHeader, requireConfigUrl, postPayload, toUpstreamResponse, addSender } from './http-request.ts'

/** Acts like email; reads below `config.base_url`, or below `api_url` where no other base is named. */
export const customExecutor: ConnectionExecutor = { act: postPayload, completePayload: addSender, read: getPath }

async function getPath(ctx: Ctx, read: ReadCall): Promise<UpstreamResponse> {
  if (read.path === null) throw badRequest("field 'path' is required")
  const answer = await createEgressClient(ctx).request({
    url: resolveReadUrl(requireConfigUrl(read.connection, 'base_url', 'api_url'), read.path),
    method: 'GET',
    headers: { accept: 'application/json, */*;q=0.5', ...authorizationHeader(read) },
    timeoutMs: CALL_TIMEOUT_MS,
    maxBytes: MAX_CALL_BYTES,
  })
  return toUpstreamResponse(answer)
}
