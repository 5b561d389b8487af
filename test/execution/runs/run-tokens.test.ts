import { describe, expect, test } from 'vitest'
import { ECHO_WEDGE, sharedApp } from '../../app.ts'
import { scriptedAgentFolder, runScript, startScript, waitForEvent } from './scripted-agent.ts'

const app = sharedApp({
  store: 'sqlite',
  wedges: ECHO_WEDGE,
  env: { SVC_SANDBOX: 'bwrap', SVC_POOL: '2', SVC_TASK_RATE_PER_MIN: '10000', ...scriptedAgentFolder() },
})

/** Every route of the sandbox plane. */
const ROUTES = [
  ['POST', '/v1/internal/gate', { tool: 'look' }],
  ['POST', '/v1/internal/actions/mail:send', { payload: {} }],
  ['GET', '/v1/internal/reads/mail:list', undefined],
  ['POST', '/v1/internal/llm/openai/v1/chat/completions', { messages: [] }],
  ['POST', '/v1/internal/llm/openai/v1/responses', { input: [] }],
  ['POST', '/v1/internal/llm/anthropic/v1/messages/count_tokens', { messages: [] }],
  ['GET', '/v1/internal/llm/openai/v1/models', undefined],
  ['GET', '/v1/internal/records/notes', undefined],
  ['POST', '/v1/internal/records/notes/a', { value: 1 }],
  ['GET', '/v1/internal/case', undefined],
  ['POST', '/v1/internal/workflows/none', { args: {} }],
  ['POST', '/v1/internal/knowledge/gap', { question: 'why?' }],
] as const

/** Starts a run that reports its tokens and hangs until it is cancelled. */
async function startRunWithTokens(): Promise<{ id: string; task: string; gate: string }> {
  const id = await startScript(
    app(),
    `say({ event: 'progress', data: { text: JSON.stringify(brief.service) } }); await new Promise(() => setInterval(() => {}, 1e6))`,
  )
  const { data } = await waitForEvent(app(), id, 'progress')
  const { task_token: task, gate_token: gate } = JSON.parse(data.data.text)
  return { id, task, gate }
}

const callAll = (token: string, routes: unknown) => `
  const statuses = []
  for (const [method, path, body] of ${JSON.stringify(routes)}) statuses.push((await ask(method, path, body ?? undefined, ${token})).status)
  say({ output: statuses })`

