import { expect, test, vi } from 'vitest'
import { eachStore, FOUNDER_KEY } from '../app.ts'
import type { ApiResponse } from '../http.ts'
import { mcpClient } from '../mcp/mcp-client.ts'
import { readAllRows } from '../planes/all-rows.ts'
import { CLIENT_ROUTES, FOUNDER_ROUTES, routeName, OPEN_ROUTES, fillPath } from '../planes/route-table.ts'
import { type AuditedCall, AUDITED_CALLS, UNAUDITED_CALLS, type CallInput, AUDITED_TOOLS } from './audited-calls.ts'
import { type PopulatedApp, populatedApp } from './populated-app.ts'

// Every route there is, with all that it needs: a busy machine needs its time.
vi.setConfig({ testTimeout: 300_000 })

test('each route that can change something is tried here', () => {
  const routes = [...FOUNDER_ROUTES, ...CLIENT_ROUTES, ...OPEN_ROUTES]
    .filter(({ method }) => method !== 'GET')
    .map(routeName)
  const tried = [...Object.keys(AUDITED_CALLS), ...Object.keys(UNAUDITED_CALLS)].filter(
    (name) => !name.startsWith('GET '),
  )
  expect(tried.toSorted()).toEqual(routes.toSorted())
})

test('every location of what was created can be read', async () => {
  const office = await populatedApp('sqlite')
  for (const [name, { call }] of Object.entries(AUDITED_CALLS).filter(([name]) => /^(POST|PUT) /.test(name))) {
    const made = await call(office)
    const { headers, body } = await send(office, name, made)
    const location = headers.get('location')
    if (location === null) continue
    const key = made.key === null ? body.session_token : (made.key ?? FOUNDER_KEY)
    expect((await office.call('GET', location, undefined, { key })).status, `${name}: ${location}`).toBe(200)
  }
})

eachStore((store) => {
  test('every call that changes something leaves an entry in the audit', async () => {
    const office = await populatedApp(store)
    for (const [name, audited] of Object.entries(AUDITED_CALLS)) await expectEntry(office, name, audited)
    expect((await office.call('GET', '/v1/audit/verify')).body.ok).toBe(true)
  })

  test('so does every tool of an assistant that is not only for reading', async () => {
    const office = await populatedApp(store)
    const { result } = await mcpClient(office).ask('tools/list')
    const changing = result.tools.filter((tool: Described) => !tool.annotations.readOnlyHint)
    expect(changing.map(({ name }: Described) => name).toSorted()).toEqual(Object.keys(AUDITED_TOOLS).toSorted())
    for (const [name, audited] of Object.entries(AUDITED_TOOLS)) await expectEntry(office, 'POST /mcp', audited, name)
  })

  test('what leaves none changes nothing', async () => {
    const office = await populatedApp(store)
    await office.call('POST', `/v1/approvals/${(await office.taskAwaitingApproval()).approval}/reject`)
    const before = await readAllRows(office)
    for (const [name, made] of Object.entries(UNAUDITED_CALLS))
      expect((await send(office, name, made)).status).toBe(200)
    expect(await readAllRows(office)).toEqual(before)
  })
})

interface Described {
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

/** Makes the call and expects one new entry that tells what was done, by whom and to what. */
async function expectEntry(office: PopulatedApp, name: string, audited: AuditedCall, told = name): Promise<void> {
  const { action: leaves, chain } = audited
  const made = await audited.call(office)
  const before = new Set((await entries(office, chain, null)).map(({ hash }) => hash))
  const answer = await send(office, name, made)
  expect([200, 201, 204], `${told}: ${answer.status} ${JSON.stringify(answer.body)}`).toContain(answer.status)
  const added = (await entries(office, chain, answer)).filter(({ hash }) => !before.has(hash))
  const known = JSON.stringify([made, answer.body])
  const fitting = added.filter((entry) => entry.action === leaves && isBy(entry, made) && isAbout(entry, known))
  expect.soft(fitting, `${told} leaves ${leaves} and not ${JSON.stringify(added)}`).toHaveLength(1)
}

function send(office: PopulatedApp, name: string, { ids = {}, body, key }: CallInput): Promise<ApiResponse> {
  const [method = '', path = ''] = name.split(' ')
  const headers = { accept: 'application/json, text/event-stream' }
  return office.call(method, fillPath(path, ids), body, { ...(key !== undefined && { key }), headers })
}

/** The newest entries of a chain. */
async function entries(
  office: PopulatedApp,
  chain: AuditedCall['chain'],
  answer: ApiResponse | null,
): Promise<Entry[]> {
  if (chain === 'project') return listed(office, FOUNDER_KEY, 'project')
  if (chain === 'organisation') return listed(office, office.owner, 'organisation')
  return answer ? listed(office, answer.body.session_token, 'organisation') : []
}

async function listed(office: PopulatedApp, key: string, chain: 'project' | 'organisation'): Promise<Entry[]> {
  const { status, body } = await office.call('GET', `/v1/audit?chain=${chain}&limit=200`, undefined, { key })
  expect(status).toBe(200)
  return body.data
}

const KINDS: Record<string, string> = { svc_key: 'key', svc_fst: 'member', svc_cst: 'client' }

/** By the caller; whoever came without a credential has one now. */
function isBy({ actor }: Entry, { key = FOUNDER_KEY, by }: CallInput): boolean {
  if (by) return actor.kind === by
  return key === null ? actor.kind === 'member' || actor.kind === 'client' : actor.kind === KINDS[key.slice(0, 7)]
}

/** About something that the caller named or was told of. */
function isAbout({ subject, data }: Entry, known: string): boolean {
  const ids = JSON.stringify(data).match(/"[a-z]+_[0-9a-z]{26}"/g) ?? []
  return [`"${subject}"`, ...ids].some((id) => known.includes(id))
}
