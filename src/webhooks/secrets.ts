import { deleteUnusedSecret, findEncryptedSecret, toSecretLocation, upsertEncryptedSecret } from '../vault/rows.ts'
import type { Ctx, Tx } from '../ctx/ctx.ts'
import { SecretUnavailable } from '../ctx/vault.ts'
import { isoNow } from '../ctx/world.ts'
import type { WebhookRow } from '../store/tables.ts'

/**
 * The secrets lie in the vault, so a new key of the vault seals them anew with all others. No connection can name
 * their keys: a reference never begins with a slash.
 */
type WebhookSecretAge = 'current' | 'previous'

const vaultKey = ({ id }: Pick<WebhookRow, 'id'>, which: WebhookSecretAge): string =>
  which === 'current' ? `/webhooks/${id}` : `/webhooks/${id}/previous`

/** A new secret, sealed; this is the only time that it is seen. */
export async function createWebhookSecret(tx: Tx, webhook: WebhookRow): Promise<string> {
  const secret = `whsec_${Buffer.from(tx.world.random(32)).toString('base64')}`
  await sealSecret(tx, webhook, 'current', secret)
  return secret
}

/** Lets the secret of now sign beside the next. False when it cannot be opened any more: then it signs nothing. */
export async function keepPreviousSecret(tx: Tx, webhook: WebhookRow): Promise<boolean> {
  try {
    await sealSecret(tx, webhook, 'previous', await openSecret(tx, webhook, 'current'))
    return true
  } catch (error) {
    if (error instanceof SecretUnavailable) return false
    throw error
  }
}

/** What signs now, the newest first. */
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
  if (!row) throw new SecretUnavailable('the webhook has no secret: rotate it')
  // Where it belongs, not where it lies: one that was moved here stays shut.
  return ctx.vault.open(row.envelope, toSecretLocation(entry))
}

/** How the vault knows a secret: by the webhook that it is of, in the place of a connection. */
const vaultEntry = (webhook: WebhookRow, which: WebhookSecretAge) => ({
  project_id: webhook.project_id,
  key: vaultKey(webhook, which),
  connection_id: webhook.id,
  kind: 'webhook',
})
