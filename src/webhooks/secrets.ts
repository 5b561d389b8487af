import { dropUnusedSecret, findSealed, placeOf, saveSealed } from '../connections/rows.ts'
import type { Ctx, Tx } from '../ctx/ctx.ts'
import { SecretUnavailable } from '../ctx/vault.ts'
import { isoNow } from '../ctx/world.ts'
import type { Webhooks } from '../store/tables.ts'

/**
 * The secrets lie in the vault, so a new key of the vault seals them anew with all others. No connection can name
 * their keys: a reference never begins with a slash.
 */
type Which = 'current' | 'previous'

const keyOf = ({ id }: Pick<Webhooks, 'id'>, which: Which): string =>
  which === 'current' ? `/webhooks/${id}` : `/webhooks/${id}/previous`

/** A new secret, sealed; this is the only time that it is seen. */
export async function newSecret(tx: Tx, webhook: Webhooks): Promise<string> {
  const secret = `whsec_${Buffer.from(tx.world.random(32)).toString('base64')}`
  await seal(tx, webhook, 'current', secret)
  return secret
}

/** Lets the secret of now sign beside the next. False when it cannot be opened any more: then it signs nothing. */
export async function keepAsPrevious(tx: Tx, webhook: Webhooks): Promise<boolean> {
  try {
    await seal(tx, webhook, 'previous', await open(tx, webhook, 'current'))
    return true
  } catch (error) {
    if (error instanceof SecretUnavailable) return false
    throw error
  }
}

/** What signs now, the newest first. */
export async function signingSecrets(ctx: Ctx, webhook: Webhooks): Promise<string[]> {
  const current = await open(ctx, webhook, 'current')
  const overlap = webhook.previous_until !== null && webhook.previous_until > isoNow(ctx)
  return overlap ? [current, await open(ctx, webhook, 'previous')] : [current]
}

export async function dropSecrets(tx: Tx, webhook: Webhooks): Promise<void> {
  await dropUnusedSecret(tx.db, webhook.project_id, keyOf(webhook, 'current'))
  await dropUnusedSecret(tx.db, webhook.project_id, keyOf(webhook, 'previous'))
}

async function seal(tx: Tx, webhook: Webhooks, which: Which, secret: string): Promise<void> {
  const entry = entryOf(webhook, which)
  const envelope = tx.vault.seal(secret, placeOf(entry))
  await saveSealed(tx.db, { ...entry, envelope, updated_at: isoNow(tx) })
}

async function open(ctx: Ctx, webhook: Webhooks, which: Which): Promise<string> {
  const entry = entryOf(webhook, which)
  const row = await findSealed(ctx.db, entry.project_id, entry.key)
  if (!row) throw new SecretUnavailable('the webhook has no secret: rotate it')
  // Where it belongs, not where it lies: one that was moved here stays shut.
  return ctx.vault.open(row.envelope, placeOf(entry))
}

/** How the vault knows a secret: by the webhook that it is of, in the place of a connection. */
const entryOf = (webhook: Webhooks, which: Which) => ({
  project_id: webhook.project_id,
  key: keyOf(webhook, which),
  connection_id: webhook.id,
  kind: 'webhook',
})
