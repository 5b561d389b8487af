import { isJsonObject, type Json } from '../../platform/base/json.ts'
import { badRequest } from '../../platform/base/problem.ts'
import type { Broker } from '../broker/broker.ts'
import { createBroker, requireBroker } from '../broker/rest-client.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import { EgressError } from '../../platform/egress/http-client.ts'
import { inlinePayloadFiles } from '../../work/files/payload-files.ts'
import { brokerUserId, connectedAccountId, refreshBrokerAccount } from '../broker/broker-account.ts'
import type { Connection } from '../connection/rows.ts'
import type {
  ConnectionExecutor,
  ConnectionTestResult,
  ConnectionUse,
  ReadCall,
  UpstreamResponse,
} from '../calls/executor.ts'

/** Runs the broker's tools with the connection's authorised account. The capability is the tool's slug. */
export const brokerExecutor: ConnectionExecutor = {
  requiredConfig: ['toolkit'],
  credential: 'broker_account',
  isConfigured: (ctx) => createBroker(ctx) !== null,
  act: (ctx, action) => runTool(ctx, action, inlinePayloadFiles(action.payload, action.files), action.idempotencyKey),
  async read(ctx, read) {
    requireReadTool(read)
    return runTool(ctx, read, read.arguments ?? {}, null)
  },
  test: testAccount,
}

async function runTool(
  ctx: Ctx,
  { connection, capability }: ConnectionUse,
  args: Json,
  idempotencyKey: string | null,
): Promise<UpstreamResponse> {
  if (!/^[A-Za-z0-9_-]{1,200}$/.test(capability)) throw badRequest(`'${capability}' is not a tool slug`)
  if (!isJsonObject(args)) throw badRequest('the arguments of a broker tool must be an object')
  const broker = requireBroker(ctx)
  const result = await broker
    .executeTool({
      slug: capability,
      userId: brokerUserId(connection),
      accountId: await requireAccount(ctx, broker, connection),
      arguments: args,
      idempotencyKey,
    })
    .catch((error) => {
      throw error instanceof EgressError ? withoutStatus(error) : error
    })
  const { ok, status, data: body, error, unclear } = result
  return { ok, status, contentType: 'application/json', body, error, unclear }
}

/** Drops the broker's status: the result of the tool is in the body, which could not be read. */
const withoutStatus = ({ kind, message, sent }: EgressError) => new EgressError(kind, message, { sent })

/** Checks a pending authorisation, so that the first action after it works without a status call. */
async function requireAccount(ctx: Ctx, broker: Broker, connection: Connection): Promise<string> {
  const connected = connectedAccountId(connection)
  if (connected) return connected
  const refreshed = connection.pending_account ? await refreshBrokerAccount(ctx, broker, connection) : null
  const accountId = refreshed?.active ? connectedAccountId(refreshed.connection) : null
  if (accountId) return accountId
  throw badRequest(`connection '${connection.name}' is not connected yet: authorise the toolkit first`)
}

function requireReadTool({ connection, capability }: ReadCall): void {
  const declared = connection.config.read_tools
  if (Array.isArray(declared) && declared.includes(capability)) return
  throw badRequest(`'${capability}' is not a declared read of connection '${connection.name}': use the action proxy`)
}

async function testAccount(ctx: Ctx, connection: Connection): Promise<ConnectionTestResult> {
  const checked = 'status of the connected account'
  const broker = createBroker(ctx)
  if (!broker) return { ok: false, checked, status: null, error: 'broker is not configured: set BROKER_API_KEY' }
  const { active, status } = await refreshBrokerAccount(ctx, broker, connection)
  const error = active ? null : `the account is ${status}: authorise the toolkit first`
  return { ok: active, checked, status: null, error }
}
