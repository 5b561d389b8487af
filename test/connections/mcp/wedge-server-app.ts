import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { testApp, type TestApp } from '../../app.ts'
import { GATED_ENV } from '../../approvals/decisions/gated-app.ts'
import { blocks, page, ROOT } from '../../docs/pages.ts'
import type { StoreKind } from '../../stores.ts'
import { MCP_WEDGE } from './mcp-app.ts'

/** The package of an MCP server in one file, bundled by the line of the documentation. */
export function bundleServer(name: string): string {
  const [line = ''] = blocks(page('docs/mcp-servers.md'), 'sh').filter((code) => code.startsWith('npx esbuild '))
  const folder = mkdtempSync(join(tmpdir(), 'svc-bundle-'))
  try {
    const outfile = join(folder, 'server.mjs')
    const command = line
      .replace('@modelcontextprotocol/server-memory', name)
      .replace(/--outfile=\S+/, `--outfile=${outfile}`)
    const test = join(ROOT, 'test')
    execFileSync('sh', ['-c', command.replace(/^npx /, '../node_modules/.bin/')], { cwd: test, stdio: 'pipe' })
    return readFileSync(outfile, 'utf8')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A server that lists the tool `echo`, which runs `onCall`; `start` runs first. `send`, `ask` and `mode` are in scope. */
export const serverSource = ({ onCall = 'return params.arguments.text', start = '' }) => `
import { createInterface } from 'node:readline'
import fs from 'node:fs'
import net from 'node:net'
import { spawnSync } from 'node:child_process'
const mode = process.argv[2]
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
const waiting = new Map()
const ask = (method, params) => new Promise((done) => {
  waiting.set('q' + waiting.size, done)
  send({ id: 'q' + (waiting.size - 1), method, params })
})
const inputSchema = { type: 'object', properties: { text: { type: 'string' } } }
const call = async (params) => { ${onCall} }
const handle = async ({ id, method, params, result }) => {
  if (method === undefined) return waiting.get(id)?.(result)
  if (method === 'initialize') {
    const serverInfo = { name: 'own', version: '1' }
    return send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } })
  }
  if (method === 'tools/list')
    return send({ id, result: { tools: [{ name: 'echo', description: 'Repeats a text.', inputSchema }] } })
  if (method === 'tools/call') {
    const text = await call(params)
    return send({ id, result: { content: [{ type: 'text', text }] } })
  }
  if (id !== undefined) send({ id, error: { code: -32601, message: 'unknown method' } })
}
${start}
createInterface({ input: process.stdin }).on('line', (line) => handle(JSON.parse(line)))
`

/** A service whose wedge `desk` contains the given server. */
export function openWedgeServerApp(
  store: StoreKind,
  files: Record<string, string>,
  env: Record<string, string> = {},
): Promise<TestApp> {
  const below = Object.fromEntries(Object.entries(files).map(([path, text]) => [`desk/${path}`, text]))
  return testApp({ store, wedges: { ...MCP_WEDGE, ...below }, env: { ...GATED_ENV, ...env } })
}

/** Creates the connection `notes`, lists its tools and gives them these classes. Returns its path. */
export async function connectCommand(
  app: TestApp,
  command: string,
  classes: Record<string, string>,
  env?: Record<string, string>,
): Promise<string> {
  const config = { command, wedge: 'desk', ...(env && { env }) }
  const created = await app.call('POST', '/v1/connections', { kind: 'mcp', name: 'notes', config })
  expect(created.status, JSON.stringify(created.body)).toBe(201)
  const path = `/v1/connections/${created.body.id}`
  const refreshed = await app.call('POST', `${path}/tools/refresh`)
  expect(refreshed.status, JSON.stringify(refreshed.body)).toBe(200)
  for (const [name, value] of Object.entries(classes))
    expect((await app.call('PUT', `${path}/tools/${name}`, { class: value })).status).toBe(200)
  return path
}

/** How many processes of this machine have the text in their command line. */
export function countProcesses(text: string): number {
  const commandLine = (pid: string) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    } catch {
      return ''
    }
  }
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && commandLine(name).includes(text)).length
}
