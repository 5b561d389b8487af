import type { ConnectionExecutor } from './executor.ts'
import { addSender, postPayload, requireConfigUrl } from './http-request.ts'
import { sendTestRequest } from './test-request.ts'

/** Sends mail through an HTTP API: the payload goes to `config.api_url`, with `config.from` as the sender. */
export const emailExecutor: ConnectionExecutor = {
  requiredConfig: ['api_url'],
  credential: 'secret',
  completePayload: addSender,
  act: postPayload,
  async test(ctx, connection) {
    const url = requireConfigUrl(connection, 'api_url')
    return sendTestRequest(ctx, connection, { method: 'OPTIONS', url })
  },
}
