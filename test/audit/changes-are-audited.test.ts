import { isDeepStrictEqual } from 'node:util'
import { expect, test, vi } from 'vitest'
import { anyStore, FOUNDER_KEY } from '../app.ts'
import type { ApiResponse } from '../http.ts'
import { mcpClient } from '../server/mcp/mcp-client.ts'
import { readAllRows } from '../server/planes/all-rows.ts'
import { CLIENT_ROUTES, FOUNDER_ROUTES, fillPath, OPEN_ROUTES, routeName } from '../server/planes/route-table.ts'
import type { AuditedCall, CallInput } from './audited-call.ts'
import { AUDITED_CALLS, CALLS_WITHOUT_LOG, UNAUDITED_CALLS } from './audited-calls.ts'
import { AUDITED_TOOLS } from './audited-mcp.ts'
import { type PopulatedApp, populatedApp } from './populated-app.ts'

// Calls every route with all that it needs, which takes long on a busy machine.
vi.setConfig({ testTimeout: 300_000 })

test('this file calls every route that can change something', () => {
  const routes = [...FOUNDER_ROUTES, ...CLIENT_ROUTES, ...OPEN_ROUTES]
    .filter(({ method }) => method !== 'GET')
    .map(routeName)
  const tried = [...Object.keys(AUDITED_CALLS), ...Object.keys(UNAUDITED_CALLS)].filter(
    (name) => !name.startsWith('GET '),
  )
  expect([...tried, ...CALLS_WITHOUT_LOG].toSorted()).toEqual(routes.toSorted())
})

test('every location header of a created resource can be read', async () => {
  const app = await populatedApp('sqlite')
  for (const [name, { call }] of Object.entries(AUDITED_CALLS).filter(([name]) => /^(POST|PUT) /.test(name))) {
    const input = await call(app)
    const { headers, body } = await send(app, name, input)
    const location = headers.get('location')
    if (location === null) continue
    const key = input.key === null ? body.session_token : (input.key ?? FOUNDER_KEY)
    expect((await app.call('GET', location, undefined, { key })).status, `${name}: ${location}`).toBe(200)
  }
})

anyStore((store) => {
  test('every call that changes something adds an audit entry', async () => {
    const app = await populatedApp(store)
    for (const [name, audited] of Object.entries(AUDITED_CALLS)) await expectEntry(app, name, audited)
    expect((await app.call('GET', '/v1/audit/verify')).body.ok).toBe(true)
  })

  test('every MCP tool that changes something adds an audit entry', async () => {
    const app = await populatedApp(store)
    const { result } = await mcpClient(app).request('tools/list')
    const changing = result.tools.filter((tool: ListedTool) => !tool.annotations.readOnlyHint)
    expect(changing.map(({ name }: ListedTool) => name).toSorted()).toEqual(Object.keys(AUDITED_TOOLS).toSorted())
    for (const [name, audited] of Object.entries(AUDITED_TOOLS)) await expectEntry(app, 'POST /mcp', audited, name)
  })

  test('a call without an audit entry changes nothing', async () => {
    const app = await populatedApp(store)
    await app.call('POST', `/v1/approvals/${(await app.taskAwaitingApproval()).approval}/reject`)
    const inputs: [string, CallInput][] = []
    for (const [name, call] of Object.entries(UNAUDITED_CALLS)) inputs.push([name, await call(app)])
    const before = await readSettledRows(app)
    for (const [name, input] of inputs) expect((await send(app, name, input)).status).toBe(200)
    expect(await readAllRows(app)).toEqual(before)
  })
})

/** The rejected run may still store its end. */
async function readSettledRows(app: PopulatedApp) {
  let rows = await readAllRows(app)
  const isSettled = async () => {
    const earlier = rows
    rows = await readAllRows(app)
    return isDeepStrictEqual(rows, earlier)
  }
  await expect.poll(isSettled).toBe(true)
  return rows
}

interface ListedTool {
  name: string
  annotations: { readOnlyHint: boolean }
}

interface Entry {
  hash: string
  actor: { kind: string; id: string }
  action: string
  subject: string
  data: object
}

/** Makes the call and expects one new entry with its action, actor and subject. */
async function expectEntry(app: PopulatedApp, name: string, audited: AuditedCall, label = name): Promise<void> {
  const { action, chain } = audited
  const input = await audited.call(app)
  const before = new Set((await newestEntries(app, chain, null)).map(({ hash }) => hash))
  const response = await send(app, name, input)
  expect([200, 201, 202, 204], `${label}: ${response.status} ${JSON.stringify(response.body)}`).toContain(
    response.status,
  )
  const known = JSON.stringify([input, response.body])
  const findEntries = async () => {
    const added = (await newestEntries(app, chain, response)).filter(({ hash }) => !before.has(hash))
    return added.filter((entry) => entry.action === action && isBy(entry, input) && isAbout(entry, known))
  }
  // A response 202 comes before the work is done.
  if (response.status === 202) await expect.poll(findEntries, { message: label }).toHaveLength(1)
  else expect.soft(await findEntries(), `${label}: expected ${action}`).toHaveLength(1)
}

function send(app: PopulatedApp, name: string, input: CallInput): Promise<ApiResponse> {
  const { ids = {}, query = '', body, key, raw } = input
  const [method = '', path = ''] = name.split(' ')
  const headers = { accept: 'application/json, text/event-stream', ...input.headers }
  const options = { ...(key !== undefined && { key }), ...(raw !== undefined && { raw }), headers }
  return app.call(method, fillPath(path, ids) + query, body, options)
}

/** The newest entries of a chain. */
async function newestEntries(
  app: PopulatedApp,
  chain: AuditedCall['chain'],
  response: ApiResponse | null,
): Promise<Entry[]> {
  if (chain === 'project') return listEntries(app, FOUNDER_KEY, 'project')
  if (chain === 'organisation') return listEntries(app, app.owner, 'organisation')
  return response ? listEntries(app, response.body.session_token, 'organisation') : []
}

async function listEntries(app: PopulatedApp, key: string, chain: 'project' | 'organisation'): Promise<Entry[]> {
  const { status, body } = await app.call('GET', `/v1/audit?chain=${chain}&limit=200`, undefined, { key })
  expect(status).toBe(200)
  return body.data
}

const ACTOR_KINDS: Record<string, string> = { svc_key: 'key', svc_fst: 'member', svc_cst: 'client' }

/** Whether the caller is the actor; a caller without a credential became a member or a client. */
function isBy({ actor }: Entry, { key = FOUNDER_KEY, by }: CallInput): boolean {
  if (by) return actor.kind === by
  return key === null ? actor.kind === 'member' || actor.kind === 'client' : actor.kind === ACTOR_KINDS[key.slice(0, 7)]
}

/** Whether the entry is about an id in the request or the response. */
function isAbout({ subject, data }: Entry, known: string): boolean {
  const ids = JSON.stringify(data).match(/"[a-z]+_[0-9a-z]{26}"/g) ?? []
  return [`"${subject}"`, ...ids].some((id) => known.includes(id))
}
