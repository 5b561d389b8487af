import { describe, expect, test } from 'vitest'
import { anyStore, type TestApp } from '../../app.ts'
import { inboundMail } from '../../customers/channels/channel-app.ts'
import { approveAndFinish, connectServer, type McpApp, openMcpApp, pendingApproval, startCall } from './mcp-app.ts'
import { echoTool, openMcpServer, type ToolCall } from './mcp-server.ts'

const CANARY = 'canary-5ecret-value'

const effectOf = async (app: TestApp, taskId: string) =>
  (await app.call('GET', `/v1/tasks/${taskId}/effects`)).body.data?.[0] ??
  (await app.ctx.db.selectFrom('effects').where('task_id', '=', taskId).selectAll().execute())[0]

anyStore((store) => {
  describe('calls of MCP tools', () => {
    test('an ask tool is called after a person approved it, with the arguments as edited', async () => {
      const app = await openMcpApp(store, { echo: 'ask' })
      const { id } = await startCall(app, 'act')
      const approval = await pendingApproval(app, id)
      expect(approval).toMatchObject({ action: 'notes:echo', connection: 'notes', preview: { text: 'hi' } })
      expect(app.server.calls).toEqual([])
      const ended = await approveAndFinish(app, id, { edited: { text: 'changed' } })
      expect(app.server.calls).toMatchObject([{ name: 'echo', arguments: { text: 'changed' } }])
      expect(ended).toMatchObject({
        status: 'succeeded',
        output: { ok: true, status: 200, result: 'you said {"text":"changed"}', edited: true },
      })
      expect(await effectOf(app, id)).toMatchObject({ outcome: 'ok' })
    })

    test('a read tool is called without approval, and is counted', async () => {
      const app = await openMcpApp(store, { echo: 'read' }, { env: { SVC_READ_MAX_PER_TASK: '1' } })
      const { id } = await startCall(app, 'read')
      expect(await app.finished(id)).toMatchObject({ output: { ok: true, body: 'you said {"text":"hi"}' } })
      const audit = await app.call('GET', '/v1/audit?action=read.executed')
      expect(audit.body.data).toMatchObject([{ data: { capability: 'notes:echo', status: 200 } }])
    })

    test('an ask tool cannot be read, and a tool that is off or new cannot be called', async () => {
      const app = await openMcpApp(store, { echo: 'ask' })
      const outputOf = async (type: 'act' | 'read') => {
        const { id } = await startCall(app, type)
        return JSON.stringify((await app.finished(id)).output)
      }
      expect(await outputOf('read')).toContain('is an action, not a read')
      await app.call('PUT', `${app.path}/tools/echo`, { class: 'off' })
      expect(await outputOf('read')).toContain('is switched off')
      expect(await outputOf('act')).toContain('is switched off')
      expect(app.server.calls).toEqual([])
    })

    test('arguments that do not match the schema are refused before a person is asked', async () => {
      const app = await openMcpApp(store, { echo: 'ask' })
      const { id } = await startCall(app, 'act', { text: 7 })
      expect(JSON.stringify((await app.finished(id)).output)).toContain('must be string')
      expect((await app.call('GET', `/v1/approvals?task_id=${id}`)).body.data).toEqual([])
    })

    test('a tool that is switched off while its approval waits is not called', async () => {
      const app = await openMcpApp(store, { echo: 'ask' })
      const { id } = await startCall(app, 'act')
      await pendingApproval(app, id)
      await app.call('PUT', `${app.path}/tools/echo`, { class: 'off' })
      const ended = await approveAndFinish(app, id)
      expect(ended).toMatchObject({ output: { ok: false, error: expect.stringContaining('switched off') } })
      expect(app.server.calls).toEqual([])
      expect(await effectOf(app, id)).toMatchObject({ outcome: 'failed' })
      expect((await app.call('GET', app.path)).body.last_error).toBeNull()
    })

    test('a tool that changed after it was confirmed is not called and is off again', async () => {
      const app = await openMcpApp(store, { echo: 'ask' })
      const { id } = await startCall(app, 'act')
      await pendingApproval(app, id)
      app.server.tools = [{ ...echoTool, description: 'Repeats a text to everybody.' }]
      const ended = await approveAndFinish(app, id)
      expect(ended).toMatchObject({ output: { ok: false, error: expect.stringContaining('has changed since') } })
      expect(app.server.calls).toEqual([])
      expect(await effectOf(app, id)).toMatchObject({ outcome: 'failed' })
      const { data } = (await app.call('GET', `${app.path}/tools`)).body
      expect(data).toMatchObject([{ name: 'echo', class: 'off', state: 'changed' }])
    })

    test('a tool that is gone is not called', async () => {
      const app = await openMcpApp(store, { echo: 'ask' })
      const { id } = await startCall(app, 'act')
      await pendingApproval(app, id)
      app.server.tools = []
      expect(await approveAndFinish(app, id)).toMatchObject({ output: { ok: false } })
      expect(app.server.calls).toEqual([])
    })
  })
})

/** One approved call against a server that answers as the test says. */
async function callOnce(onCall: (call: ToolCall, app: McpApp) => void) {
  const app = await openMcpApp('sqlite', { echo: 'ask' })
  app.server.onCall = (call) => onCall(call, app)
  await app.call('POST', `${app.path}/secret`, { value: CANARY })
  const { id } = await startCall(app, 'act')
  const ended = await approveAndFinish(app, id)
  return { app, output: ended.output as Record<string, unknown>, effect: await effectOf(app, id) }
}

