import { appendAuditEntry } from '../audit/append.ts'
import { type Ctx, inTx } from '../ctx/ctx.ts'
import { SYSTEM_ACTOR } from '../ctx/scope.ts'
import { isoNow } from '../ctx/world.ts'
import type { BrokerAccount, Broker } from '../broker/broker.ts'
import { type Connection, updateConnectionIfUnchanged, findConnection } from './rows.ts'

/** Who the provider takes the caller for. It follows from the connection alone: nothing an agent says can change it. */
export function brokerUserId(connection: Connection): string {
  const { project_id, owner_kind, owner_id } = connection
  return owner_kind === 'client' ? `${project_id}:${owner_id}` : project_id
}

/** The account that actions use; null until an authorisation has been completed. */
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
 * Asks the provider, and takes over the account that was begun once it is ACTIVE. When somebody else changed the
 * connection meanwhile, such as by taking the account over first, it looks again at what the connection is now.
 */
export async function refreshBrokerAccount(
  ctx: Ctx,
  broker: Broker,
  connection: Connection,
  tries = MAX_ATTEMPTS,
): Promise<BrokerAccountStatus> {
  const pending = connection.pending_account
  const begun = pending ? await findOwnAccount(broker, connection, pending) : null
  if (pending && begun?.status === 'ACTIVE' && tries > 0) {
    const taken = await adoptAccount(ctx, connection, pending)
    if (taken) return { status: 'ACTIVE', active: true, connection: taken }
    const now = await findConnection(ctx.db, connection.id)
    return now ? refreshBrokerAccount(ctx, broker, now, tries - 1) : { status: 'INACTIVE', active: false, connection }
  }
  const connected = connectedAccountId(connection)
  const account = connected ? await findOwnAccount(broker, connection, connected) : begun
  const status = account?.status ?? 'INACTIVE'
  return { status, active: connected !== null && status === 'ACTIVE', connection }
}

const MAX_ATTEMPTS = 5

/** An account of another user is no account: somebody named an id that is not theirs. */
async function findOwnAccount(broker: Broker, connection: Connection, accountId: string): Promise<BrokerAccount> {
  const account = await broker.account(accountId)
  const foreign = account.userId !== null && account.userId !== brokerUserId(connection)
  return foreign ? { ...account, status: 'INACTIVE' } : account
}

/** Null when the connection is no longer as it was read. */
function adoptAccount(ctx: Ctx, connection: Connection, accountId: string): Promise<Connection | null> {
  const changes = {
    config: { ...connection.config, connected_account_id: accountId },
    pending_account: null,
    updated_at: isoNow(ctx),
  }
  return inTx(ctx, async (tx) => {
    if (!(await updateConnectionIfUnchanged(tx.db, connection, changes))) return null
    const told = { name: connection.name, toolkit: connection.config.toolkit ?? null }
    await appendAuditEntry(tx, connection.project_id, SYSTEM_ACTOR, 'connection.connected', connection.id, told)
    return { ...connection, ...changes }
  })
}
