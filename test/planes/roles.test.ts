import { describe, expect, test, vi } from 'vitest'
import { ROLES, isRoleAtLeast, type Role } from '../../src/ctx/scope.ts'
import { FOUNDER_KEY } from '../app.ts'
import { type TwoTenantApp, sharedTwoTenants } from './two-tenants.ts'
import { readAllRows } from './all-rows.ts'
import {
  type AnyRoute,
  sendRequest,
  bearer,
  FOUNDER_ROUTES,
  pathKinds,
  routeName,
  fillPath,
  inParallel,
} from './route-table.ts'

// Thousands of requests: a busy machine needs its time.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 120_000 })

/** What an operator may not change; all other work is theirs. A delivery on a channel is work. */
const ADMINS =
  /^\/v1\/(connections|broker|channels|keys|members|projects|blueprints|webhooks|secrets)\b(?!\/:id\/inbound)/

function leastRole({ method, path }: AnyRoute): Role {
  // What an assistant may do through that door is asked again for each of its tools; a password is everybody's own.
  if (method === 'GET' || path === '/mcp' || path === '/v1/auth/password') return 'viewer'
  return ADMINS.test(path) ? 'admin' : 'operator'
}

test('viewers read, operators work, admins hold connections, channels, keys, members and projects', () => {
  const roles = (role: (route: AnyRoute) => Role) =>
    FOUNDER_ROUTES.map((route) => `${routeName(route)} needs ${role(route)}`)
  expect(roles(({ role }) => role)).toEqual(roles(leastRole))
})

