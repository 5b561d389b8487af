import { createPrivateKey, createPublicKey, sign } from 'node:crypto'
import {
  type ChainHead,
  type Checkpoint,
  checkpointText,
  exportEndText,
  publicKeyId,
} from '../platform/contract/audit/audit-chain.ts'
import type { Ctx } from '../platform/ctx/ctx.ts'
import { isoNow } from '../platform/ctx/world.ts'

/**
 * Signs the current head of a chain with an Ed25519 key derived from SVC_SECRET_KEY. Signatures of a temporary key cannot
 * be verified after the process ends.
 */
export const signCheckpoint = (ctx: Ctx, chain: string, head: ChainHead): Checkpoint =>
  signText(ctx, { chain, ...head, at: isoNow(ctx) }, checkpointText)

/** Signs that an export made at this time ends with this head. */
export const signExportEnd = (ctx: Ctx, chain: string, head: ChainHead, at: string): Checkpoint =>
  signText(ctx, { chain, ...head, at }, exportEndText)

function signText(
  ctx: Ctx,
  checkpoint: UnsignedCheckpoint,
  toText: (checkpoint: UnsignedCheckpoint) => Buffer,
): Checkpoint {
  const signature = sign(null, toText(checkpoint), signingKey(ctx)).toString('base64')
  return { ...checkpoint, kid: publicKeyId(auditPublicKey(ctx)), signature }
}

type UnsignedCheckpoint = Omit<Checkpoint, 'kid' | 'signature'>

/** In DER (SPKI). An auditor needs it to verify the signatures. */
export function auditPublicKey(ctx: Ctx): Buffer {
  return createPublicKey(signingKey(ctx)).export({ format: 'der', type: 'spki' })
}

/** The PKCS #8 header of a 32-byte Ed25519 key (RFC 8410). */
const PKCS8_ED25519_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')

function signingKey(ctx: Ctx) {
  const key = Buffer.concat([PKCS8_ED25519_PREFIX, ctx.vault.deriveKey('audit checkpoints')])
  return createPrivateKey({ key, format: 'der', type: 'pkcs8' })
}
