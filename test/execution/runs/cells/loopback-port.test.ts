import { describe, expect, test } from 'vitest'
import { sharedApp } from '../../../app.ts'
import { runScript, scriptedAgentFolder } from '../scripted-agent.ts'

const agents = scriptedAgentFolder()

describe.each(['bwrap', 'process'])('the loopback port of a custom agent (%s)', (sandbox) => {
  const app = sharedApp({ store: 'sqlite', env: { SVC_SANDBOX: sandbox, ...agents } })

  test('leads to the service, which takes the key of either provider as the token', async () => {
    const { task } = await runScript(
      app(),
      `const { SVC_BASE_URL, OPENAI_API_KEY, ANTHROPIC_API_KEY } = process.env
       const get = async (headers) => (await fetch(SVC_BASE_URL + '/v1/internal/records/notes', { headers })).status
       say({ output: [
         await get({ authorization: 'Bearer ' + OPENAI_API_KEY }),
         await get({ 'x-api-key': ANTHROPIC_API_KEY }),
         await get({ 'x-api-key': brief.service.gate_token }),
         await get({}),
         [OPENAI_API_KEY, ANTHROPIC_API_KEY].every((key) => key === brief.service.task_token),
       ] })`,
    )
    expect(task).toMatchObject({ status: 'succeeded', output: [200, 200, 401, 401, true] })
  })

  test('serves the models of both providers below their base URLs', async () => {
    const { task } = await runScript(
      app(),
      `const { ANTHROPIC_BASE_URL, OPENAI_BASE_URL, OPENAI_API_KEY } = process.env
       const messages = [{ role: 'user', content: 'hi' }]
       const call = async (url, body) => {
         const headers = { authorization: 'Bearer ' + OPENAI_API_KEY, 'content-type': 'application/json' }
         const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ model: 'any', max_tokens: 100, messages, ...body }) })
         return [response.status, await response.json()]
       }
       say({ output: [
         await call(ANTHROPIC_BASE_URL + '/v1/messages', {}),
         await call(OPENAI_BASE_URL + '/chat/completions', {}),
       ] })`,
    )
    expect(task.status).toBe('succeeded')
    expect(task.output).toMatchObject([
      [200, { type: 'message' }],
      [200, { object: 'chat.completion' }],
    ])
  })

  test('is closed with the run, and takes many connections', async () => {
    const { task } = await runScript(
      app(),
      `const headers = { 'x-api-key': process.env.ANTHROPIC_API_KEY }
       const all = Array.from({ length: 100 }, () => fetch(process.env.SVC_BASE_URL + '/v1/internal/records/notes', { headers }))
       say({ output: { url: process.env.SVC_BASE_URL, answers: (await Promise.all(all)).filter(({ ok }) => ok).length } })`,
    )
    expect(task.output.answers).toBe(100)
    // The port of a sandbox is not one of this machine; that of a plain process ends with it.
    await expect(fetch(task.output.url)).rejects.toThrow('fetch failed')
  })
})
