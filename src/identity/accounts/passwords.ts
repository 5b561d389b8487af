import { type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'
import type { World } from '../../platform/ctx/world.ts'

const HASH_BYTES = 32
const SALT_BYTES = 16

type HashingWorld = Pick<World, 'random' | 'passwordCost'>

/** The cost is stored with the hash, so it can be raised without invalidating older passwords. */
export async function hashPassword({ random, passwordCost }: HashingWorld, password: string): Promise<string> {
  const salt = random(SALT_BYTES)
  return formatHash(passwordCost, salt, await deriveKey(password, salt, passwordCost))
}

/** Takes the same time without a stored hash, so that the time does not reveal whether the account exists. */
export async function passwordMatches(
  world: HashingWorld,
  password: string,
  storedHash: string | null,
): Promise<boolean> {
  const { salt, hash, ...cost } = parseHash(storedHash ?? dummyHash(world))
  const same = timingSafeEqual(await deriveKey(password, salt, cost), hash)
  return same && storedHash !== null
}

function formatHash({ N, r, p }: World['passwordCost'], salt: Uint8Array, hash: Uint8Array): string {
  const texts = [salt, hash].map((bytes) => Buffer.from(bytes).toString('base64url'))
  return ['scrypt', N, r, p, ...texts].join('$')
}

const dummyHash = ({ passwordCost }: HashingWorld) =>
  formatHash(passwordCost, new Uint8Array(SALT_BYTES), new Uint8Array(HASH_BYTES))

function parseHash(storedHash: string): { N: number; r: number; p: number; salt: Buffer; hash: Buffer } {
  const [kind, N, r, p, salt = '', hash = ''] = storedHash.split('$')
  if (kind !== 'scrypt') throw new Error('the store has a password hash of an unknown kind')
  return {
    N: Number(N),
    r: Number(r),
    p: Number(p),
    salt: Buffer.from(salt, 'base64url'),
    hash: Buffer.from(hash, 'base64url'),
  }
}

/** Normalises the password, because keyboards encode the same characters as different code points. */
function deriveKey(password: string, salt: Uint8Array, cost: ScryptOptions): Promise<Buffer> {
  const text = password.normalize('NFKC')
  return new Promise((resolve, reject) => {
    scrypt(text, salt, HASH_BYTES, cost, (error, key) => (error ? reject(error) : resolve(key)))
  })
}
