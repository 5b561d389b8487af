import { createBodyReader } from '../../../src/customers/channels/parsers/parse-untrusted.ts'
import type { Card } from '../../../src/approvals/notifications/card.ts'
import type { NoticeTarget, NotifierCall } from '../../../src/approvals/notifications/notifier.ts'
import { writeSecret } from '../../../src/connections/setup/write-secret.ts'
import type { NotifierRow } from '../../../src/platform/store/tables.ts'
import { CONNECTION_SECRET } from '../../customers/channels/adapters/adapter-fixtures.ts'
import {
  insertTestConnection,
  openTestContext,
  openUpstreamServer,
  type TestContext,
} from '../../connections/test-context.ts'
import { type FakeUpstream, respondJson } from '../../fake-upstream.ts'

/** A notifier with a connection whose service is a recorder. */
export interface NotifierTest extends TestContext {
  provider: FakeUpstream
  target: (address: string) => NoticeTarget
  /** A call of the service, which is not signed. */
  call: (body: string) => NotifierCall
}

export async function openNotifierTest(
  kind: NotifierRow['kind'],
  respond: FakeUpstream['respond'] = (_, response) => respondJson(response, 200, { ok: true }),
): Promise<NotifierTest> {
  const context = await openTestContext()
  const provider = await openUpstreamServer(respond)
  const connection = await insertTestConnection(context.ctx, { config: { base_url: provider.url } })
  await writeSecret(context.ctx, context.scope, connection, CONNECTION_SECRET)
  const created_at = '2026-01-02T00:00:00.000Z'
  const notifier = { id: 'ntf_1', project_id: 'prj_1', kind, connection_id: connection.id, created_at }
  return {
    ...context,
    provider,
    target: (address) => ({ notifier, connection, address, idempotencyKey: 'ntm_1' }),
    call: (text) => {
      const body = Buffer.from(text)
      return { notifier, connection, secret: null, headers: {}, body, read: createBodyReader(context.ctx, body) }
    },
  }
}

export const sampleCard = (more: Partial<Card> = {}): Card => ({
  kind: 'card',
  approvalId: 'apr_01kjpwd7k8epkfn4cdm631q1gr',
  payloadSha256: '0123456789abcdef'.repeat(4),
  title: 'crm: create a refund of $50.00',
  wedge: 'desk',
  risk: 'low',
  amount: '$50.00',
  client: 'Ada',
  message: 'Where is my money?',
  isUnverified: false,
  payload: [{ name: 'text', value: 'hello' }],
  rule: null,
  progress: null,
  held: null,
  canUndo: false,
  outcome: null,
  decisions: ['approve', 'edit', 'reject', 'revise'],
  expiresAt: null,
  consoleUrl: 'https://desk.example/tasks/task_1',
  decideUrl: null,
  ...more,
})
