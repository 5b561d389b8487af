import { expect, test } from 'vitest'
import { saveProgramFiles } from '../../../src/connections/mcp/program-files.ts'
import { anyStore, eachStore, type TestApp } from '../../app.ts'
import { page } from '../../docs/pages.ts'
import { startCall } from './mcp-app.ts'
import { bundleServer, connectCommand, openWedgeServerApp, serverSource } from './wedge-server-app.ts'

async function callTool(app: TestApp, tool: string, args: object, client_id?: string) {
  const { id } = await startCall(app, 'read', args, { input: { capability: `notes:${tool}`, args }, client_id })
  return JSON.stringify((await app.finished(id)).output)
}

const MEMORY_SERVER = '@modelcontextprotocol/server-memory'
const FILE = { MEMORY_FILE_PATH: '$TMP/memory.jsonl' }
const CLASSES = { create_entities: 'read', read_graph: 'read' }
const KIM = { entities: [{ name: 'Kim', entityType: 'person', observations: ['likes tea'] }] }

anyStore((store) => {
  test('server-memory: what it writes lasts, belongs to one connection, and is deleted with it', async () => {
    const app = await openWedgeServerApp(store, { 'servers/memory.mjs': bundleServer(MEMORY_SERVER) })
    const path = await connectCommand(app, 'node servers/memory.mjs', CLASSES, FILE)
    expect(await callTool(app, 'create_entities', KIM)).toContain('"ok":true')
    expect(await callTool(app, 'read_graph', {})).toContain('likes tea')
    const { body: client } = await app.call('POST', '/v1/clients', { display_name: 'Kim' })
    expect(await callTool(app, 'read_graph', {}, client.id)).not.toContain('likes tea')
    const lee = { entities: [{ name: 'Lee', entityType: 'person', observations: ['likes milk'] }] }
    expect(await callTool(app, 'create_entities', lee, client.id)).toContain('"ok":true')
    expect(await callTool(app, 'read_graph', {}, client.id)).toContain('likes milk')
    expect((await app.call('POST', `/v1/clients/${client.id}/erase`)).status).toBe(200)
    expect(await app.ctx.db.selectFrom('connection_files').select('client_id').execute()).toEqual([{ client_id: '' }])
    expect((await app.call('DELETE', path)).status).toBe(204)
    expect(await app.ctx.db.selectFrom('connection_files').selectAll().execute()).toEqual([])
    await connectCommand(app, 'node servers/memory.mjs', CLASSES, FILE)
    expect(await callTool(app, 'read_graph', {})).not.toContain('likes tea')
  })
})

eachStore((store) => {
  test('files of a server: the limits hold for all calls together, their bytes count, and a late call stores nothing for an erased client', async () => {
    const app = await openWedgeServerApp(store, { 'servers/own.mjs': serverSource({}) })
    const path = await connectCommand(app, 'node servers/own.mjs', { echo: 'read' })
    const { body: client } = await app.call('POST', '/v1/clients', { display_name: 'Kim' })
    const save = (content: string, names: string[]) =>
      saveProgramFiles(
        app.ctx,
        { connection_id: path.split('/').at(-1) ?? '', client_id: client.id },
        {},
        Object.fromEntries(names.map((name) => [name, Buffer.from(content).toString('base64')])),
      )
    const large = 'x'.repeat(1_200_000)
    expect((await Promise.all([save(large, ['a']), save(large, ['b'])])).sort()).toEqual([false, true])
    const names = (letter: string) => Array.from({ length: 600 }, (_, n) => `${letter}${n}`)
    expect((await Promise.all([save('', names('c')), save('', names('d'))])).sort()).toEqual([false, true])
    const stored = await app.ctx.db.selectFrom('connection_files').select('content').executeTakeFirstOrThrow()
    const storedBytes = async () => (await app.ctx.db.selectFrom('storage_usage').select('bytes').execute())[0]?.bytes
    expect(await storedBytes()).toBe(stored.content.length)
    expect((await app.call('POST', `/v1/clients/${client.id}/erase`)).status).toBe(200)
    expect(await storedBytes()).toBe(0)
    expect(await save('late', ['e'])).toBe(true)
    expect(await app.ctx.db.selectFrom('connection_files').selectAll().execute()).toEqual([])
  })
})

test('server-memory keeps its files in the bwrap sandbox', async () => {
  const files = { 'servers/memory.mjs': bundleServer(MEMORY_SERVER) }
  const app = await openWedgeServerApp('sqlite', files, { SVC_SANDBOX: 'bwrap' })
  await connectCommand(app, 'node servers/memory.mjs', CLASSES, FILE)
  await callTool(app, 'create_entities', KIM)
  expect(await callTool(app, 'read_graph', {})).toContain('likes tea')
})

test('server-sequential-thinking, which declares createRequire itself, is bundled by the line of the documentation', async () => {
  const name = '@modelcontextprotocol/server-sequential-thinking'
  const files = {
    'servers/think.mjs': bundleServer(name),
    'servers/package.json': page(`test/node_modules/${name}/package.json`),
  }
  const app = await openWedgeServerApp('sqlite', files)
  await connectCommand(app, 'node servers/think.mjs', { sequentialthinking: 'read' })
  const thought = { thought: 'Look.', nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 }
  expect(await callTool(app, 'sequentialthinking', thought)).toContain('"ok":true')
})

test('a server gets its variables, and files that are too large or removed are not kept', async () => {
  const onCall = `
    const [name, size] = params.arguments.text.split(' ')
    if (size === 'x') fs.rmSync(process.env.DATA + '/' + name)
    else if (size) fs.writeFileSync(process.env.DATA + '/' + name, 'x'.repeat(Number(size)))
    return process.env.GREETING + ' ' + fs.readdirSync(process.env.DATA).sort()`
  const app = await openWedgeServerApp('sqlite', { 'servers/own.mjs': serverSource({ onCall }) })
  const env = { GREETING: 'hello', DATA: '$TMP' }
  await connectCommand(app, 'node servers/own.mjs', { echo: 'read' }, env)
  const call = (text: string) => callTool(app, 'echo', { text })
  expect(await call('a 10')).toContain('hello a"')
  expect(await call('b 3000000')).toContain('hello a,b"')
  expect(await call('c 5')).toContain('hello a,c"')
  expect(await call('a x')).toContain('hello c"')
  expect(await call('')).toContain('hello c"')
  expect(app.logged.join('')).toContain('the files of an MCP server were not kept')
})