// One store is enough: who may do what is decided from rows that test/accounts reads on both.
describe('on sqlite', () => {
  const estate = sharedTwoTenants('sqlite')

  test('a role below what the route needs is 403, and one that reaches is not', async () => {
    const before = await readAllRows(estate())
    const askers = [...memberAskers(estate()), ...(await keyAskers(estate()))]
    const keysMade = await readAllRows(estate())
    for (const route of FOUNDER_ROUTES) {
      await inParallel(askers, async ({ who, role, sent }) => {
        const answer = await sendRequest(estate(), route.method, absentPath(estate(), route), {
          ...sent,
          ...unreadable(route),
        })
        const told = `${routeName(route)} by ${who}: ${answer.status} ${answer.text.slice(0, 200)}`
        if (!isRoleAtLeast(role, route.role)) {
          expect([answer.status, answer.text], told).toEqual([403, `{"error":"role '${role}' cannot do this"}`])
        } else if (who.startsWith('key') && answer.status === 403) {
          expect(answer.text, told).toBe('{"error":"a project key cannot do this"}')
          expect(route.path, told).toMatch(/^\/v1\/(members|projects|auth\/password)/)
        } else expect([200, 400, 404, 405, 502], told).toContain(answer.status)
      })
    }
    expect(await readAllRows(estate())).toEqual(keysMade)
    expect(Object.keys(before)).toEqual(Object.keys(keysMade))
  })

  test('a member of several projects must name one to write, and reads all of them unless one is named', async () => {
    const { ownProject: near, siblingProject: beside, sessions } = estate()
    const authorization = bearer(sessions.owner)
    const before = await readAllRows(estate())
    for (const route of FOUNDER_ROUTES.filter(({ level }) => level === 'project')) {
      for (const ids of [near.ids, beside.ids]) {
        const answer = await sendRequest(estate(), route.method, fillPath(route.path, ids), { authorization, json: {} })
        const told = [answer.status, answer.text]
        expect(told, routeName(route)).toEqual([400, `{"error":"header 'x-svc-project' is required"}`])
      }
    }
    expect(await readAllRows(estate())).toEqual(before)
    const listed = async (headers: Record<string, string>) => {
      const { text } = await sendRequest(estate(), 'GET', '/v1/connections', { authorization, headers })
      return JSON.parse(text).data.map((one: { id: string }) => one.id)
    }
    expect(new Set(await listed({}))).toEqual(new Set([beside.ids.connections, near.ids.connections]))
    for (const named of [near.ids.projects ?? '', 'default']) {
      expect(await listed({ 'x-svc-project': named })).toEqual([near.ids.connections])
    }
    expect(await listed({ 'x-svc-project': 'beside' })).toEqual([beside.ids.connections])
  })

  test('a member of one project need not name it', async () => {
    const { foreignProject: far, foreignOwner: farOwner } = estate()
    const written = await estate().call('POST', '/v1/clients', { display_name: 'Eve' }, { key: farOwner })
    expect(written.status).toBe(201)
    const seen = await estate().call('GET', `/v1/clients/${written.body.id}`, undefined, { key: far.key })
    expect(seen.status).toBe(200)
    for (const named of [far.ids.projects ?? '', 'default']) {
      const headers = { 'x-svc-project': named }
      const again = await estate().call('GET', `/v1/clients/${written.body.id}`, undefined, { key: farOwner, headers })
      expect(again.status).toBe(200)
    }
  })

  test('a key takes its own project by id or slug, and no other', async () => {
    const { ownProject: near, siblingProject: beside, foreignProject: far } = estate()
    const status = async (named: string) =>
      (
        await sendRequest(estate(), 'GET', '/v1/tasks', {
          authorization: bearer(FOUNDER_KEY),
          headers: { 'x-svc-project': named },
        })
      ).status
    expect(await status(near.ids.projects ?? '')).toBe(200)
    expect(await status('default')).toBe(200)
    for (const named of [
      beside.ids.projects ?? '',
      far.ids.projects ?? '',
      'beside',
      'DEFAULT',
      'default,default',
      '',
    ]) {
      expect(await status(named), named).toBe(404)
    }
  })

  test('nobody gives or takes a role above their own', async () => {
    const { sessions, ownProject: near } = estate()
    const headers = { 'x-svc-project': near.ids.projects ?? '' }
    const as = (role: Role, method: string, path: string, body?: object) =>
      estate().call(method, path, body, { key: sessions[role], headers })
    const { body: owner } = await as('owner', 'GET', '/v1/auth/session')
    for (const role of ['viewer', 'operator', 'admin'] as const) {
      expect((await as(role, 'POST', '/v1/members', { email: `${role}-o@example.com`, role: 'owner' })).status).toBe(
        403,
      )
      expect((await as(role, 'PUT', `/v1/members/${owner.member.id}`, { role: 'viewer' })).status).toBe(403)
      expect((await as(role, 'DELETE', `/v1/members/${owner.member.id}`)).status).toBe(403)
      const { body: self } = await as(role, 'GET', '/v1/auth/session')
      expect((await as(role, 'PUT', `/v1/members/${self.member.id}`, { role: 'owner' })).status).toBe(403)
    }
    expect((await as('admin', 'POST', '/v1/keys', { name: 'k', role: 'owner' })).status).toBe(400)
  })
})

interface Asker {
  who: string
  role: Role
  sent: { authorization: string; headers: Record<string, string> }
}

function memberAskers({ sessions, ownProject: near }: TwoTenantApp): Asker[] {
  const headers = { 'x-svc-project': near.ids.projects ?? '' }
  return ROLES.map((role) => ({
    who: `member ${role}`,
    role,
    sent: { authorization: bearer(sessions[role]), headers },
  }))
}

async function keyAskers(estate: TwoTenantApp): Promise<Asker[]> {
  const roles = ROLES.filter((role) => role !== 'owner')
  const keys = await Promise.all(roles.map((role) => estate.call('POST', '/v1/keys', { name: role, role })))
  return keys.map(({ body }, at) => ({
    who: `key ${roles[at]}`,
    role: roles[at] ?? 'viewer',
    sent: { authorization: bearer(body.key), headers: {} },
  }))
}

/** Ids that are not there and bodies that cannot be read: whoever may do it gets 404 or 400, and nothing happens. */
function absentPath({ ownProject: near }: TwoTenantApp, { path }: AnyRoute): string {
  const absent = Object.fromEntries(pathKinds(path).map((kind) => [kind, 'absent_0']))
  return fillPath(path, { ...near.ids, ...absent })
}

const unreadable = ({ method }: AnyRoute) => (method === 'GET' ? {} : { raw: '{"' })
