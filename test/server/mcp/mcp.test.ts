import { describe, expect, test, vi } from 'vitest'
import { MCP_TOOL_NAMES } from '../../../src/platform/contract/tool-names.ts'
import { signUpOwner } from '../../identity/accounts/members.ts'
import { anyStore } from '../../app.ts'
import {
  requestedApprovalId,
  sharedGatedApp,
  advanceUntilSettled,
  startAction,
  gatedWedgeFiles,
} from '../../approvals/decisions/gated-app.ts'
import { QUESTION_WEDGE } from '../../approvals/requests/question-app.ts'
import { SCRIPTED_AGENT } from '../../work/tasks/scripted-agent.ts'
import { mcpClient, statelessClient } from './mcp-client.ts'

const WEDGES = {
  ...gatedWedgeFiles('gate'),
  ...QUESTION_WEDGE,
  'echo/wedge.json': { wedge: 'echo', title: 'Echo', task_types: { say: { description: 'Says the input back.' } } },
  'echo/rehearsals/say.json': [{ output: { said: '{{input}}' } }],
}

const ACT = { connection: 'crm', action: 'send_note', payload: { text: 'hello' } }

anyStore((store) => {
  describe('MCP client', () => {
    const gatedApp = sharedGatedApp(store, { wedges: WEDGES })

    test('the MCP handshake works without a session', async () => {
      const client = mcpClient(gatedApp())
      for (const [requested, protocolVersion] of [
        ['2025-06-18', '2025-06-18'],
        ['2025-11-25', '2025-11-25'],
        ['1999-01-01', '2025-11-25'],
      ]) {
        const clientInfo = { name: 'test', version: '1' }
        const { result } = await client.request('initialize', {
          protocolVersion: requested,
          capabilities: {},
          clientInfo,
        })
        expect(result).toMatchObject({
          protocolVersion,
          capabilities: { tools: {} },
          serverInfo: { name: 'agent-work-service', version: expect.stringMatching(/^\d+\./) },
        })
      }
      const notified = await client.post({ jsonrpc: '2.0', method: 'notifications/initialized' })
      expect([notified.status, notified.body]).toEqual([202, ''])
      expect(notified.headers.get('mcp-session-id')).toBe(null)
      expect(await client.request('ping')).toEqual({ jsonrpc: '2.0', id: 4, result: {} })
      const streamed = await gatedApp().call('GET', '/mcp')
      expect([streamed.status, streamed.headers.get('allow')]).toEqual([405, 'POST'])
    })

    test('an MCP client of the 2026 revision needs no handshake', async () => {
      const { post } = statelessClient(gatedApp())
      const found = await post('server/discover')
      expect([found.status, found.body.result]).toEqual([
        200,
        {
          resultType: 'complete',
          supportedVersions: ['2026-07-28', '2025-11-25', '2025-06-18'],
          capabilities: { tools: {} },
          instructions: expect.stringContaining('list_wedges'),
          ttlMs: 3_600_000,
          cacheScope: 'private',
          _meta: { 'io.modelcontextprotocol/serverInfo': expect.objectContaining({ name: 'agent-work-service' }) },
        },
      ])
      const { tools, ...hints } = (await post('tools/list')).body.result
      expect(tools).toHaveLength(6)
      expect(hints).toMatchObject({ resultType: 'complete', ttlMs: 3_600_000, cacheScope: 'private' })
      const ran = await post('tools/call', {
        name: 'run_task',
        arguments: { wedge: 'echo', task_type: 'say', input: 'hi' },
      })
      expect(ran.body.result).toMatchObject({
        resultType: 'complete',
        isError: false,
        structuredContent: { status: 'succeeded', output: { said: 'hi' } },
      })
      const unknownTool = await post('tools/call', { name: 'sudo' })
      expect([unknownTool.status, unknownTool.body.error.code]).toEqual([200, -32602])
      for (const method of ['initialize', 'ping', 'subscriptions/listen']) {
        const refused = await post(method)
        expect([refused.status, refused.body.error.code], method).toEqual([404, -32601])
      }
    })

    test('a stateless MCP request with missing headers, or headers that differ from the body, is 400', async () => {
      const { post } = statelessClient(gatedApp())
      const call = { name: 'list_wedges' }
      for (const [headers, code] of [
        [{ 'mcp-protocol-version': undefined }, -32020],
        [{ 'mcp-protocol-version': '2025-11-25' }, -32020],
        [{ 'mcp-method': undefined }, -32020],
        [{ 'mcp-method': 'tools/list' }, -32020],
        [{ 'mcp-name': undefined }, -32020],
        [{ 'mcp-name': 'run_task' }, -32020],
        [{ 'mcp-protocol-version': '2031-01-01' }, -32022],
      ] as const) {
        const refused = await post('tools/call', call, headers)
        expect([refused.status, refused.body.error.code], JSON.stringify(headers)).toEqual([400, code])
      }
      const encoded = `=?base64?${Buffer.from('list_wedges').toString('base64')}?=`
      expect((await post('tools/call', call, { 'mcp-name': encoded })).body.result.isError).toBe(false)
      for (const missing of ['protocolVersion', 'clientCapabilities']) {
        const refused = await post('tools/list', { _meta: { [`io.modelcontextprotocol/${missing}`]: undefined } })
        expect([refused.status, refused.body.error]).toEqual([
          400,
          { code: -32602, message: expect.stringContaining(missing) },
        ])
      }
    })

    test('the MCP tools are described by JSON schemas', async () => {
      const { tools } = (await mcpClient(gatedApp()).request('tools/list')).result
      const names = tools.map(({ name }: { name: string }) => name)
      expect(names).toEqual(MCP_TOOL_NAMES)
      for (const { description, inputSchema } of tools) {
        expect(description).toMatch(/\.$/)
        expect(inputSchema).toMatchObject({ type: 'object', properties: expect.any(Object) })
      }
      expect(tools[1].inputSchema).toMatchObject({
        required: ['wedge', 'task_type'],
        properties: { wait_s: { type: 'number', minimum: 0, maximum: 50 } },
      })
      expect(tools[5].inputSchema.properties.edited).toMatchObject({ type: 'object' })
    })

    test('an MCP client lists wedges, runs a task and gets its output', async () => {
      const client = mcpClient(gatedApp())
      const { value } = await client.tool('list_wedges')
      const echo = value.wedges.find(({ wedge }: { wedge: string }) => wedge === 'echo')
      const say = { task_type: 'say', description: 'Says the input back.', output_schema: null }
      expect(echo).toEqual({ wedge: 'echo', title: 'Echo', task_types: [say] })
      const ran = await client.tool('run_task', { wedge: 'echo', task_type: 'say', input: { text: 'hi' } })
      expect(ran.value).toMatchObject({ status: 'succeeded', finished: true, output: { said: { text: 'hi' } } })
      expect(JSON.parse(ran.text)).toEqual(ran.value)
      expect((await client.tool('get_task', { task_id: ran.value.task_id })).value).toEqual(ran.value)
    })

    test('run_task stops waiting for an approval, decide_approval approves it with an edit, and get_task waits for the end', async () => {
      const client = mcpClient(gatedApp())
      const ran = await client.tool('run_task', { wedge: 'gate', task_type: 'act', input: ACT })
      expect(ran.value).toMatchObject({ status: 'awaiting_approval', finished: false, output: null })
      const [approval] = ran.value.pending_approvals
      expect(approval).toMatchObject({ action: 'send_note', preview: { text: 'hello' }, status: 'pending' })
      expect(approval).toMatchObject({ connection: 'crm', connection_id: expect.stringMatching(/^conn_/) })
      expect((await client.tool('list_approvals')).value.approvals).toContainEqual(approval)
      const { approval_id } = approval
      const decision = { approval_id, decision: 'approve', edited: { text: 'good day' }, reason: 'kinder' }
      const decided = await client.tool('decide_approval', decision)
      expect(decided.value).toEqual({ approval_id, task_id: ran.value.task_id, decision: 'approved' })
      const done = await client.tool('get_task', { task_id: ran.value.task_id, wait_s: 50 })
      expect(done.value).toMatchObject({ status: 'succeeded', pending_approvals: [] })
      const called = gatedApp().outside.received.filter(({ headers }) => headers['idempotency-key'] === approval_id)
      expect(called.map(({ body }) => JSON.parse(body))).toEqual([{ text: 'good day' }])
      const row = (await gatedApp().call('GET', `/v1/approvals/${approval_id}`)).body
      expect(row).toMatchObject({ status: 'approved', note: 'kinder', decided_by: { kind: 'key' } })
      const late = await client.tool('decide_approval', decision)
      expect(late).toEqual({ isError: true, text: 'approval already decided (approved)' })
    })

    test('decide_approval answers a question', async () => {
      const client = mcpClient(gatedApp())
      const ran = await client.tool('run_task', { wedge: 'ask', task_type: 'choice' })
      const [{ approval_id, path, preview }] = ran.value.pending_approvals
      expect([path, preview.question]).toEqual(['question', 'Which size?'])
      const empty = await client.tool('decide_approval', { approval_id, decision: 'approve' })
      expect(empty).toEqual({ isError: true, text: "field 'edited.answer' is required: it answers the question" })
      await client.tool('decide_approval', { approval_id, decision: 'approve', edited: { answer: 'small' } })
      const done = await client.tool('get_task', { task_id: ran.value.task_id, wait_s: 50 })
      expect(done.value).toMatchObject({ status: 'succeeded', output: { got: { answer: 'small' } } })
    })

    test('decide_approval sends a request back with a note, and the task continues', async () => {
      const client = mcpClient(gatedApp())
      const task = await startAction(gatedApp())
      const approval_id = await requestedApprovalId(gatedApp(), task.id)
      const silent = await client.tool('decide_approval', { approval_id, decision: 'revise' })
      expect(silent).toEqual({ isError: true, text: "argument 'reason' is required with revise" })
      await client.tool('decide_approval', { approval_id, decision: 'revise', reason: 'Be kinder.' })
      const done = await client.tool('get_task', { task_id: task.id, wait_s: 50 })
      expect(done.value).toMatchObject({ status: 'succeeded', output: { revise: true, note: 'Be kinder.' } })
    })

    test('a rejection by decide_approval ends the task', async () => {
      const client = mcpClient(gatedApp())
      const task = await startAction(gatedApp())
      const approval_id = await requestedApprovalId(gatedApp(), task.id)
      const rejection = { approval_id, decision: 'reject', reason: 'not today' }
      expect((await client.tool('decide_approval', rejection)).value).toMatchObject({ decision: 'rejected' })
      expect((await client.tool('get_task', { task_id: task.id })).value).toMatchObject({ status: 'rejected' })
    })

    test('an MCP tool call with invalid arguments gets a result that says what is wrong', async () => {
      const client = mcpClient(gatedApp())
      for (const [name, args, text] of [
        ['run_task', {}, "argument 'wedge' is required"],
        ['run_task', { wedge: 'none', task_type: 'say' }, "unknown wedge 'none'"],
        ['run_task', { wedge: 'echo', task_type: 'say', wait_s: 51 }, "argument 'wait_s' must be at most 50"],
        ['get_task', { task_id: 'task_x' }, 'no such task'],
        ['decide_approval', { approval_id: 'apr_x', decision: 'approve' }, 'no such approval'],
        [
          'decide_approval',
          { approval_id: 'apr_x', decision: 'maybe' },
          "argument 'decision' must be one of approve, reject",
        ],
        ['list_approvals', { status: 'open' }, /^argument 'status' must be one of pending/],
      ] as const) {
        expect(await client.tool(name, args)).toEqual({ isError: true, text: expect.stringMatching(text) })
      }
      expect((await client.request('tools/call', { name: 'sudo' })).error).toEqual({
        code: -32602,
        message: 'no such tool: sudo',
      })
      expect((await client.request('resources/list')).error).toMatchObject({ code: -32601 })
    })

    test('an MCP client with the role viewer can only read', async () => {
      const { key } = (await gatedApp().call('POST', '/v1/keys', { name: 'v', role: 'viewer' })).body
      const client = mcpClient(gatedApp(), { key })
      expect((await client.tool('list_wedges')).isError).toBe(false)
      expect((await client.tool('list_approvals')).isError).toBe(false)
      const refused = { isError: true, text: "role 'viewer' cannot do this" }
      expect(await client.tool('run_task', { wedge: 'echo', task_type: 'say' })).toEqual(refused)
      expect(await client.tool('decide_approval', { approval_id: 'x', decision: 'approve' })).toEqual(refused)
    })

    test('an MCP request without a key, from a foreign origin or with an invalid message is refused', async () => {
      const hello = { jsonrpc: '2.0', id: 1, method: 'ping' }
      expect((await mcpClient(gatedApp(), { key: null }).post(hello)).status).toBe(401)
      expect((await mcpClient(gatedApp(), { headers: { origin: 'https://evil.example' } }).post(hello)).status).toBe(
        403,
      )
      const old = await mcpClient(gatedApp(), { headers: { 'mcp-protocol-version': '2024-11-05' } }).post(hello)
      const supported = ['2026-07-28', '2025-11-25', '2025-06-18']
      expect([old.status, old.body]).toEqual([
        400,
        {
          jsonrpc: '2.0',
          id: 1,
          error: {
            code: -32022,
            message: expect.stringContaining('2025-06-18'),
            data: { supported, requested: '2024-11-05' },
          },
        },
      ])
      const unversioned = await gatedApp().call('POST', '/mcp', hello)
      expect(unversioned.body).toEqual({ jsonrpc: '2.0', id: 1, result: {} })
      for (const bad of [{}, { ...hello, jsonrpc: '1.0' }, { ...hello, id: {} }, [hello]]) {
        expect((await mcpClient(gatedApp()).post(bad)).status).toBe(400)
      }
      expect((await mcpClient(gatedApp()).post([hello])).body).toEqual({ error: 'body must be a json object' })
    })

    test('an MCP client does not see tasks and approvals of another project', async () => {
      const task = await startAction(gatedApp())
      const approval_id = await requestedApprovalId(gatedApp(), task.id)
      // The first sign-up becomes the owner of the organisation of the key, the second gets another organisation.
      await signUpOwner(gatedApp())
      const client = mcpClient(gatedApp(), { key: await signUpOwner(gatedApp(), 'other@example.com') })
      expect((await client.tool('get_task', { task_id: task.id })).text).toBe('no such task')
      expect((await client.tool('decide_approval', { approval_id, decision: 'approve' })).text).toBe('no such approval')
      expect((await client.tool('list_approvals')).value.approvals).toEqual([])
      await gatedApp().call('POST', `/v1/tasks/${task.id}/cancel`)
    })
  })

  describe('MCP calls that wait', () => {
    const gatedApp = sharedGatedApp(store, { wedges: WEDGES, env: SCRIPTED_AGENT })

    test('an MCP call returns an unfinished task when wait_s is over', async () => {
      const client = mcpClient(gatedApp())
      const request = { wedge: 'echo', task_type: 'say', input: ['hang'], wait_s: 20 }
      const ran = await advanceUntilSettled(gatedApp(), client.tool('run_task', request))
      expect(ran.value).toMatchObject({ finished: false, output: null, pending_approvals: [] })
      const waiting = client.tool('get_task', { task_id: ran.value.task_id, wait_s: 50 })
      await gatedApp().call('POST', `/v1/tasks/${ran.value.task_id}/cancel`)
      expect((await waiting).value).toMatchObject({ status: 'cancelled', finished: true })
    })

    test('an MCP call that waits is 401 when its key is deleted', async () => {
      const { id: taskId } = await gatedApp().createTask({ input: ['hang'] })
      const { id, key } = (await gatedApp().call('POST', '/v1/keys', { name: 'leaked', role: 'viewer' })).body
      const wait = { name: 'get_task', arguments: { task_id: taskId, wait_s: 50 } }
      const waiting = mcpClient(gatedApp(), { key }).post({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: wait })
      const lastUsedAt = async () => (await gatedApp().call('GET', `/v1/keys/${id}`)).body.last_used_at
      await vi.waitFor(async () => expect(await lastUsedAt()).not.toBe(null))
      expect((await gatedApp().call('DELETE', `/v1/keys/${id}`)).status).toBe(204)
      expect(await waiting).toMatchObject({ status: 401, body: { error: expect.any(String) } })
      await gatedApp().call('POST', `/v1/tasks/${taskId}/cancel`)
    })
  })
})
