import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { anyStore, type TestApp, writeFiles } from '../../app.ts'
import { approveAndFinish, pendingApproval, startCall } from './mcp-app.ts'
import { bundleServer, connectCommand, countProcesses, openWedgeServerApp, serverSource } from './wedge-server-app.ts'

const callTool = (app: TestApp, type: 'act' | 'read', tool: string, args: object) =>
  startCall(app, type, args, { input: { capability: `notes:${tool}`, args } })

async function useFilesystemServer(app: TestApp) {
  const path = await connectCommand(app, 'node servers/files.mjs "my docs"', {
    read_text_file: 'read',
    write_file: 'ask',
  })
  const read = await callTool(app, 'read', 'read_text_file', { path: 'hello.txt' })
  expect(await app.finished(read.id)).toMatchObject({
    output: { ok: true, body: expect.objectContaining({ text: 'hello from the wedge' }) },
  })
  const outside = await callTool(app, 'read', 'read_text_file', { path: '../wedge.json' })
  expect(JSON.stringify((await app.finished(outside.id)).output)).toContain('denied')
  const write = await callTool(app, 'act', 'write_file', { path: 'new.txt', content: 'x' })
  const ended = await approveAndFinish(app, write.id)
  expect(ended).toMatchObject({ output: { ok: false, status: 422 } })
  const tested = await app.call('POST', `${path}/test`)
  expect(tested.body).toMatchObject({ ok: true, checked: "tools of wedge 'desk'" })
  await expect.poll(() => countProcesses('servers/files.mjs')).toBe(0)
}

const filesystemFiles = () => ({
  'servers/files.mjs': bundleServer('@modelcontextprotocol/server-filesystem'),
  'my docs/hello.txt': 'hello from the wedge',
})

anyStore((store) => {
  describe('MCP servers of a wedge', () => {
    test('server-filesystem: a task reads a file of the wedge, and cannot write to it', async () => {
      await useFilesystemServer(await openWedgeServerApp(store, filesystemFiles()))
    })

    test('a config that cannot work is refused', async () => {
      const app = await openWedgeServerApp(store, {})
      const refuse = async (config: object, error: string) => {
        const { status, body } = await app.call('POST', '/v1/connections', { kind: 'mcp', name: 'notes', config })
        expect({ status, error: body.error }).toEqual({ status: 400, error: expect.stringContaining(error) })
      }
      const command = 'node servers/own.mjs'
      await refuse({ command, wedge: 'desk', url: 'https://mcp.example.com/' }, 'exclude each other')
      await refuse({ command }, "'config.wedge'")
      await refuse({ command, wedge: '../desk' }, "'config.wedge'")
      await refuse({ command, wedge: 'desk', auth: { type: 'bearer' } }, "'config.auth'")
      await refuse({ command: ['node', 'servers/own.mjs'], wedge: 'desk' }, "'config.command'")
      await refuse({ url: 'https://mcp.example.com/', env: { A: 'b' } }, "'config.env' is only for")
      await refuse({ command, wedge: 'desk', env: { A: 1 } }, "'config.env.A' must be a text")
      for (const name of ['SVC_SECRET_KEY', 'NODE_OPTIONS', 'LD_PRELOAD', 'Path', 'HOME', 'TMPDIR', 'A B', ''])
        await refuse({ command, wedge: 'desk', env: { [name]: 'x' } }, "'config.env' cannot set")
      for (const wrong of ['python3 x.py', 'node', '/bin/sh -c id', 'sh x'])
        await refuse({ command: wrong, wedge: 'desk' }, "must be 'node'")
      for (const wrong of ['node --eval 1', 'node "-e" 1', 'node ../x.mjs', 'node a/../../x.mjs', 'node /etc/x.mjs'])
        await refuse({ command: wrong, wedge: 'desk' }, "below the wedge's folder")
    })

    test('a wedge or script that does not exist or is not enabled is refused at use, in a sentence', async () => {
      const app = await openWedgeServerApp(store, { 'servers/own.mjs': serverSource({}) })
      const refresh = async (config: object) => {
        const { body } = await app.call('POST', '/v1/connections', {
          kind: 'mcp',
          name: `c${JSON.stringify(config).length}`,
          config,
        })
        const { status, body: answer } = await app.call('POST', `/v1/connections/${body.id}/tools/refresh`)
        return { status, error: answer.error }
      }
      expect(await refresh({ command: 'node servers/own.mjs', wedge: 'nowhere' })).toEqual({
        status: 400,
        error: "unknown wedge 'nowhere'",
      })
      expect(await refresh({ command: 'node servers/none.mjs', wedge: 'desk' })).toMatchObject({
        status: 400,
        error: expect.stringContaining("wedge 'desk' has no file 'servers/none.mjs'"),
      })
      await app.ctx.db.updateTable('projects').set({ wedges: '["other"]' }).execute()
      expect(await refresh({ command: 'node servers/own.mjs x', wedge: 'desk' })).toMatchObject({
        status: 403,
        error: "wedge 'desk' is not enabled for this project",
      })
    })

    test('a new version of the server must be confirmed, other files of the wedge may change', async () => {
      const app = await openWedgeServerApp(store, { 'servers/own.mjs': serverSource({}), 'docs/a.txt': 'a' })
      const path = await connectCommand(app, 'node servers/own.mjs', { echo: 'read' })
      const output = async () => {
        const { id } = await startCall(app, 'read')
        return (await app.finished(id)).output
      }
      writeFileSync(join(app.dir, 'wedges/desk/docs/a.txt'), 'b')
      expect(await output()).toMatchObject({ ok: true, body: 'hi' })
      writeFileSync(join(app.dir, 'wedges/desk/servers/own.mjs'), serverSource({ onCall: 'return "new"' }))
      expect(JSON.stringify(await output())).toContain('has changed since it was confirmed')
      await app.call('PUT', `${path}/tools/echo`, { class: 'read' })
      expect(await output()).toMatchObject({ ok: true, body: 'new' })
      // Nothing but `node_modules` is left out: an empty file must not hide the code beside it.
      const changed = "export const onCall = 'new'"
      for (const name of ['lib/pyvenv.cfg', '__pycache__/a.mjs', '.git/a.mjs', 'lib/a.mjs']) {
        writeFiles(join(app.dir, 'wedges/desk/servers'), { [name]: changed })
        expect(JSON.stringify(await output())).toContain('has changed since it was confirmed')
        await app.call('PUT', `${path}/tools/echo`, { class: 'read' })
      }
    })
  })
})