describe('answers of an MCP server', () => {
  test('an isError result is a failed call with its text', async () => {
    const { output, effect } = await callOnce(({ respond }) =>
      respond({ result: { isError: true, content: [{ type: 'text', text: 'no such\u200b note' }] } }),
    )
    expect(output).toMatchObject({ ok: false, status: 422, error: 'the tool failed: no such note' })
    expect(effect.outcome).toBe('failed')
  })

  test('an isError result is a failed call also if its structured content cannot be used', async () => {
    const structuredContent = Array.from({ length: 80 }).reduce<object>((inner) => ({ inner }), {})
    const { effect } = await callOnce(({ respond }) =>
      respond({ result: { isError: true, content: [{ type: 'text', text: 'no money' }], structuredContent } }),
    )
    expect(effect).toMatchObject({ outcome: 'failed', error: 'the tool failed: no money' })
  })

  test('a protocol error is a failed call', async () => {
    const { effect } = await callOnce(({ respond }) => respond({ error: { code: -32602, message: 'bad arguments' } }))
    expect(effect).toMatchObject({ outcome: 'failed', error: expect.stringContaining('bad arguments') })
  })

  test('structured content is kept, other parts are named, and hidden characters and secrets are removed', async () => {
    const { output } = await callOnce(({ respond, received }) =>
      respond({
        result: {
          content: [
            { type: 'text', text: `a\u202eb ${received.headers.authorization}` },
            { type: 'image', data: 'AAAA'.repeat(100_000), mimeType: 'image/png' },
            { type: 'resource_link', uri: 'file:///x', name: 'x' },
          ],
          structuredContent: { 'k\u200b': ['v\u2066'] },
        },
      }),
    )
    expect(output).toMatchObject({
      ok: true,
      result: {
        text: 'ab Bearer [secret]\n[image image/png is not shown]\n[link to resource file:///x]',
        structured: { k: ['v'] },
      },
    })
  })

  test('a result of more than 256 KB is cut', async () => {
    const { output, effect } = await callOnce(({ answer }) => answer('x'.repeat(300_000)))
    expect(output).toMatchObject({
      ok: true,
      result: expect.stringMatching(/^x{40000,50000}\n\[cut: the result is larger than 256 KB\]$/),
    })
    expect(effect.outcome).toBe('ok')
  })

  test('after an answer without end, the outcome is unknown', async () => {
    const { effect } = await callOnce(({ response }) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(`data: ${'x'.repeat(5 * 1024 * 1024)}`)
    })
    expect(effect).toMatchObject({ outcome: 'unknown', error: expect.stringContaining('larger than') })
  })

  test('after a time-out of 20 s, the outcome is unknown', async () => {
    const { effect } = await callOnce(({ response }, app) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': still here\n\n')
      app.clock.jump(20_000)
    })
    expect(effect).toMatchObject({ outcome: 'unknown', error: 'the server did not respond in time' })
  })

  test('the outcome is unknown if the session fails after the server has seen the call', async () => {
    const { effect } = await callOnce(({ response }) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      // The answers to the pings are more requests than a session may make.
      for (let id = 1; id <= 150; id++)
        response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id: `ping-${id}`, method: 'ping' })}\n\n`)
    })
    expect(effect).toMatchObject({ outcome: 'unknown', error: expect.stringContaining('more than 100 requests') })
  })

  test('after a closed connection, the outcome is unknown', async () => {
    const { effect } = await callOnce(({ response }) => response.destroy())
    expect(effect).toMatchObject({ outcome: 'unknown' })
  })

  test('a redirect is a failed call and is not followed', async () => {
    const { effect, app } = await callOnce(({ response }) => response.writeHead(307, { location: '/other' }).end())
    expect(effect).toMatchObject({ outcome: 'failed', status: 307 })
    expect(app.server.upstream.received.every(({ url }) => url === '/mcp')).toBe(true)
  })

  test('a server that is away before the call is a failed call: nothing was sent', async () => {
    const app = await openMcpApp('sqlite', { echo: 'ask' })
    const { id } = await startCall(app, 'act')
    await pendingApproval(app, id)
    app.server.intercept = (_, response) => {
      response.writeHead(502).end()
      return true
    }
    await approveAndFinish(app, id)
    expect(await effectOf(app, id)).toMatchObject({ outcome: 'failed', error: 'upstream answered 502' })
    expect((await app.call('GET', app.path)).body.last_error).toBe('upstream answered 502')
  })

  test('a read of more than 256 KB is cut', async () => {
    const app = await openMcpApp('sqlite', { echo: 'read' })
    app.server.onCall = ({ answer }) => answer('x'.repeat(300_000))
    const { id } = await startCall(app, 'read')
    expect(JSON.stringify((await app.finished(id)).output)).toContain('larger than 256 KB')
  })
})

test("a client's own server is used only in that client's tasks", async () => {
  const app = await openMcpApp('sqlite', { echo: 'read' })
  const mail = await app.call('POST', '/v1/connections', { kind: 'email', name: 'mail', config: {} })
  const binding = { connection_id: mail.body.id, address: 'desk@desk.example', wedge: 'desk', task_type: 'inbound' }
  const channel = (await app.call('POST', '/v1/channels', binding)).body.id
  const write = async (handle: string) => {
    const { body } = await app.call('POST', `/v1/channels/${channel}/inbound`, inboundMail(handle))
    await app.finished(body.task_id)
    return body.client_id
  }
  const ada = await write('ada@clients.example')
  const own = await openMcpServer()
  await connectServer(app, own, { echo: 'read' }, { client_id: ada })
  expect(app.server.calls).toHaveLength(1)
  await write('ada@clients.example')
  await write('bob@clients.example')
  expect([own.calls.length, app.server.calls.length]).toEqual([1, 2])
})
