// Sends one mail with nodemailer over a connection that is already open. The build puts this file into a bundle of its
// own, which the service loads when it sends its first mail by SMTP.
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import MailComposer from 'nodemailer/lib/mail-composer'
import SMTPConnection from 'nodemailer/lib/smtp-connection'
import type { MailAddress } from './mail-address.ts'
import type { Mail } from './mail-payload.ts'

export interface SmtpSession {
  /** Open, with a checked address. The client never opens a connection itself. */
  socket: Socket
  /** The name in the server's certificate. */
  host: string
  /** `implicit`: from the first byte; `starttls`: by command, or the session ends; `none`: without encryption. */
  tls: 'implicit' | 'starttls' | 'none'
  /** The only trusted certificate authority, in PEM; null: the usual ones. */
  ca: string | null
  /** The name that the client gives with EHLO. */
  clientName: string
  login: { user: string; pass: string } | null
}

export interface SmtpMessage {
  mail: Mail
  messageId: string
  date: Date
}

export type SmtpResult =
  | { step: 'done'; reply: string; accepted: string[]; rejected: { address: string; reply: string }[] }
  | SmtpFailure

export interface SmtpFailure {
  /** What failed: the connection with its encryption, the login, or the mail. */
  step: 'connect' | 'login' | 'mail'
  /** The refusal of the server; null if the connection failed. */
  reply: string | null
  isTlsFailure: boolean
  /** The server has asked for the content of the mail, so it may have accepted it. */
  contentSent: boolean
}

/** Logs in and sends the mail, or only logs in if there is none. Ends the session in every case. */
export async function runSmtpSession(session: SmtpSession, message: SmtpMessage | null): Promise<SmtpResult> {
  const composed = message && (await composeMail(message))
  const progress: SessionProgress = { step: 'connect', contentSent: false }
  const opened = { connection: openSession(session), socket: session.socket }
  const { connection } = opened
  try {
    await whileOpen(opened, (done) => connection.connect(done))
    progress.step = 'login'
    const { login } = session
    if (login) await whileOpen(opened, (done) => connection.login({ ...login }, done))
    progress.step = 'mail'
    const info = composed && (await sendContent(opened, composed, progress))
    await endSession(connection)
    const rejected = (info?.rejectedErrors ?? []).map(({ recipient, response }) => ({
      address: recipient ?? '',
      reply: response ?? '',
    }))
    return { step: 'done', reply: info?.response ?? '', accepted: info?.accepted ?? [], rejected }
  } catch (error) {
    connection.close()
    return toFailure(error, progress)
  }
}

interface OpenSession {
  connection: SMTPConnection
  socket: Socket
}

interface SessionProgress {
  step: SmtpFailure['step']
  contentSent: boolean
}

function openSession({ socket, host, tls, ca, clientName }: SmtpSession): SMTPConnection {
  const connection = new SMTPConnection({
    connection: socket,
    host,
    name: clientName,
    secure: tls === 'implicit',
    requireTLS: tls === 'starttls',
    ignoreTLS: tls === 'none',
    logger: false,
    tls: { minVersion: 'TLSv1.2', ...(ca !== null && { ca }) },
  })
  // An error without a listener would end the process.
  connection.on('error', () => {})
  return connection
}

/** The mail is accepted already, so it does not matter how the session ends. */
function endSession(connection: SMTPConnection): Promise<void> {
  return new Promise((resolve) => {
    if (connection.destroyed) return resolve()
    connection.once('end', resolve)
    connection.quit()
  })
}

type Done<T> = (error?: Error | null, result?: T) => void

/** The result of one step. Errors of the connection come as events and not to the step's callback. */
function whileOpen<T>({ connection, socket }: OpenSession, step: (done: Done<T>) => void): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    // The client may close the connection just before it reports why.
    const closed = () => setImmediate(() => reject(new Error('connection closed')))
    if (socket.closed) closed()
    socket.once('close', closed)
    connection.once('error', reject)
    connection.once('end', closed)
    step((error, result) => {
      socket.off('close', closed)
      connection.off('error', reject)
      connection.off('end', closed)
      if (error) reject(error)
      else resolve(result)
    })
  })
}

function sendContent(session: OpenSession, { envelope, content }: ComposedMail, progress: SessionProgress) {
  // The client reads the stream once the server has asked for the content.
  const stream = new Readable({
    read() {
      progress.contentSent = true
      this.push(content)
      this.push(null)
    },
  })
  return whileOpen<Parameters<Parameters<SMTPConnection['send']>[2]>[1]>(session, (done) =>
    session.connection.send({ ...envelope, size: content.length }, stream, done),
  )
}

interface ComposedMail {
  /** Contains the blind copies, which the content does not show. */
  envelope: { from: string | false; to: string[] }
  content: Buffer
}

async function composeMail({ mail, messageId, date }: SmtpMessage): Promise<ComposedMail> {
  const composer = new MailComposer({
    from: toMailbox(mail.from),
    to: mail.to.map(toMailbox),
    cc: mail.cc.map(toMailbox),
    bcc: mail.bcc.map(toMailbox),
    ...(mail.replyTo && { replyTo: toMailbox(mail.replyTo) }),
    subject: mail.subject,
    messageId,
    date,
    headers: mail.headers,
    ...(mail.text !== null && { text: mail.text }),
    ...(mail.html !== null && { html: mail.html }),
    attachments: mail.attachments.map(({ name, contentType, content }) => ({ filename: name, contentType, content })),
    disableFileAccess: true,
    disableUrlAccess: true,
    newline: 'win',
  })
  const node = composer.compile()
  return { envelope: node.getEnvelope(), content: await node.build() }
}

const toMailbox = ({ name, address }: MailAddress) => ({ name, address })

function toFailure(error: unknown, { step, contentSent }: SessionProgress): SmtpFailure {
  const [code, originalCode, response] = ['code', 'originalCode', 'response'].map((field) => readText(error, field))
  return {
    step,
    // Any other reply does not say that the server refused.
    reply: response && /^[45]\d\d/.test(response) ? response : null,
    isTlsFailure: code === 'ETLS' || /CERT|TLS|SSL|ISSUER|SIGNATURE/.test(originalCode ?? ''),
    contentSent,
  }
}

/** A field that nodemailer adds to its errors. */
function readText(error: unknown, field: string): string | null {
  const value: unknown = error instanceof Error ? Reflect.get(error, field) : null
  return typeof value === 'string' ? value : null
}
