import { describe, expect, test, vi } from 'vitest'
import { MCP_TOOL_NAMES } from '../../src/contract/tool-names.ts'
import { signUpOwner } from '../accounts/members.ts'
import { eachStore } from '../app.ts'
import {
  requestedApprovalId,
  sharedGatedApp,
  advanceUntilSettled,
  startAction,
  gatedWedgeFiles,
} from '../approvals/gated-app.ts'
import { SCRIPTED_AGENT } from '../tasks/scripted-agent.ts'
import { mcpClient, statelessClient } from './mcp-client.ts'

const WEDGES = {
  ...gatedWedgeFiles('gate'),
  'echo/wedge.json': { wedge: 'echo', title: 'Echo', task_types: { say: { description: 'Says the input back.' } } },
  'echo/rehearsals/say.json': [{ output: { said: '{{input}}' } }],
}

const ACT = { connection: 'crm', action: 'send_note', payload: { text: 'hello' } }

eachStore((store) => {
  describe("a founder's assistant", () => {
    const desk = sharedGatedApp(store, { wedges: WEDGES })

    test('shakes hands without a session', async () => {
      const client = mcpClient(desk())
      for (const [wanted, spoken] of [
        ['2025-06-18', '2025-06-18'],
        ['2025-11-25', '2025-11-25'],
        ['1999-01-01', '2025-11-25'],
      ]) {
        const clientInfo = { name: 'test', version: '1' }
        const { result } = await client.ask('initialize', { protocolVersion: wanted, capabilities: {}, clientInfo })
        expect(result).toMatchObject({
          protocolVersion: spoken,
          capabilities: { tools: {} },
          serverInfo: { name: 'agent-work-service', version: expect.stringMatching(/^\d+\./) },
        })
      }
      const told = await client.post({ jsonrpc: '2.0', method: 'notifications/initialized' })
      expect([told.status, told.body]).toEqual([202, ''])
      expect(told.headers.get('mcp-session-id')).toBe(null)
      expect(await client.ask('ping')).toEqual({ jsonrpc: '2.0', id: 4, result: {} })
      const listening = await desk().call('GET', '/mcp')
      expect([listening.status, listening.headers.get('allow')]).toEqual([405, 'POST'])
    })

    test('speaks without a handshake in the revision of 2026', async () => {
      const { post } = statelessClient(desk())
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
      expect(tools).toHaveLength(5)
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
      const none = await post('tools/call', { name: 'sudo' })
      expect([none.status, none.body.error.code]).toEqual([200, -32602])
      for (const gone of ['initialize', 'ping', 'subscriptions/listen']) {
        const refused = await post(gone)
        expect([refused.status, refused.body.error.code], gone).toEqual([404, -32601])
      }
    })

    test('is refused when the headers of the stateless revision are missing or differ from the body', async () => {
      const { post } = statelessClient(desk())
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
      const packed = `=?base64?${Buffer.from('list_wedges').toString('base64')}?=`
      expect((await post('tools/call', call, { 'mcp-name': packed })).body.result.isError).toBe(false)
      for (const lacking of ['protocolVersion', 'clientCapabilities']) {
        const refused = await post('tools/list', { _meta: { [`io.modelcontextprotocol/${lacking}`]: undefined } })
        expect([refused.status, refused.body.error]).toEqual([
          400,
          { code: -32602, message: expect.stringContaining(lacking) },
        ])
      }
    })

    test('finds tools that are described by JSON schemas', async () => {
      const { tools } = (await mcpClient(desk()).ask('tools/list')).result
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
      expect(tools[4].inputSchema.properties.edited).toMatchObject({ type: 'object' })
    })

    test('lists wedges, runs a task and gets its output', async () => {
      const client = mcpClient(desk())
      const { got } = await client.tool('list_wedges')
      const echo = got.wedges.find(({ wedge }: { wedge: string }) => wedge === 'echo')
      const say = { task_type: 'say', description: 'Says the input back.', output_schema: null }
      expect(echo).toEqual({ wedge: 'echo', title: 'Echo', task_types: [say] })
      const ran = await client.tool('run_task', { wedge: 'echo', task_type: 'say', input: { text: 'hi' } })
      expect(ran.got).toMatchObject({ status: 'succeeded', finished: true, output: { said: { text: 'hi' } } })
      expect(JSON.parse(ran.said)).toEqual(ran.got)
      expect((await client.tool('get_task', { task_id: ran.got.task_id })).got).toEqual(ran.got)
    })

    test('stops waiting when an approval is needed, decides it with an edit and waits on', async () => {
      const client = mcpClient(desk())
      const ran = await client.tool('run_task', { wedge: 'gate', task_type: 'act', input: ACT })
      expect(ran.got).toMatchObject({ status: 'awaiting_approval', finished: false, output: null })
      const [approval] = ran.got.pending_approvals
      expect(approval).toMatchObject({ action: 'send_note', preview: { text: 'hello' }, status: 'pending' })
      expect(approval).toMatchObject({ connection: 'crm', connection_id: expect.stringMatching(/^conn_/) })
      expect((await client.tool('list_approvals')).got.approvals).toContainEqual(approval)
      const { approval_id } = approval
      const decision = { approval_id, decision: 'approve', edited: { text: 'good day' }, reason: 'kinder' }
      const decided = await client.tool('decide_approval', decision)
      expect(decided.got).toEqual({ approval_id, task_id: ran.got.task_id, decision: 'approved' })
      const done = await client.tool('get_task', { task_id: ran.got.task_id, wait_s: 50 })
      expect(done.got).toMatchObject({ status: 'succeeded', pending_approvals: [] })
      const called = desk().outside.received.filter(({ headers }) => headers['idempotency-key'] === approval_id)
      expect(called.map(({ body }) => JSON.parse(body))).toEqual([{ text: 'good day' }])
      const row = (await desk().call('GET', `/v1/approvals/${approval_id}`)).body
      expect(row).toMatchObject({ status: 'approved', note: 'kinder', decided_by: { kind: 'key' } })
      const late = await client.tool('decide_approval', decision)
      expect(late).toEqual({ isError: true, said: 'approval already decided (approved)' })
    })

    test('rejects, which ends the task', async () => {
      const client = mcpClient(desk())
      const task = await startAction(desk())
      const approval_id = await requestedApprovalId(desk(), task.id)
      const said = { approval_id, decision: 'reject', reason: 'not today' }
      expect((await client.tool('decide_approval', said)).got).toMatchObject({ decision: 'rejected' })
      expect((await client.tool('get_task', { task_id: task.id })).got).toMatchObject({ status: 'rejected' })
    })

    test('reads in words what it did wrong', async () => {
      const client = mcpClient(desk())
      for (const [name, args, said] of [
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
        expect(await client.tool(name, args)).toEqual({ isError: true, said: expect.stringMatching(said) })
      }
      expect((await client.ask('tools/call', { name: 'sudo' })).error).toEqual({
        code: -32602,
        message: 'no such tool: sudo',
      })
      expect((await client.ask('resources/list')).error).toMatchObject({ code: -32601 })
    })

    test('may read with the role of a viewer, and no more', async () => {
      const { key } = (await desk().call('POST', '/v1/keys', { name: 'v', role: 'viewer' })).body
      const client = mcpClient(desk(), { key })
      expect((await client.tool('list_wedges')).isError).toBe(false)
      expect((await client.tool('list_approvals')).isError).toBe(false)
      const refused = { isError: true, said: "role 'viewer' cannot do this" }
      expect(await client.tool('run_task', { wedge: 'echo', task_type: 'say' })).toEqual(refused)
      expect(await client.tool('decide_approval', { approval_id: 'x', decision: 'approve' })).toEqual(refused)
    })

    test('is a stranger without a key, from a strange page, or in another protocol', async () => {
      const hello = { jsonrpc: '2.0', id: 1, method: 'ping' }
      expect((await mcpClient(desk(), { key: null }).post(hello)).status).toBe(401)
      expect((await mcpClient(desk(), { headers: { origin: 'https://evil.example' } }).post(hello)).status).toBe(403)
      const old = await mcpClient(desk(), { headers: { 'mcp-protocol-version': '2024-11-05' } }).post(hello)
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
      const unversioned = await desk().call('POST', '/mcp', hello)
      expect(unversioned.body).toEqual({ jsonrpc: '2.0', id: 1, result: {} })
      for (const bad of [{}, { ...hello, jsonrpc: '1.0' }, { ...hello, id: {} }, [hello]]) {
        expect((await mcpClient(desk()).post(bad)).status).toBe(400)
      }
      expect((await mcpClient(desk()).post([hello])).body).toEqual({ error: 'body must be a json object' })
    })

    test('does not see what is of another project', async () => {
      const task = await startAction(desk())
      const approval_id = await requestedApprovalId(desk(), task.id)
      // The first to sign up takes over the organisation that the key belongs to.
      await signUpOwner(desk())
      const client = mcpClient(desk(), { key: await signUpOwner(desk(), 'other@example.com') })
      expect((await client.tool('get_task', { task_id: task.id })).said).toBe('no such task')
      expect((await client.tool('decide_approval', { approval_id, decision: 'approve' })).said).toBe('no such approval')
      expect((await client.tool('list_approvals')).got.approvals).toEqual([])
      await desk().call('POST', `/v1/tasks/${task.id}/cancel`)
    })
  })

  describe('a task that takes long', () => {
    const desk = sharedGatedApp(store, { wedges: WEDGES, env: SCRIPTED_AGENT })

    test('is answered as it is when the time is over', async () => {
      const client = mcpClient(desk())
      const asked = { wedge: 'echo', task_type: 'say', input: ['hang'], wait_s: 20 }
      const ran = await advanceUntilSettled(desk(), client.tool('run_task', asked))
      expect(ran.got).toMatchObject({ finished: false, output: null, pending_approvals: [] })
      const waiting = client.tool('get_task', { task_id: ran.got.task_id, wait_s: 50 })
      await desk().call('POST', `/v1/tasks/${ran.got.task_id}/cancel`)
      expect((await waiting).got).toMatchObject({ status: 'cancelled', finished: true })
    })

    test('is waited for no longer by a key that was deleted', async () => {
      const { id: taskId } = await desk().createTask({ input: ['hang'] })
      const { id, key } = (await desk().call('POST', '/v1/keys', { name: 'leaked', role: 'viewer' })).body
      const wait = { name: 'get_task', arguments: { task_id: taskId, wait_s: 50 } }
      const waiting = mcpClient(desk(), { key }).post({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: wait })
      const used = async () => (await desk().call('GET', `/v1/keys/${id}`)).body.last_used_at
      await vi.waitFor(async () => expect(await used()).not.toBe(null))
      expect((await desk().call('DELETE', `/v1/keys/${id}`)).status).toBe(204)
      expect(await waiting).toMatchObject({ status: 401, body: { error: expect.any(String) } })
      await desk().call('POST', `/v1/tasks/${taskId}/cancel`)
    })
  })
})
