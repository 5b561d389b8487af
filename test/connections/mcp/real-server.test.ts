import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { testApp } from '../../app.ts'
import { GATED_ENV } from '../../approvals/decisions/gated-app.ts'
import { freePort } from '../../free-port.ts'
import { MCP_WEDGE, pendingApproval, startCall } from './mcp-app.ts'

const { resolve } = createRequire(import.meta.url)

/** The reference server of the MCP project, over streamable HTTP. */
async function startEverythingServer(): Promise<string> {
  const port = await freePort()
  const program = join(dirname(resolve('@modelcontextprotocol/server-everything/package.json')), 'dist/index.js')
  const env = { PATH: process.env.PATH ?? '', PORT: String(port) }
  const server = spawn(process.execPath, [program, 'streamableHttp'], { env, stdio: 'ignore' })
  onTestFinished(() => void server.kill('SIGKILL'))
  const url = `http://127.0.0.1:${port}/mcp`
  await expect
    .poll(() =>
      fetch(url).then(
        (answer) => answer.status,
        () => 0,
      ),
    )
    .toBeGreaterThan(0)
  return url
}

async function connect() {
  const url = await startEverythingServer()
  const app = await testApp({ store: 'sqlite', wedges: MCP_WEDGE, env: GATED_ENV })
  const { body } = await app.call('POST', '/v1/connections', { kind: 'mcp', name: 'notes', config: { url } })
  const path = `/v1/connections/${body.id}`
  const refreshed = await app.call('POST', `${path}/tools/refresh`)
  expect(refreshed.status, JSON.stringify(refreshed.body)).toBe(200)
  const names: string[] = refreshed.body.data.map(({ name }: { name: string }) => name)
  const call = async (type: 'act' | 'read', tool: string, args: object) => {
    const input = { capability: `notes:${tool}`, args }
    return startCall(app, type, args, { input })
  }
  return { app, path, names, call }
}

test('server-everything: its tools are listed, confirmed and called', async () => {
  const { app, path, names, call } = await connect()
  expect(names).toEqual(expect.arrayContaining(['echo', 'get-sum', 'get-tiny-image', 'get-structured-content']))
  for (const name of names) await app.call('PUT', `${path}/tools/${name}`, { class: 'read' })
  const outputs = new Map<string, unknown>()
  for (const [tool, args] of [
    ['echo', { message: 'hi' }],
    ['get-sum', { a: 2, b: 3 }],
    ['get-tiny-image', {}],
    ['get-structured-content', { location: 'New York' }],
  ] as const) {
    const { id } = await call('read', tool, args)
    outputs.set(tool, (await app.finished(id)).output)
  }
  expect(Object.fromEntries(outputs)).toMatchObject({
    echo: { ok: true, body: 'Echo: hi' },
    'get-sum': { ok: true, body: expect.stringContaining('5') },
    'get-tiny-image': { ok: true, body: expect.stringContaining('[image image/png is not shown]') },
    'get-structured-content': { ok: true, body: { structured: expect.objectContaining({}) } },
  })
})

test('server-everything: its elicitation becomes a question to the team', async () => {
  const { app, path, names, call } = await connect()
  const tool = names.find((name) => /elicitation/.test(name)) ?? 'trigger-elicitation-request'
  const listed = await app.call('PUT', `${path}/tools/${tool}`, { class: 'read' })
  expect(listed.status, names.join(' ')).toBe(200)
  const { id } = await call('read', tool, {})
  const question = await pendingApproval(app, id)
  expect(question).toMatchObject({ path: 'question', preview: { schema: { type: 'object' } } })
  await app.call('POST', `/v1/approvals/${question.approval_id}/reject`, {})
  expect(await app.finished(id)).toMatchObject({ status: 'succeeded', output: { ok: true } })
})
