import { createPrivateKey, createPublicKey, sign } from 'node:crypto'
import { type Checkpoint, type ChainHead, checkpointText, exportEndText, publicKeyId } from '../contract/audit-chain.ts'
import type { Ctx } from '../ctx/ctx.ts'
import { isoNow } from '../ctx/world.ts'

/**
 * Signs what a chain's head is now, with an Ed25519 key derived from the service's secret key. A key that was made up
 * at start dies with the process, and with it the proof: what it signed is then not verifiable any more.
 */
export const signCheckpoint = (ctx: Ctx, chain: string, head: ChainHead): Checkpoint =>
  signText(ctx, { chain, ...head, at: isoNow(ctx) }, checkpointText)

/** Signs that an export made at that time ends with this head. */
export const signExportEnd = (ctx: Ctx, chain: string, head: ChainHead, at: string): Checkpoint =>
  signText(ctx, { chain, ...head, at }, exportEndText)

function signText(ctx: Ctx, said: UnsignedCheckpoint, textOf: (said: UnsignedCheckpoint) => Buffer): Checkpoint {
  const signature = sign(null, textOf(said), signingKey(ctx)).toString('base64')
  return { ...said, kid: publicKeyId(auditPublicKey(ctx)), signature }
}

type UnsignedCheckpoint = Omit<Checkpoint, 'kid' | 'signature'>

/** DER (SPKI): what an auditor needs to check the signatures without the secret key. */
export function auditPublicKey(ctx: Ctx): Buffer {
  return createPublicKey(signingKey(ctx)).export({ format: 'der', type: 'spki' })
}

/** What stands before the 32 bytes of an Ed25519 key in PKCS #8 (RFC 8410). */
const PKCS8_ED25519_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')

function signingKey(ctx: Ctx) {
  const key = Buffer.concat([PKCS8_ED25519_PREFIX, ctx.vault.deriveKey('audit checkpoints')])
  return createPrivateKey({ key, format: 'der', type: 'pkcs8' })
}
