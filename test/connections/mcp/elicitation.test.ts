import { describe, expect, test } from 'vitest'
import { anyStore } from '../../app.ts'
import { advanceUntilSettled } from '../../approvals/decisions/gated-app.ts'
import { approveAndFinish, type McpApp, openMcpApp, pendingApproval, startCall } from './mcp-app.ts'
import { openMcpServer, type TestMcpServer, type ToolCall } from './mcp-server.ts'

const FORM = {
  message: 'Which\u200b size?',
  requestedSchema: {
    type: 'object',
    properties: {
      size: {
        type: 'string',
        oneOf: [
          { const: 's', title: 'Small' },
          { const: 'l', title: 'Large' },
        ],
      },
      count: { type: 'integer', minimum: 1 },
    },
    required: ['size'],
  },
}

const sse = (message: object) => `data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`

/** A server whose tool asks the user once, and then returns the answer that it got. */
async function openAskingServer(params: object = FORM): Promise<TestMcpServer & { answers: unknown[] }> {
  const server = Object.assign(await openMcpServer(), { answers: [] as unknown[] })
  let open: ToolCall | null = null
  server.onCall = (call) => {
    open = call
    call.response.writeHead(200, { 'content-type': 'text/event-stream' })
    call.response.write(sse({ id: 'ask-1', method: 'elicitation/create', params }))
  }
  server.intercept = ({ method, body }, response) => {
    const message = method === 'POST' ? JSON.parse(body) : {}
    if (message.id !== 'ask-1') return false
    response.writeHead(202).end()
    server.answers.push(message.result ?? message.error)
    const text = JSON.stringify(message.result ?? message.error)
    open?.response.end(sse({ id: open.id, result: { content: [{ type: 'text', text }] } }))
    return true
  }
  return server
}

/** A task whose approved call makes the server ask; the question waits. */
async function startAskingCall(app: McpApp) {
  const { id } = await startCall(app, 'act')
  const approval = await pendingApproval(app, id)
  await app.call('POST', `/v1/approvals/${approval.approval_id}/approve`, {})
  return { id, question: await pendingApproval(app, id, 2) }
}

anyStore((store) => {
  describe('a question of an MCP server', () => {
    test('is asked of the team as a form, and the server gets the answer', async () => {
      const server = await openAskingServer()
      const app = await openMcpApp(store, { echo: 'ask' }, { server })
      const { id, question } = await startAskingCall(app)
      expect(question).toMatchObject({
        path: 'question',
        preview: {
          question: "The MCP server of connection 'notes' asks: Which size?",
          schema: {
            type: 'object',
            properties: { size: { type: 'string', enum: ['s', 'l'] }, count: { type: 'integer' } },
            required: ['size'],
          },
        },
      })
      const answer = (value: object) =>
        app.call('POST', `/v1/approvals/${question.approval_id}/approve`, { edited: { answer: value } })
      expect((await answer({ size: 'xl' })).status).toBe(400)
      expect((await answer({ size: 'l', count: 2 })).status).toBe(200)
      expect(await app.finished(id)).toMatchObject({ status: 'succeeded', output: { ok: true } })
      expect(server.answers).toEqual([{ action: 'accept', content: { size: 'l', count: 2 } }])
    })

    test('that is rejected is declined, and the task goes on', async () => {
      const server = await openAskingServer()
      const app = await openMcpApp(store, { echo: 'ask' }, { server })
      const { id, question } = await startAskingCall(app)
      await app.call('POST', `/v1/approvals/${question.approval_id}/reject`, {})
      expect(await app.finished(id)).toMatchObject({ status: 'succeeded', output: { ok: true } })
      expect(server.answers).toEqual([{ action: 'decline' }])
    })
  })
})

