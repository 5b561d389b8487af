import { badRequest } from '../../base/problem.ts'
import type { Ctx } from '../../ctx/ctx.ts'
import { egress } from '../egress.ts'
import { CALL_TIMEOUT_MS, MOST_BYTES } from '../limits.ts'
import { readUrl } from '../read-url.ts'
import type { Executor, Read, Reply } from './executor.ts'
import { bearer, configUrl, postPayload, replyOf, withSender } from './http.ts'

/** Acts like email; reads below `config.base_url`, or below `api_url` where no other base is named. */
export const custom: Executor = { act: postPayload, whole: withSender, read: get }

async function get(ctx: Ctx, read: Read): Promise<Reply> {
  if (read.path === null) throw badRequest("field 'path' is required")
  const answer = await egress(ctx).request({
    url: readUrl(configUrl(read.connection, 'base_url', 'api_url'), read.path),
    method: 'GET',
    headers: { accept: 'application/json, */*;q=0.5', ...bearer(read) },
    timeoutMs: CALL_TIMEOUT_MS,
    maxBytes: MOST_BYTES,
  })
  return replyOf(answer)
}
