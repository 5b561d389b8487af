import { WebhookSignatureError } from './errors.ts'
import type { CreateWebhookRequest } from './openapi.ts'

/** The body of a webhook call. It names an object only; read the object with your API key. */
export interface WebhookEvent {
  /** The same for every attempt to deliver it. */
  id: string
  type: CreateWebhookRequest['events'][number]
  created_at: string
  data: { id: string }
}

export interface VerifyOptions {
  /** How far the clocks may differ, in seconds. Default: 300. */
  toleranceS?: number | undefined
  /** The current time in seconds since 1970, for tests. */
  nowS?: number | undefined
}

type WebhookHeaders = Headers | { [name: string]: string | string[] | undefined }

/**
 * Returns the event of a webhook call that the service has signed with this secret. Throws a WebhookSignatureError for
 * every other call. `rawBody` must be the bytes as they arrived: JSON that was parsed and written again differs.
 */
export async function verifyWebhook(
  secret: string,
  headers: WebhookHeaders,
  rawBody: string | Uint8Array,
  { toleranceS = 300, nowS = Date.now() / 1000 }: VerifyOptions = {},
): Promise<WebhookEvent> {
  const [id, time, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    readHeader(headers, name),
  )
  if (!id || !time || !signatures) throw new WebhookSignatureError('the call has no webhook headers')
  if (!(Math.abs(nowS - Number(time)) <= toleranceS)) {
    throw new WebhookSignatureError('the call is too old, or the clocks differ')
  }
  const body = typeof rawBody === 'string' ? new TextEncoder().encode(rawBody) : rawBody
  const start = new TextEncoder().encode(`${id}.${time}.`)
  const signed = new Uint8Array(start.length + body.length)
  signed.set(start)
  signed.set(body, start.length)
  if (!(await isSigned(secret, signed, signatures))) {
    throw new WebhookSignatureError('the signature does not fit this secret')
  }
  return JSON.parse(new TextDecoder().decode(body)) as WebhookEvent
}

/** While a secret is replaced, the service sends one signature for each of the two secrets. */
async function isSigned(secret: string, signed: Uint8Array<ArrayBuffer>, signatures: string): Promise<boolean> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const bytes = decodeBase64(secret.replace(/^whsec_/, ''))
  if (!bytes || bytes.length === 0) throw new WebhookSignatureError('the secret is not one of a webhook (whsec_…)')
  const key = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['verify'])
  for (const signature of signatures.split(' ')) {
    const given = signature.startsWith('v1,') ? decodeBase64(signature.slice(3)) : null
    if (given && (await crypto.subtle.verify(algorithm, key, given, signed))) return true
  }
  return false
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    return null
  }
}

function readHeader(headers: WebhookHeaders, name: string): string | null {
  if (headers instanceof Headers) return headers.get(name)
  const [, value] = Object.entries(headers).find(([key]) => key.toLowerCase() === name) ?? []
  return typeof value === 'string' ? value : null
}
