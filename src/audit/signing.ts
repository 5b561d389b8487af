import { createPrivateKey, createPublicKey, sign } from 'node:crypto'
import { type Checkpoint, type ChainHead, checkpointText, endText, keyId } from '../base/audit-chain.ts'
import type { Ctx } from '../ctx/ctx.ts'
import { isoNow } from '../ctx/world.ts'

/**
 * Signs what a chain's head is now, with an Ed25519 key derived from the service's secret key. A key that was made up
 * at start dies with the process, and with it the proof: what it signed is then not verifiable any more.
 */
export const signHead = (ctx: Ctx, chain: string, head: ChainHead): Checkpoint =>
  signed(ctx, { chain, ...head, at: isoNow(ctx) }, checkpointText)

/** Signs that an export made at that time ends with this head. */
export const signEnd = (ctx: Ctx, chain: string, head: ChainHead, at: string): Checkpoint =>
  signed(ctx, { chain, ...head, at }, endText)

function signed(ctx: Ctx, said: Said, textOf: (said: Said) => Buffer): Checkpoint {
  const signature = sign(null, textOf(said), signingKey(ctx)).toString('base64')
  return { ...said, kid: keyId(publicKey(ctx)), signature }
}

type Said = Omit<Checkpoint, 'kid' | 'signature'>

/** DER (SPKI): what an auditor needs to check the signatures without the secret key. */
export function publicKey(ctx: Ctx): Buffer {
  return createPublicKey(signingKey(ctx)).export({ format: 'der', type: 'spki' })
}

/** What stands before the 32 bytes of an Ed25519 key in PKCS #8 (RFC 8410). */
const PKCS8_ED25519 = Buffer.from('302e020100300506032b657004220420', 'hex')

function signingKey(ctx: Ctx) {
  const key = Buffer.concat([PKCS8_ED25519, ctx.vault.derive('audit checkpoints')])
  return createPrivateKey({ key, format: 'der', type: 'pkcs8' })
}
