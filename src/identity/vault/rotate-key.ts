import { appendAuditEntry } from '../../audit/append.ts'
import { resealChainHeads } from '../../audit/reseal-heads.ts'
import { type Ctx, inTx, type Tx } from '../../platform/ctx/ctx.ts'
import { SYSTEM_ACTOR } from '../../platform/ctx/scope.ts'
import { type SecretEnvelope, SecretUnavailable, type Vault } from '../../platform/ctx/vault.ts'
import { isoNow } from '../../platform/ctx/world.ts'
import { type EncryptedSecret, listEncryptedSecrets, toSecretLocation, upsertEncryptedSecret } from './rows.ts'
import { createVault, parseSecretKey } from './vault.ts'

export interface KeyRotation {
  /** How many secrets were encrypted again with the current key. */
  resealed: number
  /** How many secrets had been encrypted with the current key before. */
  current: number
  /** Connections whose secret neither key decrypts: it must be written again. */
  unreadable: string[]
  /** Audit chains whose head neither key has sealed, or whose head was changed since. */
  unsealed: string[]
}

/** Encrypts all secrets and seals all audit heads of the old key again with the current key. Atomic and repeatable. */
export function rotateSecretKey(ctx: Ctx, oldKey: string): Promise<KeyRotation> {
  const old = createVault(parseSecretKey(oldKey, 'SVC_SECRET_KEY_OLD'))
  return inTx(ctx, async (tx) => {
    const unsealed = await resealChainHeads(tx, old)
    const rows = await listEncryptedSecrets(tx.db)
    const outdated = rows.filter((row) => row.envelope.kid !== tx.vault.kid)
    const unreadable: string[] = []
    const countByProject = new Map<string, number>()
    for (const row of outdated) {
      const envelope = reencrypt(row, old, tx.vault)
      if (!envelope) unreadable.push(row.connection_id)
      else {
        await upsertEncryptedSecret(tx.db, { ...row, envelope, updated_at: isoNow(tx) })
        countByProject.set(row.project_id, (countByProject.get(row.project_id) ?? 0) + 1)
      }
    }
    await auditRotation(tx, countByProject, old.kid)
    const resealed = outdated.length - unreadable.length
    return { resealed, current: rows.length - outdated.length, unreadable, unsealed }
  })
}

function reencrypt(row: EncryptedSecret, from: Vault, to: Vault): SecretEnvelope | null {
  const location = toSecretLocation(row)
  try {
    return to.seal(from.open(row.envelope, location), location)
  } catch (error) {
    if (error instanceof SecretUnavailable) return null
    throw error
  }
}

async function auditRotation(tx: Tx, countByProject: Map<string, number>, from: string): Promise<void> {
  for (const [projectId, secrets] of countByProject) {
    await appendAuditEntry(tx, projectId, SYSTEM_ACTOR, 'vault.rotated', projectId, { secrets, from, to: tx.vault.kid })
  }
}
