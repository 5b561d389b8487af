import { badRequest } from '../../platform/base/problem.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import {
  checkOperationArguments,
  hasOperations,
  listOperationTools,
  parseOperations,
  performOperation,
  readOperation,
} from '../operations/connection-operations.ts'
import { resolveReadUrl } from '../calls/read-url.ts'
import type { ConnectionExecutor, ReadCall, UpstreamResponse } from '../calls/executor.ts'
import { addSender, postPayload, requireConfigUrl, sendAuthorized } from '../calls/http-request.ts'
import { sendTestRequest } from '../calls/test-request.ts'

/**
 * Any HTTP API. With `config.operations` the connection does these and nothing else; without, it acts like email on
 * `config.api_url`, and reads below `config.base_url` (or `api_url` without it).
 */
export const customExecutor: ConnectionExecutor = {
  requiredConfig: ['api_url', 'base_url'],
  credential: 'secret',
  checkConfig(config) {
    if (hasOperations({ config })) parseOperations(config)
  },
  completePayload: (connection, payload) => (hasOperations(connection) ? payload : addSender(connection, payload)),
  listTools: async (_ctx, connection) => (hasOperations(connection) ? listOperationTools(connection) : null),
  checkArguments: checkOperationArguments,
  act: (ctx, action) => (hasOperations(action.connection) ? performOperation(ctx, action) : postPayload(ctx, action)),
  read: (ctx, read) => (hasOperations(read.connection) ? readOperation(ctx, read) : getPath(ctx, read)),
  async test(ctx, connection) {
    const canRead = connection.config.base_url !== undefined
    const { test_path } = connection.config
    const base = requireConfigUrl(connection, canRead ? 'base_url' : 'api_url')
    if (canRead && typeof test_path === 'string') {
      const url = resolveReadUrl(`${base}/`, test_path.slice(1)).href
      return sendTestRequest(ctx, connection, { method: 'GET', url, isPathNamed: true })
    }
    return sendTestRequest(ctx, connection, { method: canRead ? 'GET' : 'OPTIONS', url: base })
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
