import { audit } from '../audit/append.ts'
import { type Ctx, inTx } from '../ctx/ctx.ts'
import { SYSTEM } from '../ctx/scope.ts'
import { isoTime } from '../ctx/world.ts'
import type { Account, Broker } from './broker.ts'
import { type Connection, changeConnection } from './rows.ts'

/** Who the provider takes the caller for. It follows from the connection alone: nothing an agent says can change it. */
export function brokerUser(connection: Connection): string {
  const { project_id, owner_kind, owner_id } = connection
  return owner_kind === 'client' ? `${project_id}:${owner_id}` : project_id
}

/** The account that actions use; null until an authorisation has been completed. */
export function connectedAccount(connection: Connection): string | null {
  const { connected_account_id } = connection.config
  return typeof connected_account_id === 'string' ? connected_account_id : null
}

export interface AccountStatus {
  status: string
  active: boolean
  connection: Connection
}

/** Asks the provider, and takes over the account that was begun once it is ACTIVE. */
export async function accountStatus(ctx: Ctx, broker: Broker, connection: Connection): Promise<AccountStatus> {
  const pending = connection.pending_account
  const begun = pending ? await ownAccount(broker, connection, pending) : null
  if (pending && begun?.status === 'ACTIVE') {
    return { status: 'ACTIVE', active: true, connection: await takeOver(ctx, connection, pending) }
  }
  const connected = connectedAccount(connection)
  const account = connected ? await ownAccount(broker, connection, connected) : begun
  const status = account?.status ?? 'INACTIVE'
  return { status, active: connected !== null && status === 'ACTIVE', connection }
}

/** An account of another user is no account: somebody named an id that is not theirs. */
async function ownAccount(broker: Broker, connection: Connection, accountId: string): Promise<Account> {
  const account = await broker.account(accountId)
  const foreign = account.userId !== null && account.userId !== brokerUser(connection)
  return foreign ? { ...account, status: 'INACTIVE' } : account
}

/** When another request was faster, its row is as good as ours. */
function takeOver(ctx: Ctx, connection: Connection, accountId: string): Promise<Connection> {
  const changes = {
    config: { ...connection.config, connected_account_id: accountId },
    pending_account: null,
    updated_at: isoTime(ctx.world.clock.now()),
  }
  return inTx(ctx, async (tx) => {
    if (!(await changeConnection(tx.db, connection, changes))) return connection
    const told = { name: connection.name, toolkit: connection.config.toolkit ?? null }
    await audit(tx, connection.project_id, SYSTEM, 'connection.connected', connection.id, told)
    return { ...connection, ...changes }
  })
}
