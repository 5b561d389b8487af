import { expect, test } from 'vitest'
import { testApp } from '../app.ts'
import { GATED_ENV } from '../approvals/decisions/gated-app.ts'
import { openUpstreamServer } from './test-context.ts'
import { respondJson } from '../fake-upstream.ts'
import { approveAndFinish, MCP_WEDGE, openMcpApp } from './mcp/mcp-app.ts'

const SECRET = 'sk_test_canary_0123456789'
const LONG = 'very '.repeat(200)

/** An API whose errors have the forms of Stripe, Slack and others, and which repeats the credential. */
const RESPONSES: Record<string, [number, unknown]> = {
  '/refunded': [400, { error: { code: 'charge_already_refunded', message: 'Charge ch_1 has already been refunded.' } }],
  '/channel': [200, { ok: false, error: 'channel_not_found' }],
  '/problem': [409, { title: 'Conflict', detail: 'the order is closed' }],
  '/long': [422, { errors: [{ message: `${LONG}${SECRET}` }] }],
  '/echo': [403, { message: `no access\nfor ${SECRET}` }],
  '/postmark': [422, { ErrorCode: 406, Message: 'The recipient is inactive.' }],
  '/shopify': [422, { errors: { title: ["can't be blank"], vendor: ['is too long'] } }],
  '/shop': [404, { errors: 'Not Found' }],
  '/airtable': [422, { error: { type: 'INVALID_VALUE', message: 'Field "Price" cannot accept the value.' } }],
  '/table': [404, { error: { type: 'TABLE_NOT_FOUND' } }],
  '/zendesk': [
    422,
    {
      error: 'RecordInvalid',
      description: 'Record validation errors',
      details: { value: [{ type: 'blank', description: 'Value: cannot be blank' }] },
    },
  ],
  '/github': [422, { message: 'Validation Failed', errors: [{ resource: 'Issue', field: 'title', code: 'missing' }] }],
  '/nested': [400, { errors: { a: { b: { c: { d: { e: { f: 'too deep' } } } } } } }],
  '/done': [200, { fault: true }],
  '/accepted': [200, { message: 'the account is closed' }],
  '/html': [500, '<html><body>oops</body></html>'],
}

const operation = (name: string, read: boolean) => ({
  name,
  read,
  method: read ? 'GET' : 'POST',
  path: `/${name.split('.')[1]}`,
  ...(name.endsWith('channel') && { error_path: 'error' }),
  ...(/done|accepted/.test(name) && { success: [201] }),
})

async function openApp() {
  const server = await openUpstreamServer((request, response) => {
    const [status, body] = RESPONSES[new URL(request.url ?? '', 'http://x').pathname] ?? [404, {}]
    return respondJson(response, status, body)
  })
  const app = await testApp({ store: 'sqlite', wedges: MCP_WEDGE, env: GATED_ENV })
  const operations = Object.keys(RESPONSES).flatMap((path) => [
    operation(`get.${path.slice(1)}`, true),
    operation(`do.${path.slice(1)}`, false),
  ])
  const config = { base_url: server.url, operations }
  const { body } = await app.call('POST', '/v1/connections', { kind: 'custom', name: 'notes', config })
  await app.call('POST', `/v1/connections/${body.id}/secret`, { value: SECRET })
  return app
}

test.each([
  ['refunded', 'upstream answered 400: Charge ch_1 has already been refunded.'],
  ['channel', 'upstream answered with an error: channel_not_found'],
  ['problem', 'upstream answered 409: the order is closed'],
  ['long', `upstream answered 422: ${LONG}`.slice(0, 500)],
  ['echo', 'upstream answered 403: no access for [secret]'],
  ['postmark', 'upstream answered 422: The recipient is inactive.'],
  ['shopify', "upstream answered 422: title: can't be blank, vendor: is too long"],
  ['shop', 'upstream answered 404: Not Found'],
  ['airtable', 'upstream answered 422: Field "Price" cannot accept the value.'],
  ['table', 'upstream answered 404: TABLE_NOT_FOUND'],
  ['zendesk', 'upstream answered 422: Record validation errors: value: Value: cannot be blank'],
  ['github', 'upstream answered 422: Validation Failed: missing'],
  ['nested', 'upstream answered 400'],
  ['done', 'upstream answered 200, which is not a success here'],
  ['accepted', 'upstream answered with an error: the account is closed'],
  ['html', 'upstream answered 500'],
])('the reason of a failed tool is in its event, in the trace and with the action: %s', async (name, error) => {
  const app = await openApp()
  const start = (type: string, capability: string) =>
    app.createTask({ wedge: 'desk', task_type: type, input: { capability, args: {} } })
  const read = await start('read', `notes:get.${name}`)
  const action = await start('act', `notes:do.${name}`)
  await app.finished(read.id)
  await approveAndFinish(app, action.id)
  for (const { id } of [read, action]) {
    const events = await app.events(id)
    const results = events.filter(({ event }) => event === 'tool.result').map(({ data }) => data.data)
    expect(results).toMatchObject([{ ok: false, error }])
    const { body: trace } = await app.call('GET', `/v1/tasks/${id}/trace`)
    expect(JSON.stringify(trace)).toContain(JSON.stringify(error))
    expect(JSON.stringify([events, trace])).not.toContain(SECRET)
  }
  const effects = app.ctx.db.selectFrom('effects').select('error').where('task_id', '=', action.id)
  expect(await effects.execute()).toEqual([{ error }])
})

test('the reason of a failed read of an MCP server is in its event', async () => {
  const result = { isError: true, content: [{ type: 'text', text: 'ENOENT: no such file' }] }
  const app = await openMcpApp('sqlite', { echo: 'read' })
  app.server.onCall = ({ respond }) => respond({ result })
  const { id } = await app.createTask({
    wedge: 'desk',
    task_type: 'read',
    input: { capability: 'notes:echo', args: { text: 'hi' } },
  })
  await app.finished(id)
  const events = await app.events(id)
  expect(events.find(({ event }) => event === 'tool.result')?.data.data).toMatchObject({
    ok: false,
    error: 'the tool failed: ENOENT: no such file',
  })
})
