import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { anyStore } from '../app.ts'
import { gatedWedgeFiles, openGatedApp } from '../approvals/decisions/gated-app.ts'
import { CLIENT_SECRET, PUBLIC_URL, startAuthorizationServer } from '../connections/auth/authorization-server.ts'
import { callBack, getHealth, MINUTE, startFlow } from '../connections/auth/oauth-app.ts'
import { anthropicStream, startFakeProvider } from '../execution/models/fake-provider.ts'
import { type Canaries, findLeaks, readFileTexts, readRowTexts, type SearchedTexts } from './find-leaks.ts'

const toolCall = (tool: string, extra: object) =>
  anthropicStream({ call: { name: tool, input: { connection: 'crm', capability: 'crm', ...extra } } })

const MODEL_RESPONSES = [
  toolCall('act', { payload: { text: 'hello' } }),
  toolCall('read', { path: 'echo' }),
  anthropicStream({ text: 'Done.', call: { name: 'finish', input: { output: { reply: 'done' } } } }),
]

const ENV = { ANTHROPIC_API_KEY: 'sk-test', SVC_MODEL: 'anthropic/claude-sonnet-4-5', SVC_PUBLIC_URL: PUBLIC_URL }

anyStore((store) => {
  test('no token, code, verifier, state or client secret appears in a response, event, row, file, log or model request', async () => {
    const provider = await startAuthorizationServer()
    const model = await startFakeProvider(...MODEL_RESPONSES.map((text) => ({ chunks: [text] })))
    const wedges = gatedWedgeFiles('gate', { policy: { auto_approve: [{ action: 'crm' }] } })
    const app = await openGatedApp(store, wedges, { ...ENV, ANTHROPIC_BASE_URL: model.url })
    onTestFinished(async () => {
      await app.stop()
      await app.outside.close()
      await model.close()
    })
    app.outside.respond = ({ headers }, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ headers, again: encodeURIComponent(String(headers.authorization)) }))
    }
    const texts: SearchedTexts = new Map()
    const record = async (method: string, path: string, body?: unknown) => {
      const response = await app.call(method, path, body)
      texts.set(`${method} ${path} (${response.status})`, JSON.stringify([response.body, [...response.headers]]))
      return response.body
    }

    const [crm] = (await record('GET', '/v1/connections')).data.filter(({ name }: { name: string }) => name === 'crm')
    const path = `/v1/connections/${crm.id}`
    await record('PUT', path, { config: { ...crm.config, auth: provider.auth } })
    await record('POST', `${path}/secret`, { value: CLIENT_SECRET })
    const query = await provider.consent(await startFlow(app, crm.id))
    for (const given of [query, query]) {
      const answer = await callBack(app, given)
      texts.set(`callback ${answer.status}`, JSON.stringify([await answer.text(), [...answer.headers]]))
    }
    app.clock.set(app.clock.now() + 61 * MINUTE)
    const task = await app.createTask({ wedge: 'gate', task_type: 'act', input: {} })
    expect(await app.finished(task.id)).toMatchObject({ status: 'succeeded' })
    expect(app.outside.received.map(({ headers }) => headers.authorization)).toEqual(
      Array.from({ length: 2 }, () => `Bearer ${provider.issued[1]?.access_token}`),
    )
    await provider.revoke(provider.issued[1]?.refresh_token ?? '')
    app.clock.set(app.clock.now() + 61 * MINUTE)
    await record('POST', `${path}/test`)
    expect(await getHealth(app, crm.id)).toMatchObject({ status: 'failing' })

    for (const read of ['', '/health']) await record('GET', `${path}${read}`)
    for (const read of ['', '/actions', '/trace']) await record('GET', `/v1/tasks/${task.id}${read}`)
    await record('GET', '/v1/audit')
    texts.set('events', JSON.stringify(await app.events(task.id)))
    texts.set('log', app.logged.join('\n'))
    for (const [n, { body }] of model.seen.entries()) texts.set(`model request ${n}`, JSON.stringify(body))
    for (const [name, text] of [...(await readRowTexts(app.app)), ...readFileTexts(join(app.dir, 'data'))])
      texts.set(name, text)

    const canaries: Canaries = {
      'the client secret': CLIENT_SECRET,
      'the code': query.get('code') ?? '',
      'the state': query.get('state') ?? '',
      'the verifier': provider.tokenRequests[0]?.get('code_verifier') ?? '',
    }
    for (const [n, tokens] of provider.issued.slice(0, 2).entries()) {
      canaries[`access token ${n}`] = tokens.access_token ?? ''
      canaries[`refresh token ${n}`] = tokens.refresh_token ?? ''
    }
    for (const [name, text] of Object.entries(canaries)) expect(text.length, name).toBeGreaterThan(20)
    expect(findLeaks(canaries, texts)).toEqual([])
    expect([...texts.values()].some((text) => text.includes('[secret]'))).toBe(true)
  })
})
