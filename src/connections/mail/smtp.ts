import { z } from 'zod'
import { badRequest } from '../../platform/base/problem.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import { callTimeoutMs, EgressError } from '../../platform/egress/http-client.ts'
import { openTcpConnection, type TcpConnection } from '../../platform/egress/tcp-connection.ts'
import { validateFields } from '../../platform/http/validate.ts'
import { openSecret } from '../../identity/vault/secrets.ts'
import type { ConnectionTestResult, UpstreamResponse } from '../calls/executor.ts'
import type { Connection } from '../connection/rows.ts'
import { mailDomain, parseMailAddress } from './mail-address.ts'
import type { MailProvider, SendMailCall } from './mail-provider.ts'
import type { SmtpFailure, SmtpMessage, SmtpResult } from './smtp-client.ts'

/** Any mail server by SMTP. The secret is the password of `config.username`; without a username there is no login. */
export const smtpProvider: MailProvider = {
  requiredConfig: ['host'],
  checkConfig: (connection) => void readSmtpConfig(connection),
  send: sendBySmtp,
  // Every mail by SMTP has a Message-ID of its idempotency key.
  messageIdHeaders: () => ({}),
  test: testLogin,
}

async function sendBySmtp(ctx: Ctx, call: SendMailCall): Promise<UpstreamResponse> {
  const { connection, secret, mail, idempotencyKey } = call
  // The approval's id, so that a mail that was sent twice can be recognised.
  const messageId = `<${idempotencyKey}@${mailDomain(mail.from)}>`
  const message = { mail, messageId, date: new Date(ctx.world.clock.now()) }
  const result = await runSession(ctx, connection, secret, message)
  if (result.step !== 'done') return toRefusal(result)
  const { reply, accepted, rejected } = result
  return smtpResponse(200, null, { message_id: messageId, reply, accepted, rejected })
}

/** Connects and logs in, and sends nothing. */
async function testLogin(ctx: Ctx, connection: Connection): Promise<ConnectionTestResult> {
  const { host, port, username } = readSmtpConfig(connection)
  const checked = `${username === null ? 'EHLO, without a login,' : 'EHLO and AUTH'} at ${host}:${port}`
  const result = await runSession(ctx, connection, await openSecret(ctx, connection), null)
  if (result.step === 'done') return { ok: true, checked, status: null, error: null }
  return { ok: false, checked, status: null, error: toRefusal(result).error }
}

async function runSession(
  ctx: Ctx,
  connection: Connection,
  secret: string | null,
  message: SmtpMessage | null,
): Promise<SmtpResult> {
  const { host, port, ...config } = readSmtpConfig(connection)
  if (config.username !== null && secret === null) throw badRequest(`connection '${connection.name}' has no secret yet`)
  const { runSmtpSession } = await import('./smtp-client.ts')
  const attached = message?.mail.attachments.reduce((sum, { content }) => sum + content.length, 0) ?? 0
  const tcp = await openTcpConnection(ctx, { host, port, timeoutMs: callTimeoutMs(attached) })
  try {
    if (config.tls === 'none') requirePrivateAddress(connection, tcp)
    const login = config.username === null || secret === null ? null : { user: config.username, pass: secret }
    const result = await runSmtpSession({ socket: tcp.socket, host, ...config, login }, message)
    return requireReply(result, tcp)
  } finally {
    tcp.close()
  }
}

const TLS_PROBLEM =
  'the mail server offers no encryption, or its certificate is not trusted (config.ca takes your own authority)'

/** A session that ended without a reply is an error of the network. */
function requireReply(result: SmtpResult, tcp: TcpConnection): SmtpResult {
  if (result.step === 'done' || result.reply !== null) return result
  const progress = { sent: result.contentSent }
  if (tcp.isTimedOut()) throw new EgressError('timeout', 'the mail server did not respond in time', progress)
  if (result.isTlsFailure) throw new EgressError('unreachable', TLS_PROBLEM, progress)
  const message = result.contentSent
    ? 'the connection closed before the mail server confirmed the mail'
    : 'the mail server closed the connection'
  throw new EgressError('unreachable', message, progress)
}

/** Replies of mail servers overlap with the statuses of HTTP and mean something else, so they are translated. */
function toRefusal({ step, reply, isTlsFailure }: SmtpFailure): UpstreamResponse {
  if (isTlsFailure) return smtpResponse(503, 'the mail server refuses STARTTLS, and mail is not sent unencrypted')
  if (step === 'login' || /^53[0458]/.test(reply ?? ''))
    return smtpResponse(401, 'the mail server does not accept the username or the password')
  if (step === 'connect') return smtpResponse(503, 'the mail server refuses the connection', { reply })
  return smtpResponse(422, 'the mail server refused the mail', { reply })
}

const smtpResponse = (
  status: number,
  error: string | null,
  body: UpstreamResponse['body'] = null,
): UpstreamResponse => ({ ok: error === null, status, contentType: 'application/json', body, error })

/** The operator lists private addresses in SVC_EGRESS_ALLOW. Only such a mail server may be used without encryption. */
function requirePrivateAddress({ name }: Connection, { isPrivate }: TcpConnection): void {
  if (isPrivate) return
  throw badRequest(
    `connection '${name}': config.require_tls may be false only for a private address that SVC_EGRESS_ALLOW lists`,
  )
}

const SmtpConfig = z.object({
  host: z.string().regex(/^[A-Za-z0-9.:_-]{1,253}$/, 'must be the name of the mail server'),
  port: z.number().int().min(1).max(65_535).optional(),
  /** Encryption from the first byte, as on port 465, instead of STARTTLS. */
  secure: z.boolean().default(false),
  require_tls: z.boolean().default(true),
  username: z.string().min(1).optional(),
  /** A certificate authority in PEM, for a mail server with a certificate of its own organisation. */
  ca: z.string().optional(),
  from: z.string(),
})

function readSmtpConfig({ config }: Connection) {
  const { host, port, secure, require_tls, username, ca, from } = validateFields(SmtpConfig, config, 'config')
  const sender = parseMailAddress(from)
  return {
    host,
    port: port ?? (secure ? 465 : 587),
    tls: secure ? 'implicit' : require_tls ? 'starttls' : 'none',
    ca: ca ?? null,
    clientName: sender ? mailDomain(sender) : 'localhost',
    username: username ?? null,
  } as const
}
