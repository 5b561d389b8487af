import type { JsonObject } from '../../platform/base/json.ts'
import { removeTrailingSlashes } from '../../platform/base/text.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import type { OutgoingRequest } from '../auth/authorize-request.ts'
import type { ConnectionTestResult, UpstreamResponse } from '../calls/executor.ts'
import { requireConfigUrl, sendAuthorized } from '../calls/http-request.ts'
import { sendTestRequest } from '../calls/test-request.ts'
import type { Connection } from '../connection/rows.ts'
import type { Mail } from './mail-payload.ts'

/**
 * A service that delivers mail. To add one, write `mail/<provider>.ts` and add it to `provider-table.ts`. The payload is
 * the same for all of them.
 */
export interface MailProvider {
  /** The config keys that must be set, besides `from`. */
  requiredConfig: readonly string[]
  /** Throws a 400 if the config cannot work, before a person is asked to approve a mail. */
  checkConfig(connection: Connection): void
  send(ctx: Ctx, call: SendMailCall): Promise<UpstreamResponse>
  /** The headers with which the provider keeps a Message-ID that the service has chosen; absent: it writes its own. */
  messageIdHeaders?(messageId: string): Record<string, string>
  /** Shows whether address and credential work, and sends nothing. */
  test(ctx: Ctx, connection: Connection): Promise<ConnectionTestResult>
}

export interface SendMailCall {
  connection: Connection
  secret: string | null
  mail: Mail
  /** The approval's id. */
  idempotencyKey: string
}

/** What one mail API differs in from the others. */
export interface MailApi {
  /** Used unless `config.base_url` is set, for example for another region. */
  baseUrl: string
  requiredConfig?: readonly string[]
  /** How the secret is sent, in the form of `config.auth`. */
  auth: JsonObject
  /** The request that sends the mail, without the credential. `url` is below the base URL. */
  buildRequest(mail: Mail, config: JsonObject, idempotencyKey: string): MailApiRequest
  /** The path of a GET that needs the credential and changes nothing. */
  testPath(config: JsonObject): string
  messageIdHeaders?: MailProvider['messageIdHeaders']
}

export interface MailApiRequest {
  path: string
  headers: Record<string, string>
  body: string | Buffer
}

export function createApiProvider(api: MailApi): MailProvider {
  return {
    requiredConfig: api.requiredConfig ?? [],
    ...(api.messageIdHeaders && { messageIdHeaders: api.messageIdHeaders }),
    checkConfig: (connection) => void apiUrl(api, connection, api.testPath(connection.config)),
    async send(ctx, { connection, secret, mail, idempotencyKey }) {
      const { path, headers, body } = api.buildRequest(mail, connection.config, idempotencyKey)
      const request: OutgoingRequest = {
        method: 'POST',
        url: apiUrl(api, connection, path),
        headers: { accept: 'application/json', ...headers },
        body,
      }
      return sendAuthorized(ctx, withAuth(api, connection), secret, request)
    },
    async test(ctx, connection) {
      const url = apiUrl(api, connection, api.testPath(connection.config)).href
      return sendTestRequest(ctx, withAuth(api, connection), { method: 'GET', url, isPathNamed: true })
    },
  }
}

/** The headers and body of a request that sends JSON. */
export const jsonBody = (body: object, headers: Record<string, string> = {}) => ({
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
})

function apiUrl({ baseUrl }: MailApi, connection: Connection, path: string): URL {
  const base = connection.config.base_url === undefined ? baseUrl : requireConfigUrl(connection, 'base_url')
  return new URL(`${removeTrailingSlashes(base)}${path}`)
}

/** The provider decides how its secret is sent, whatever the config says. */
const withAuth = ({ auth }: MailApi, connection: Connection): Connection => ({
  ...connection,
  config: { ...connection.config, auth },
})
