import { audit } from '../audit/append.ts'
import { resealHeads } from '../audit/seal-heads.ts'
import { type Ctx, inTx, type Tx } from '../ctx/ctx.ts'
import { SYSTEM } from '../ctx/scope.ts'
import { type Envelope, SecretUnavailable, type Vault } from '../ctx/vault.ts'
import { isoNow } from '../ctx/world.ts'
import { allSealed, placeOf, type SealedSecret, saveSealed } from './rows.ts'
import { parseKey, vaultWith } from './vault.ts'

export interface Rotation {
  /** Secrets that are now sealed with the key in use. */
  resealed: number
  /** Secrets that were before. */
  current: number
  /** Connections whose secret neither key opens: it must be written again. */
  unreadable: string[]
  /** Audit chains that neither key has sealed, or that were changed since. */
  unsealed: string[]
}

/** Seals everything anew that the old key sealed. All or nothing, and safe to run again. */
export function rotateVault(ctx: Ctx, oldKey: string): Promise<Rotation> {
  const old = vaultWith(parseKey(oldKey, 'SVC_SECRET_KEY_OLD'))
  return inTx(ctx, async (tx) => {
    const unsealed = await resealHeads(tx, old)
    const rows = await allSealed(tx.db)
    const outdated = rows.filter((row) => row.envelope.kid !== tx.vault.kid)
    const unreadable: string[] = []
    const resealedIn = new Map<string, number>()
    for (const row of outdated) {
      const envelope = reseal(row, old, tx.vault)
      if (!envelope) unreadable.push(row.connection_id)
      else {
        await saveSealed(tx.db, { ...row, envelope, updated_at: isoNow(tx) })
        resealedIn.set(row.project_id, (resealedIn.get(row.project_id) ?? 0) + 1)
      }
    }
    await tell(tx, resealedIn, old.kid)
    const resealed = outdated.length - unreadable.length
    return { resealed, current: rows.length - outdated.length, unreadable, unsealed }
  })
}

function reseal(row: SealedSecret, from: Vault, to: Vault): Envelope | null {
  const place = placeOf(row)
  try {
    return to.seal(from.open(row.envelope, place), place)
  } catch (error) {
    if (error instanceof SecretUnavailable) return null
    throw error
  }
}

async function tell(tx: Tx, resealedIn: Map<string, number>, from: string): Promise<void> {
  for (const [projectId, secrets] of resealedIn) {
    await audit(tx, projectId, SYSTEM, 'vault.rotated', projectId, { secrets, from, to: tx.vault.kid })
  }
}
