import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { type SecretEnvelope, type SecretLocation, SecretUnavailable, type Vault } from '../../platform/ctx/vault.ts'
import type { World } from '../../platform/ctx/world.ts'

/** The vault of this deployment. An invalid key stops the start; a missing one is replaced by a random key and logged. */
export function openVault(world: Pick<World, 'env' | 'log'>): Vault {
  const text = world.env('SVC_SECRET_KEY')
  if (text !== undefined) return createVault(parseSecretKey(text, 'SVC_SECRET_KEY'))
  world.log.warn(
    'SVC_SECRET_KEY is not set: secrets are encrypted with a key that is lost when this process ends; `svc init` creates one that is kept',
  )
  return { ...createVault(randomBytes(32)), ephemeral: true }
}

/** Exactly 32 bytes in base64, or an error that stops the start. */
export function parseSecretKey(text: string, name: string): Buffer {
  const key = Buffer.from(text.trim(), 'base64')
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(text.trim()) || key.length !== 32) {
    throw new Error(`${name} must be exactly 32 bytes in base64 (create one with: openssl rand -base64 32)`)
  }
  return key
}

export function createVault(key: Buffer): Vault {
  const kid = createHmac('sha256', key).update('svc vault key id').digest('hex').slice(0, 16)
  return {
    kid,
    ephemeral: false,
    seal: (value, location) => encrypt(key, kid, value, location),
    open: (envelope, location) => decrypt(key, kid, envelope, location),
    deriveKey: (purpose) => Buffer.from(hkdfSync('sha256', key, '', `svc ${purpose}`, 32)),
  }
}

function encrypt(key: Buffer, kid: string, value: string, location: SecretLocation): SecretEnvelope {
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(associatedData(location))
  const ct = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()])
  return {
    v: 1,
    kid,
    iv: iv.toString('base64'),
    tag: cipher.getAuthTag().toString('base64'),
    ct: ct.toString('base64'),
  }
}

function decrypt(key: Buffer, kid: string, envelope: SecretEnvelope, location: SecretLocation): string {
  if (envelope.kid !== kid) {
    throw new SecretUnavailable(
      `the secret was encrypted with another key (${envelope.kid}, the current key is ${kid}): write it again, or rotate from the old key`,
    )
  }
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(envelope.iv, 'base64'), { authTagLength: 16 })
      .setAAD(associatedData(location))
      .setAuthTag(Buffer.from(envelope.tag, 'base64'))
    return Buffer.concat([decipher.update(Buffer.from(envelope.ct, 'base64')), decipher.final()]).toString('utf8')
  } catch {
    throw new SecretUnavailable('the encrypted secret is damaged or belongs to another connection: write it again')
  }
}

/** Binds the secret to its row, so that an envelope copied to another row does not decrypt. JSON keeps the fields apart. */
function associatedData({ projectId, key, connectionId, kind }: SecretLocation): Buffer {
  return Buffer.from(JSON.stringify([projectId, key, connectionId, kind]))
}