describe('the tokens of a run', () => {
  test('allow calls of the sandbox plane, each token its own part', async () => {
    const { task } = await runScript(
      app(),
      `const { task_token, gate_token } = brief.service
       say({ output: [
         await ask('POST', '/v1/internal/gate', { tool: 'look' }, gate_token),
         await ask('POST', '/v1/internal/gate', { tool: 'look' }, task_token),
         await ask('POST', '/v1/internal/records/notes/a', { value: 1 }, task_token),
         await ask('POST', '/v1/internal/records/notes/a', { value: 1 }, gate_token),
       ].map(({ status, body }) => [status, body.decision ?? body.error ?? body.value]) })`,
    )
    expect(task.output).toMatchObject([
      [200, 'allowed'],
      [401, expect.any(String)],
      [201, 1],
      [401, expect.any(String)],
    ])
  })

  test('are accepted in the header x-api-key by every route, and two different tokens are refused', async () => {
    const script = `
      const { socket, task_token, gate_token } = brief.service
      const call = (method, path, body, headers) => new Promise((resolve, reject) => {
        const request = require('node:http').request({ socketPath: socket, method, path, headers: { 'content-type': 'application/json', ...headers } })
        request.on('error', reject).on('response', (response) => {
          let text = ''
          response.on('data', (chunk) => (text += chunk)).on('end', () => resolve([response.statusCode, JSON.parse(text || 'null')?.error]))
        }).end(body && JSON.stringify(body))
      })
      const results = []
      for (const [method, path, body] of ${JSON.stringify(ROUTES)}) {
        const [right, wrong] = path.endsWith('/gate') ? [gate_token, task_token] : [task_token, gate_token]
        const both = { 'x-api-key': right, authorization: 'Bearer ' + right }
        const [alone, same] = [await call(method, path, body, { 'x-api-key': right }), await call(method, path, body, both)]
        results.push({
          path,
          accepted: alone[0] !== 401 && same[0] !== 401,
          wrong: await call(method, path, body, { 'x-api-key': wrong }),
          different: [
            await call(method, path, body, { ...both, authorization: 'Bearer ' + wrong }),
            await call(method, path, body, { ...both, 'x-api-key': wrong }),
            await call(method, path, body, { ...both, authorization: 'Basic ' + right }),
          ],
        })
      }
      say({ output: results })`
    const { task } = await runScript(app(), script)
    const refusal = [400, "headers 'authorization' and 'x-api-key' must contain the same token"]
    expect(task.output).toEqual(
      ROUTES.map(([, path]) => ({
        path,
        accepted: true,
        wrong: [401, expect.any(String)],
        different: [refusal, refusal, refusal],
      })),
    )
  })

  test('are refused on the socket of another cell', async () => {
    const other = await startRunWithTokens()
    for (const token of [other.task, other.gate]) {
      const { task } = await runScript(app(), callAll(`'${token}'`, ROUTES))
      expect(task.output).toEqual(ROUTES.map(() => 401))
    }
    await app().call('POST', `/v1/tasks/${other.id}/cancel`)
  })

  test('are refused on the public port, like every other credential on these routes', async () => {
    const { id, task, gate } = await startRunWithTokens()
    for (const key of [task, gate, app().key, null]) {
      for (const [method, path, body] of ROUTES) {
        expect((await app().call(method, path, body, { key })).status, `${method} ${path}`).toBe(401)
      }
    }
    for (const key of [task, gate]) expect((await app().call('GET', '/v1/tasks', undefined, { key })).status).toBe(401)
    await app().call('POST', `/v1/tasks/${id}/cancel`)
  })

  test('forged and empty tokens and API keys are refused inside of the cell', async () => {
    for (const token of [`'task_tok_forged'`, `''`, `'${app().key}'`, `brief.service.task_token + 'x'`]) {
      const { task } = await runScript(app(), callAll(token, ROUTES))
      expect(task.output).toEqual(ROUTES.map(() => 401))
    }
  })

  test('are refused after the end of the run, while its process still runs', async () => {
    const { task } = await runScript(
      app(),
      `const { spawn } = require('node:child_process')
       const records = '/v1/internal/records/late/a'
       await ask('POST', records, { value: 'before' })
       say({ output: 'done' })
       for (let i = 0; i < 100; i++) { await ask('POST', records, { value: 'after' }).catch(() => {}); await new Promise((r) => setTimeout(r, 10)) }`,
    )
    expect(task.status).toBe('succeeded')
    const { body } = await app().call('GET', '/v1/records?wedge=echo&collection=late')
    const seen = body.data.map(({ version }: { version: number }) => version)
    await runScript(app(), `say({ output: 1 })`)
    const { body: later } = await app().call('GET', '/v1/records?wedge=echo&collection=late')
    expect(later.data.map(({ version }: { version: number }) => version)).toEqual(seen)
    expect(seen).toHaveLength(1)
  })

  test('do not reach routes outside of the sandbox plane', async () => {
    const otherRoutes = [
      ['GET', '/v1/tasks'],
      ['GET', '/v1/connections'],
      ['GET', '/healthz'],
      ['GET', '/v1/internal/nothing'],
      ['GET', '/v1/internal/../tasks'],
    ]
    const { task } = await runScript(app(), callAll('brief.service.task_token', otherRoutes))
    expect(new Set(task.output)).toEqual(new Set([404]))
  })
})
