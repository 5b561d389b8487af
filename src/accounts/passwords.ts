import { type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'
import type { World } from '../ctx/world.ts'

const HASH_BYTES = 32
const SALT_BYTES = 16

type HashingWorld = Pick<World, 'random' | 'passwordCost'>

/** The parameters are kept with the hash, so they can be raised without locking anyone out. */
export async function hashPassword({ random, passwordCost }: HashingWorld, password: string): Promise<string> {
  const salt = random(SALT_BYTES)
  return formatHash(passwordCost, salt, await deriveKey(password, salt, passwordCost))
}

/** Costs the same when there is no such account, so the time tells nothing. */
export async function passwordMatches(world: HashingWorld, password: string, kept: string | null): Promise<boolean> {
  const { salt, hash, ...cost } = parseHash(kept ?? dummyHash(world))
  const same = timingSafeEqual(await deriveKey(password, salt, cost), hash)
  return same && kept !== null
}

function formatHash({ N, r, p }: World['passwordCost'], salt: Uint8Array, hash: Uint8Array): string {
  const texts = [salt, hash].map((bytes) => Buffer.from(bytes).toString('base64url'))
  return ['scrypt', N, r, p, ...texts].join('$')
}

const dummyHash = ({ passwordCost }: HashingWorld) =>
  formatHash(passwordCost, new Uint8Array(SALT_BYTES), new Uint8Array(HASH_BYTES))

function parseHash(kept: string): { N: number; r: number; p: number; salt: Buffer; hash: Buffer } {
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
function deriveKey(password: string, salt: Uint8Array, cost: ScryptOptions): Promise<Buffer> {
  const text = password.normalize('NFKC')
  return new Promise((resolve, reject) => {
    scrypt(text, salt, HASH_BYTES, cost, (error, key) => (error ? reject(error) : resolve(key)))
  })
}
