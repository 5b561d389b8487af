import { isJsonObject } from '../../base/json.ts'
import { badRequest } from '../../base/problem.ts'
import type { Ctx } from '../../ctx/ctx.ts'
import { accountStatus, brokerUser, connectedAccount } from '../accounts.ts'
import type { Broker } from '../broker.ts'
import { brokerOf } from '../broker-rest.ts'
import { EgressError } from '../egress.ts'
import type { Connection } from '../rows.ts'
import type { Action, Executor, Read, Reply, Use } from './executor.ts'

/** Runs the provider's tools; null without a key, and then the kind has no executor. */
export function brokerExecutor(ctx: Ctx): Executor | null {
  const broker = brokerOf(ctx)
  if (!broker) return null
  return {
    act: (_ctx, action) => run(ctx, broker, action, action.payload, action.idempotencyKey),
    read(_ctx, read) {
      requireDeclared(read)
      return run(ctx, broker, read, read.arguments ?? {}, null)
    },
  }
}

async function run(
  ctx: Ctx,
  broker: Broker,
  { connection, capability }: Use,
  args: Action['payload'],
  idempotencyKey: string | null,
): Promise<Reply> {
  if (!/^[A-Za-z0-9_-]{1,200}$/.test(capability)) throw badRequest(`'${capability}' is not a tool slug`)
  if (!isJsonObject(args)) throw badRequest('the arguments of a broker tool must be an object')
  const done = await broker
    .execute({
      slug: capability,
      userId: brokerUser(connection),
      accountId: await requireAccount(ctx, broker, connection),
      arguments: args,
      idempotencyKey,
    })
    .catch((error) => {
      throw error instanceof EgressError ? withoutStatus(error) : error
    })
  const { ok, status, data: body, error, unclear } = done
  return { ok, status, contentType: 'application/json', body, error, unclear }
}

/** The provider's status tells nothing about the tool: that stands in the body which could not be read. */
const withoutStatus = ({ kind, message, sent }: EgressError) => new EgressError(kind, message, { sent })

/** An authorisation that was completed since nobody asked is found here, so that the first action works. */
async function requireAccount(ctx: Ctx, broker: Broker, connection: Connection): Promise<string> {
  const known = connectedAccount(connection)
  if (known) return known
  const now = connection.pending_account ? await accountStatus(ctx, broker, connection) : null
  const accountId = now?.active ? connectedAccount(now.connection) : null
  if (accountId) return accountId
  throw badRequest(`connection '${connection.name}' is not connected yet: authorise the toolkit first`)
}

function requireDeclared({ connection, capability }: Read): void {
  const declared = connection.config.read_tools
  if (Array.isArray(declared) && declared.includes(capability)) return
  throw badRequest(`'${capability}' is not a declared read of connection '${connection.name}': use the action proxy`)
}
