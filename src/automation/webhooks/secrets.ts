import {
  deleteUnusedSecret,
  findEncryptedSecret,
  toSecretLocation,
  upsertEncryptedSecret,
} from '../../identity/vault/rows.ts'
import type { Ctx, Tx } from '../../platform/ctx/ctx.ts'
import { SecretUnavailable } from '../../platform/ctx/vault.ts'
import { isoNow } from '../../platform/ctx/world.ts'
import type { WebhookRow } from '../../platform/store/tables.ts'

/**
 * Webhook secrets are stored in the vault, so a rotation of the vault key re-encrypts them with all others. Their vault
 * keys begin with a slash, so no connection can refer to them.
 */
type WebhookSecretAge = 'current' | 'previous'

const vaultKey = ({ id }: Pick<WebhookRow, 'id'>, which: WebhookSecretAge): string =>
  which === 'current' ? `/webhooks/${id}` : `/webhooks/${id}/previous`

/** Creates and stores a secret. Only this call returns it in plain text. */
export async function createWebhookSecret(tx: Tx, webhook: WebhookRow): Promise<string> {
  const secret = `whsec_${Buffer.from(tx.world.random(32)).toString('base64')}`
  await sealSecret(tx, webhook, 'current', secret)
  return secret
}

/** Keeps the current secret as the previous one. False if it cannot be decrypted: then it cannot sign any more. */
export async function keepPreviousSecret(tx: Tx, webhook: WebhookRow): Promise<boolean> {
  try {
    await sealSecret(tx, webhook, 'previous', await openSecret(tx, webhook, 'current'))
    return true
  } catch (error) {
    if (error instanceof SecretUnavailable) return false
    throw error
  }
}

/** The secrets that sign deliveries now, the current one first. */
export async function signingSecrets(ctx: Ctx, webhook: WebhookRow): Promise<string[]> {
  const current = await openSecret(ctx, webhook, 'current')
  const overlap = webhook.previous_until !== null && webhook.previous_until > isoNow(ctx)
  return overlap ? [current, await openSecret(ctx, webhook, 'previous')] : [current]
}

export async function removeWebhookSecrets(tx: Tx, webhook: WebhookRow): Promise<void> {
  await deleteUnusedSecret(tx.db, webhook.project_id, vaultKey(webhook, 'current'))
  await deleteUnusedSecret(tx.db, webhook.project_id, vaultKey(webhook, 'previous'))
}

async function sealSecret(tx: Tx, webhook: WebhookRow, which: WebhookSecretAge, secret: string): Promise<void> {
  const entry = vaultEntry(webhook, which)
  const envelope = tx.vault.seal(secret, toSecretLocation(entry))
  await upsertEncryptedSecret(tx.db, { ...entry, envelope, updated_at: isoNow(tx) })
}

async function openSecret(ctx: Ctx, webhook: WebhookRow, which: WebhookSecretAge): Promise<string> {
  const entry = vaultEntry(webhook, which)
  const row = await findEncryptedSecret(ctx.db, entry.project_id, entry.key)
  if (!row) throw new SecretUnavailable('the webhook has no secret; rotate it to create one')
  // Bound to the expected vault entry: an envelope that was copied from another entry does not open.
  return ctx.vault.open(row.envelope, toSecretLocation(entry))
}

/** The vault entry of a secret. The webhook takes the place of the connection. */
const vaultEntry = (webhook: WebhookRow, which: WebhookSecretAge) => ({
  project_id: webhook.project_id,
  key: vaultKey(webhook, which),
  connection_id: webhook.id,
  kind: 'webhook',
})
