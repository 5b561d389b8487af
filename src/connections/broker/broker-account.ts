import { appendAuditEntry } from '../../audit/append.ts'
import type { Broker, BrokerAccount } from './broker.ts'
import { type Ctx, inTx } from '../../platform/ctx/ctx.ts'
import { SYSTEM_ACTOR } from '../../platform/ctx/scope.ts'
import { isoNow } from '../../platform/ctx/world.ts'
import { type Connection, findConnection, updateConnectionIfUnchanged } from '../connection/rows.ts'

const MAX_ATTEMPTS = 5

/** The user id at the broker. It depends on the connection's owner only, so an agent cannot act for another tenant. */
export function brokerUserId(connection: Connection): string {
  const { project_id, owner_kind, owner_id } = connection
  return owner_kind === 'client' ? `${project_id}:${owner_id}` : project_id
}

/** The account that actions use; null until an authorisation is complete. */
export function connectedAccountId(connection: Connection): string | null {
  const { connected_account_id } = connection.config
  return typeof connected_account_id === 'string' ? connected_account_id : null
}

export interface BrokerAccountStatus {
  status: string
  active: boolean
  connection: Connection
}

/**
 * Reads the account status from the broker, and stores the pending account in the connection once it is ACTIVE. If the
 * connection was changed at the same time, for example by another caller that stored the account, it starts over.
 */
export async function refreshBrokerAccount(
  ctx: Ctx,
  broker: Broker,
  connection: Connection,
  attemptsLeft = MAX_ATTEMPTS,
): Promise<BrokerAccountStatus> {
  const pendingId = connection.pending_account
  const pending = pendingId ? await getOwnAccount(broker, connection, pendingId) : null
  if (pendingId && pending?.status === 'ACTIVE' && attemptsLeft > 0) {
    const updated = await storeConnectedAccount(ctx, connection, pendingId)
    if (updated) return { status: 'ACTIVE', active: true, connection: updated }
    const current = await findConnection(ctx.db, connection.id)
    return current
      ? refreshBrokerAccount(ctx, broker, current, attemptsLeft - 1)
      : { status: 'INACTIVE', active: false, connection }
  }
  const connectedId = connectedAccountId(connection)
  const account = connectedId ? await getOwnAccount(broker, connection, connectedId) : pending
  const status = account?.status ?? 'INACTIVE'
  return { status, active: connectedId !== null && status === 'ACTIVE', connection }
}

/** Treats an account of another user as inactive, because a caller may have given a foreign account id. */
async function getOwnAccount(broker: Broker, connection: Connection, accountId: string): Promise<BrokerAccount> {
  const account = await broker.getAccount(accountId)
  const isForeign = account.userId !== null && account.userId !== brokerUserId(connection)
  return isForeign ? { ...account, status: 'INACTIVE' } : account
}

/** Null when the connection was changed since it was read. */
function storeConnectedAccount(ctx: Ctx, connection: Connection, accountId: string): Promise<Connection | null> {
  const changes = {
    config: { ...connection.config, connected_account_id: accountId },
    pending_account: null,
    updated_at: isoNow(ctx),
  }
  return inTx(ctx, async (tx) => {
    if (!(await updateConnectionIfUnchanged(tx.db, connection, changes))) return null
    const data = { name: connection.name, toolkit: connection.config.toolkit ?? null }
    await appendAuditEntry(tx, connection.project_id, SYSTEM_ACTOR, 'connection.connected', connection.id, data)
    return { ...connection, ...changes }
  })
}