test("a changed `env` needs the admin's confirmation of the tools again", async () => {
  const onCall = 'return process.env.GREETING'
  const app = await openWedgeServerApp('sqlite', { 'servers/own.mjs': serverSource({ onCall }) })
  const command = 'node servers/own.mjs'
  const path = await connectCommand(app, command, { echo: 'read' }, { GREETING: 'hello' })
  const output = async () => {
    const { id } = await startCall(app, 'read')
    return (await app.finished(id)).output
  }
  expect(await output()).toMatchObject({ ok: true, body: 'hello' })
  const config = { command, wedge: 'desk', env: { GREETING: 'good day' } }
  expect((await app.call('PUT', path, { config })).status).toBe(200)
  expect(JSON.stringify(await output())).toContain('has changed since it was confirmed')
  await app.call('PUT', `${path}/tools/echo`, { class: 'read' })
  expect(await output()).toMatchObject({ ok: true, body: 'good day' })
})

test('server-filesystem works in the bwrap sandbox', async () => {
  await useFilesystemServer(await openWedgeServerApp('sqlite', filesystemFiles(), { SVC_SANDBOX: 'bwrap' }))
})

test('a question of a server in a wedge is asked of the team', async () => {
  const requestedSchema = { type: 'object', properties: { size: { type: 'string' } }, required: ['size'] }
  const params = JSON.stringify({ message: 'Which size?', requestedSchema })
  // The MCP packages check an answer with a function that they compile from its schema.
  const onCall = `return new Function('value', 'return JSON.stringify(value)')(await ask('elicitation/create', ${params}))`
  const app = await openWedgeServerApp('sqlite', { 'servers/own.mjs': serverSource({ onCall }) })
  await connectCommand(app, 'node servers/own.mjs', { echo: 'read' })
  const { id } = await startCall(app, 'read')
  const question = await pendingApproval(app, id)
  expect(question).toMatchObject({ path: 'question', preview: { question: expect.stringContaining('Which size?') } })
  // A wait for a person is not limited by the time limit of a call.
  await app.clock.advance(60_000)
  await app.call('POST', `/v1/approvals/${question.approval_id}/approve`, { edited: { answer: { size: 'L' } } })
  const { output } = await app.finished(id)
  expect(JSON.stringify(output)).toContain('accept')
  expect(JSON.stringify(output)).toContain('size')
})

test('a server that does not start is a 502 with its error, and the connection is failing', async () => {
  const app = await openWedgeServerApp('sqlite', { 'servers/own.mjs': "import './missing.mjs'" })
  const config = { command: 'node servers/own.mjs', wedge: 'desk' }
  const { body } = await app.call('POST', '/v1/connections', { kind: 'mcp', name: 'notes', config })
  const refreshed = await app.call('POST', `/v1/connections/${body.id}/tools/refresh`)
  expect(refreshed).toMatchObject({ status: 502, body: { error: expect.stringContaining('Cannot find module') } })
  const health = await app.call('GET', `/v1/connections/${body.id}/health`)
  expect(health.body).toMatchObject({ status: 'failing', message: expect.stringContaining('the server ended') })
})

test('the end of the service ends the server of a call that is under way', async () => {
  const onCall = 'return new Promise(() => setInterval(() => {}, 1000))'
  const app = await openWedgeServerApp('sqlite', { 'servers/stopped-42.mjs': serverSource({ onCall }) })
  await connectCommand(app, 'node servers/stopped-42.mjs', { echo: 'read' })
  await startCall(app, 'read')
  await expect.poll(() => countProcesses('stopped-42.mjs')).toBeGreaterThan(0)
  await app.stop()
  await expect.poll(() => countProcesses('stopped-42.mjs')).toBe(0)
})
