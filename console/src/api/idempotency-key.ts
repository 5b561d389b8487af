/** The beginning of the idempotency keys of one form or draft. `randomUUID` needs https. */
export const newIdempotencyKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')

/** The same body has the same key, so a request that is repeated after a lost response has one effect. */
export const idempotencyKeyOf = (key: string, body: object): string => `${key}-${hash(body)}`

/** Distinguishes the bodies of one form or draft; it is not a security feature. */
function hash(body: object): string {
  let sum = 0
  for (const char of JSON.stringify(body)) sum = (sum * 31 + (char.codePointAt(0) ?? 0)) % 4_294_967_291
  return sum.toString(36)
}
