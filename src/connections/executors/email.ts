import { completeMailPayload, parseMail, SEND_MAIL_TOOL } from '../mail/mail-payload.ts'
import { findMailProvider, findMissingMailConfig } from '../mail/provider-table.ts'
import type { ConnectionExecutor } from '../calls/executor.ts'
import { addSender, postPayload, requireConfigUrl } from '../calls/http-request.ts'
import { sendTestRequest } from '../calls/test-request.ts'

/**
 * Sends mail through the provider that `config.provider` names. Without one, the payload goes unchanged to
 * `config.api_url`, with `config.from` as the sender.
 */
export const emailExecutor: ConnectionExecutor = {
  requiredConfig: ['api_url'],
  findMissingConfig: findMissingMailConfig,
  credential: 'secret',
  // A config from a blueprint has no host yet, so it does not tell whether the server has a login.
  needsNoSecret: ({ config }) =>
    config.provider === 'smtp' && config.username === undefined && findMissingMailConfig(config).length === 0,
  completePayload(connection, payload) {
    const provider = findMailProvider(connection)
    if (!provider) return addSender(connection, payload)
    provider.checkConfig(connection)
    return completeMailPayload(connection, payload)
  },
  checkConfig: (config) => void findMailProvider({ config }),
  async listTools(_ctx, connection) {
    return findMailProvider(connection) && [SEND_MAIL_TOOL]
  },
  checkArguments: (_connection, _capability, payload) => void parseMail(payload),
  async act(ctx, action) {
    const provider = findMailProvider(action.connection)
    return provider
      ? provider.send(ctx, { ...action, mail: parseMail(action.payload, action.files) })
      : postPayload(ctx, action)
  },
  async test(ctx, connection) {
    const provider = findMailProvider(connection)
    if (provider) return provider.test(ctx, connection)
    return sendTestRequest(ctx, connection, { method: 'OPTIONS', url: requireConfigUrl(connection, 'api_url') })
  },
}
