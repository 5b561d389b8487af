import { type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'

/** Of OWASP's equal choices the one that takes least memory: 16 MiB, about a fifth of a second. */
const COST = { N: 2 ** 14, r: 8, p: 5 }
const LENGTH = 32
export const SALT_LENGTH = 16

/** The parameters are kept with the hash, so they can be raised without locking anyone out. */
export async function hashPassword(password: string, salt: Uint8Array): Promise<string> {
  return stored(salt, await derive(password, salt, COST))
}

/** Costs the same when there is no such account, so the time tells nothing. */
export async function passwordMatches(password: string, kept: string | null): Promise<boolean> {
  const { salt, hash, ...cost } = parse(kept ?? NOBODY)
  const same = timingSafeEqual(await derive(password, salt, cost), hash)
  return same && kept !== null
}

function stored(salt: Uint8Array, hash: Uint8Array): string {
  const texts = [salt, hash].map((bytes) => Buffer.from(bytes).toString('base64url'))
  return ['scrypt', COST.N, COST.r, COST.p, ...texts].join('$')
}

const NOBODY = stored(new Uint8Array(SALT_LENGTH), new Uint8Array(LENGTH))

function parse(kept: string): { N: number; r: number; p: number; salt: Buffer; hash: Buffer } {
  const [kind, N, r, p, salt = '', hash = ''] = kept.split('$')
  if (kind !== 'scrypt') throw new Error('the store has a password of an unknown kind')
  return {
    N: Number(N),
    r: Number(r),
    p: Number(p),
    salt: Buffer.from(salt, 'base64url'),
    hash: Buffer.from(hash, 'base64url'),
  }
}

/** One text can be typed as different code points on different keyboards. */
function derive(password: string, salt: Uint8Array, cost: ScryptOptions): Promise<Buffer> {
  const text = password.normalize('NFKC')
  return new Promise((resolve, reject) => {
    scrypt(text, salt, LENGTH, cost, (error, key) => (error ? reject(error) : resolve(key)))
  })
}