test('the wait for a person counts neither as time of the call nor as time of the run, and the run is not parked', async () => {
  const server = await openAskingServer()
  const app = await openMcpApp('sqlite', { echo: 'ask' }, { server, env: { SVC_APPROVAL_TTL_S: '86400' } })
  const { id, question } = await startAskingCall(app)
  await app.clock.advance(3_600_000)
  expect((await app.call('GET', `/v1/tasks/${id}`)).body.status).toBe('awaiting_approval')
  await app.call('POST', `/v1/approvals/${question.approval_id}/approve`, { edited: { answer: { size: 's' } } })
  expect(await app.finished(id)).toMatchObject({ status: 'succeeded', output: { ok: true } })
  const states = (await app.events(id)).map(({ data }) => data.data?.state)
  expect(states).not.toContain('parked')
})

test('a cancelled task cancels the question, and the outcome of the call is stored', async () => {
  const server = await openAskingServer()
  const app = await openMcpApp('sqlite', { echo: 'ask' }, { server })
  const { id } = await startAskingCall(app)
  await app.call('POST', `/v1/tasks/${id}/cancel`)
  await expect.poll(() => server.answers).toEqual([{ action: 'cancel' }])
  const outcomes = async () =>
    (await app.ctx.db.selectFrom('effects').select('outcome').execute()).map((e) => e.outcome)
  await expect.poll(outcomes).toEqual(['ok'])
})

test('a service that stops cancels the question', async () => {
  const server = await openAskingServer()
  const app = await openMcpApp('sqlite', { echo: 'ask' }, { server })
  await startAskingCall(app)
  await advanceUntilSettled(app, app.stop())
  expect(server.answers).toEqual([{ action: 'cancel' }])
})

test.each([
  ['an address', { mode: 'url', message: 'Sign in', url: 'https://evil.example/', elicitationId: '1' }],
  ['no text', { ...FORM, message: '\u200b' }],
])('a question with %s is not asked', async (_, params) => {
  const server = await openAskingServer(params)
  const app = await openMcpApp('sqlite', { echo: 'ask' }, { server })
  const { id } = await startCall(app, 'act')
  await approveAndFinish(app, id)
  expect(server.answers).toHaveLength(1)
  expect(server.answers).not.toEqual([{ action: 'accept' }])
  expect((await app.call('GET', `/v1/approvals?task_id=${id}&path=question`)).body.data).toEqual([])
})

test('a read can ask too', async () => {
  const server = await openAskingServer()
  const app = await openMcpApp('sqlite', { echo: 'read' }, { server })
  const { id } = await startCall(app, 'read')
  const question = await pendingApproval(app, id)
  await app.call('POST', `/v1/approvals/${question.approval_id}/approve`, { edited: { answer: { size: 's' } } })
  expect(await app.finished(id)).toMatchObject({ status: 'succeeded', output: { ok: true } })
  expect(server.answers).toEqual([{ action: 'accept', content: { size: 's' } }])
})

test.each([
  ['answers the call', []],
  ['cancels it and answers the call', [{ method: 'notifications/cancelled', params: { requestId: 'ask-1' } }]],
])('a question is withdrawn when the server %s without the answer', async (_, before) => {
  const server = await openAskingServer()
  const ask = server.onCall
  let answerCall = () => {}
  server.onCall = (call) => {
    ask(call)
    const result = { content: [{ type: 'text', text: 'nobody answered' }] }
    answerCall = () => void call.response.end([...before, { id: call.id, result }].map(sse).join(''))
  }
  const app = await openMcpApp('sqlite', { echo: 'ask' }, { server })
  const { id, question } = await startAskingCall(app)
  answerCall()
  expect(await advanceUntilSettled(app, app.finished(id))).toMatchObject({
    status: 'succeeded',
    output: { ok: true, result: 'nobody answered' },
  })
  const { body } = await app.call('GET', `/v1/approvals/${question.approval_id}`)
  expect(body).toMatchObject({ status: 'rejected', reason: 'the server does not wait for the answer any more' })
})
