import { appendAuditEntry } from '../audit/append.ts'
import { resealChainHeads } from '../audit/reseal-heads.ts'
import { type Ctx, inTx, type Tx } from '../ctx/ctx.ts'
import { SYSTEM_ACTOR } from '../ctx/scope.ts'
import { type SecretEnvelope, SecretUnavailable, type Vault } from '../ctx/vault.ts'
import { isoNow } from '../ctx/world.ts'
import {
  listEncryptedSecrets,
  toSecretPlace,
  type EncryptedSecret,
  upsertEncryptedSecret,
} from '../connections/rows.ts'
import { parseSecretKey, createVault } from './vault.ts'

export interface KeyRotation {
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
export function rotateSecretKey(ctx: Ctx, oldKey: string): Promise<KeyRotation> {
  const old = createVault(parseSecretKey(oldKey, 'SVC_SECRET_KEY_OLD'))
  return inTx(ctx, async (tx) => {
    const unsealed = await resealChainHeads(tx, old)
    const rows = await listEncryptedSecrets(tx.db)
    const outdated = rows.filter((row) => row.envelope.kid !== tx.vault.kid)
    const unreadable: string[] = []
    const resealedIn = new Map<string, number>()
    for (const row of outdated) {
      const envelope = reencrypt(row, old, tx.vault)
      if (!envelope) unreadable.push(row.connection_id)
      else {
        await upsertEncryptedSecret(tx.db, { ...row, envelope, updated_at: isoNow(tx) })
        resealedIn.set(row.project_id, (resealedIn.get(row.project_id) ?? 0) + 1)
      }
    }
    await auditRotation(tx, resealedIn, old.kid)
    const resealed = outdated.length - unreadable.length
    return { resealed, current: rows.length - outdated.length, unreadable, unsealed }
  })
}

function reencrypt(row: EncryptedSecret, from: Vault, to: Vault): SecretEnvelope | null {
  const place = toSecretPlace(row)
  try {
    return to.seal(from.open(row.envelope, place), place)
  } catch (error) {
    if (error instanceof SecretUnavailable) return null
    throw error
  }
}

async function auditRotation(tx: Tx, resealedIn: Map<string, number>, from: string): Promise<void> {
  for (const [projectId, secrets] of resealedIn) {
    await appendAuditEntry(tx, projectId, SYSTEM_ACTOR, 'vault.rotated', projectId, { secrets, from, to: tx.vault.kid })
  }
}
