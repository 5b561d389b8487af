import { hash } from 'node:crypto'
import { Problem } from '../../platform/base/problem.ts'
import { type Ctx, inTx } from '../../platform/ctx/ctx.ts'
import { isoNow } from '../../platform/ctx/world.ts'
import { findSignedToken, insertSignedToken } from './signed-token-rows.ts'

/** A token that a provider has signed without the body of its call. */
interface SignedToken {
  channel_id: string
  /** What the provider signed the token with, so tokens of different keys differ. */
  signature: string
  /** The hash of the body of the call that has the token. */
  body_hash: string
}

/**
 * Binds a token to the first call that has it. The provider may send that call again to its channel; a 401 for any other, because
 * a person who overheard a call could otherwise put a body of their own below its signature, or send it to another channel with
 * the same key.
 */
export async function bindSignedToken(ctx: Ctx, { channel_id, signature, body_hash }: SignedToken): Promise<void> {
  const signature_hash = hash('sha256', signature)
  const [bound] = await inTx(ctx, async (tx) => {
    await insertSignedToken(tx.db, { signature_hash, channel_id, body_hash, created_at: isoNow(tx) })
    return findSignedToken(tx.db, { signature_hash })
  })
  if (bound?.channel_id !== channel_id || bound.body_hash !== body_hash)
    throw new Problem(401, 'the signed token of the call was used for another one')
}
