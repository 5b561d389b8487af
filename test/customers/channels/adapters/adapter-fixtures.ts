import { Readable } from 'node:stream'
import type { JsonObject } from '../../../../src/platform/base/json.ts'
import { Problem } from '../../../../src/platform/base/problem.ts'
import type {
  AdapterChannel,
  ChannelAdapter,
  ChannelHook,
  ChannelConversation,
  HookCall,
  IncomingFile,
  ReplyResult,
} from '../../../../src/customers/channels/adapters/adapter.ts'
import { createBodyReader } from '../../../../src/customers/channels/parsers/parse-untrusted.ts'
import type { Connection } from '../../../../src/connections/connection/rows.ts'
import { writeSecret } from '../../../../src/connections/setup/write-secret.ts'
import type { Ctx } from '../../../../src/platform/ctx/ctx.ts'
import { storeFile } from '../../../../src/work/files/store-file.ts'
import type { MessageRow, ThreadRow } from '../../../../src/platform/store/tables.ts'
import {
  insertTestConnection,
  openTestContext,
  openUpstreamServer,
  type TestContext,
} from '../../../connections/test-context.ts'
import { type FakeUpstream, respondJson } from '../../../fake-upstream.ts'

export const CHANNEL_SECRET = 'the-secret-of-the-channel'
export const CONNECTION_SECRET = 'the-secret-of-the-connection'

/** An adapter with a connection whose provider is a recorder. */
export interface AdapterTest extends TestContext {
  adapter: ChannelAdapter
  hook: ChannelHook
  provider: FakeUpstream
  connection: Connection
  /** A call of the provider. */
  call: (body: string | object, headers?: Record<string, string>, more?: Partial<HookCall>) => HookCall
  /** The status that the adapter answers a call with; 200 if it is accepted. */
  verify: (call: HookCall) => Promise<number>
  /** Sends a reply to the last message that had this address. */
  reply: (address: JsonObject, text: string, files?: JsonObject[]) => Promise<ReplyResult>
  /** Stores a text file of the team and returns the reference to it. */
  storeFile: (name: string, content: string) => Promise<JsonObject>
}

const CHANNEL: AdapterChannel = {
  id: 'chan_1',
  project_id: 'prj_1',
  connection_id: 'conn_1',
  address: 'desk',
  wedge: 'desk',
  task_type: 'triage',
  adapter: 'test',
  config: {},
  settle_s: 0,
  progress: null,
  poller: null,
  poller_until: null,
  last_received_at: null,
  last_error: null,
  last_error_at: null,
  created_at: '2026-01-02T00:00:00.000Z',
}

export async function openAdapterTest(
  adapter: ChannelAdapter,
  config: JsonObject = {},
  respond: FakeUpstream['respond'] = (_, response) => respondJson(response, 200, { ok: true }),
): Promise<AdapterTest> {
  const context = await openTestContext()
  const provider = await openUpstreamServer(respond)
  const connection = await insertTestConnection(context.ctx, { config: { base_url: provider.url, ...config } })
  await writeSecret(context.ctx, context.scope, connection, CONNECTION_SECRET)
  const { hook, reply } = adapter
  if (!hook) throw new Error('the adapter has no hook')
  return {
    ...context,
    adapter,
    hook,
    provider,
    connection,
    call: (body, headers = {}, more = {}) => {
      const bytes = more.body ?? Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
      return {
        channel: CHANNEL,
        connection,
        secret: CHANNEL_SECRET,
        url: 'https://desk.example/v1/hooks/chan_1',
        headers,
        caller: '203.0.113.7',
        body: bytes,
        read: createBodyReader(context.ctx, bytes),
        ...more,
      }
    },
    verify: (call) => verifyStatus(context.ctx, hook, call),
    reply: async (address, text, files = []) => {
      if (!reply?.send) throw new Error('the adapter sends no reply')
      const payload = reply.compose(conversationWith(connection, address), { text, files })
      const call = { connection, secret: CONNECTION_SECRET, channel: CHANNEL, payload, idempotencyKey: 'apr_1' }
      return reply.send(context.ctx, call)
    },
    storeFile: async (name, content) => {
      const owner = { projectId: connection.project_id, clientId: null, actor: context.scope.actor }
      const { id, sha256 } = await storeFile(context.ctx, owner, { name }, Readable.from([Buffer.from(content)]))
      return { $file: id, name, sha256 }
    },
  }
}

async function verifyStatus(ctx: Ctx, hook: ChannelHook, call: HookCall): Promise<number> {
  try {
    await hook.verifyHead(ctx, call)
    await hook.verifyBody?.(ctx, call)
    return 200
  } catch (error) {
    if (error instanceof Problem) return error.status
    throw error
  }
}

/** Only the fields that adapters read. */
const conversationWith = (connection: Connection, address: JsonObject): ChannelConversation => ({
  channel: CHANNEL,
  connection,
  thread: { id: 'thr_1', reply_token: null } as ThreadRow,
  lastInbound: { id: 'msg_1', address: JSON.stringify(address) } as MessageRow,
  externalIds: [],
})

export async function readIncoming(file: IncomingFile | undefined): Promise<string> {
  if (!file) throw new Error('there is no file')
  const pieces: Buffer[] = []
  for await (const piece of file.open()) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

/** The fields of a form in one order, to compare two requests. */
export const sortedFields = (body: string | undefined): string[] =>
  [...new URLSearchParams(body)].map(([name, value]) => `${name}=${value}`).toSorted()
