import { TOKEN_PREFIX, tokenHash } from '../../platform/base/tokens.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import { isoNow } from '../../platform/ctx/world.ts'
import { findApiKeyByHash, findMemberBySession } from './credential-rows.ts'

/** A token of the founder plane, without its secret. */
export interface FounderToken {
  kind: 'key' | 'session'
  hash: string
}

/** Null for a token of another plane, and for any other text. */
export function parseFounderToken(token: string): FounderToken | null {
  if (token.startsWith(TOKEN_PREFIX.founderKey)) return { kind: 'key', hash: tokenHash(token) }
  if (token.startsWith(TOKEN_PREFIX.founderSession)) return { kind: 'session', hash: tokenHash(token) }
  return null
}

type Found<T extends (...args: never[]) => Promise<unknown[]>> = Awaited<ReturnType<T>>[number]

export type Credential =
  | { kind: 'key'; key: Found<typeof findApiKeyByHash> }
  | { kind: 'session'; member: Found<typeof findMemberBySession>; hash: string }

/**
 * The key or the session that a token belongs to; null when it does not exist, was revoked or has expired. Every check
 * of a founder's credential is made here.
 */
export async function findCredential(
  ctx: Pick<Ctx, 'db' | 'world'>,
  token: FounderToken | null,
): Promise<Credential | null> {
  if (!token) return null
  const { kind, hash } = token
  if (kind === 'key') {
    const [key] = await findApiKeyByHash(ctx.db, { hash })
    return key ? { kind, key } : null
  }
  const [member] = await findMemberBySession(ctx.db, { hash, now: isoNow(ctx) })
  return member ? { kind, member, hash } : null
}
