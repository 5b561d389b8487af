import { isJsonObject } from '../../base/json.ts'
import { badRequest } from '../../base/problem.ts'
import type { Ctx } from '../../ctx/ctx.ts'
import { refreshBrokerAccount, brokerUserId, connectedAccountId } from '../broker-account.ts'
import type { Broker } from '../../broker/broker.ts'
import { createBroker } from '../../broker/rest-client.ts'
import { EgressError } from '../../egress/http-client.ts'
import type { Connection } from '../rows.ts'
import type { ActionCall, ConnectionExecutor, ReadCall, UpstreamResponse, ConnectionUse } from './executor.ts'

/** Runs the provider's tools; null without a key, and then the kind has no executor. */
export function brokerExecutor(ctx: Ctx): ConnectionExecutor | null {
  const broker = createBroker(ctx)
  if (!broker) return null
  return {
    act: (_ctx, action) => runTool(ctx, broker, action, action.payload, action.idempotencyKey),
    read(_ctx, read) {
      requireReadTool(read)
      return runTool(ctx, broker, read, read.arguments ?? {}, null)
    },
  }
}

async function runTool(
  ctx: Ctx,
  broker: Broker,
  { connection, capability }: ConnectionUse,
  args: ActionCall['payload'],
  idempotencyKey: string | null,
): Promise<UpstreamResponse> {
  if (!/^[A-Za-z0-9_-]{1,200}$/.test(capability)) throw badRequest(`'${capability}' is not a tool slug`)
  if (!isJsonObject(args)) throw badRequest('the arguments of a broker tool must be an object')
  const done = await broker
    .execute({
      slug: capability,
      userId: brokerUserId(connection),
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
  const known = connectedAccountId(connection)
  if (known) return known
  const now = connection.pending_account ? await refreshBrokerAccount(ctx, broker, connection) : null
  const accountId = now?.active ? connectedAccountId(now.connection) : null
  if (accountId) return accountId
  throw badRequest(`connection '${connection.name}' is not connected yet: authorise the toolkit first`)
}

function requireReadTool({ connection, capability }: ReadCall): void {
  const declared = connection.config.read_tools
  if (Array.isArray(declared) && declared.includes(capability)) return
  throw badRequest(`'${capability}' is not a declared read of connection '${connection.name}': use the action proxy`)
}
