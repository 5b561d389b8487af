import { describe, expect, test, vi } from 'vitest'
import { ROLES, isRoleAtLeast, type Role } from '../../../src/platform/ctx/scope.ts'
import { FOUNDER_KEY } from '../../app.ts'
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

// Thousands of requests take minutes on a busy machine.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 120_000 })

/** Paths that operators may not change, and what cannot be undone; except that they may post inbound messages to a channel. */
const ADMIN_PATHS =
  /^\/v1\/(connections|broker|channels|keys|members|projects|blueprints|webhooks|secrets|brand|notifiers|notification-settings)\b(?!\/:id\/inbound)|\/erase$|\/policy$/

const OWN_PATHS = /^\/(mcp|v1\/auth\/password|v1\/mcp-authorisations(\/:id)?|v1\/me\/.*)$/

function leastRole({ method, path }: AnyRoute): Role {
  // The MCP endpoint checks the role for each tool. Every member may change what belongs to them alone.
  if (method === 'GET' || OWN_PATHS.test(path)) return 'viewer'
  return ADMIN_PATHS.test(path) ? 'admin' : 'operator'
}

test('viewers read, operators work with tasks, and admins manage connections, channels, keys, members and projects', () => {
  const roles = (role: (route: AnyRoute) => Role) =>
    FOUNDER_ROUTES.map((route) => `${routeName(route)} needs ${role(route)}`)
  expect(roles(({ role }) => role)).toEqual(roles(leastRole))
})

// One store is enough, because test/identity/accounts reads the rows that decide about access on both stores.
describe('roles and projects', () => {
  const tenants = sharedTwoTenants('sqlite')

  test('a role below that of the route is 403, and a sufficient role is not', async () => {
    const before = await readAllRows(tenants())
    const callers = [...memberCallers(tenants()), ...(await keyCallers(tenants()))]
    const withKeys = await readAllRows(tenants())
    for (const route of FOUNDER_ROUTES) {
      await inParallel(callers, async ({ who, role, sent }) => {
        const response = await sendRequest(tenants(), route.method, absentPath(tenants(), route), {
          ...sent,
          ...unreadableBody(route),
        })
        const failure = `${routeName(route)} by ${who}: ${response.status} ${response.text.slice(0, 200)}`
        if (!isRoleAtLeast(role, route.role)) {
          expect([response.status, response.text], failure).toEqual([403, `{"error":"role '${role}' cannot do this"}`])
        } else if (who.startsWith('key') && response.status === 403) {
          expect(response.text, failure).toBe('{"error":"a project key cannot do this"}')
          expect(route.path, failure).toMatch(
            /^\/v1\/(members|projects|auth\/password|me\/|mcp-authorisations|mcp-oauth\/consent)/,
          )
        } else expect([200, 400, 404, 405, 502], failure).toContain(response.status)
      })
    }
    expect(await readAllRows(tenants())).toEqual(withKeys)
    expect(Object.keys(before)).toEqual(Object.keys(withKeys))
  })

  test('a member of several projects must name one to write, and reads from all unless one is named', async () => {
    const { ownProject, siblingProject, sessions } = tenants()
    const authorization = bearer(sessions.owner)
    const before = await readAllRows(tenants())
    for (const route of FOUNDER_ROUTES.filter(({ level }) => level === 'project')) {
      for (const ids of [ownProject.ids, siblingProject.ids]) {
        const response = await sendRequest(tenants(), route.method, fillPath(route.path, ids), {
          authorization,
          ...(route.method !== 'GET' && { json: {} }),
        })
        expect([response.status, response.text], routeName(route)).toEqual([
          400,
          `{"error":"header 'x-svc-project' is required"}`,
        ])
      }
    }
    expect(await readAllRows(tenants())).toEqual(before)
    const listed = async (headers: Record<string, string>) => {
      const { text } = await sendRequest(tenants(), 'GET', '/v1/connections', { authorization, headers })
      return JSON.parse(text).data.map(({ id }: { id: string }) => id)
    }
    expect(new Set(await listed({}))).toEqual(new Set([siblingProject.ids.connections, ownProject.ids.connections]))
    for (const named of [ownProject.ids.projects ?? '', 'default']) {
      expect(await listed({ 'x-svc-project': named })).toEqual([ownProject.ids.connections])
    }
    expect(await listed({ 'x-svc-project': 'sibling' })).toEqual([siblingProject.ids.connections])
  })

  test('a member of one project does not have to name it', async () => {
    const { foreignProject, foreignOwner } = tenants()
    const written = await tenants().call('POST', '/v1/clients', { display_name: 'Eve' }, { key: foreignOwner })
    expect(written.status).toBe(201)
    const seen = await tenants().call('GET', `/v1/clients/${written.body.id}`, undefined, { key: foreignProject.key })
    expect(seen.status).toBe(200)
    for (const named of [foreignProject.ids.projects ?? '', 'default']) {
      const headers = { 'x-svc-project': named }
      const again = await tenants().call('GET', `/v1/clients/${written.body.id}`, undefined, {
        key: foreignOwner,
        headers,
      })
      expect(again.status).toBe(200)
    }
  })

  test('a key may name its own project by id or slug, and no other project', async () => {
    const { ownProject, siblingProject, foreignProject } = tenants()
    const status = async (named: string) =>
      (
        await sendRequest(tenants(), 'GET', '/v1/tasks', {
          authorization: bearer(FOUNDER_KEY),
          headers: { 'x-svc-project': named },
        })
      ).status
    expect(await status(ownProject.ids.projects ?? '')).toBe(200)
    expect(await status('default')).toBe(200)
    for (const named of [
      siblingProject.ids.projects ?? '',
      foreignProject.ids.projects ?? '',
      'sibling',
      'DEFAULT',
      'default,default',
      '',
    ]) {
      expect(await status(named), named).toBe(404)
    }
  })

  test('a member cannot grant or change a role above their own', async () => {
    const { sessions, ownProject } = tenants()
    const headers = { 'x-svc-project': ownProject.ids.projects ?? '' }
    const as = (role: Role, method: string, path: string, body?: object) =>
      tenants().call(method, path, body, { key: sessions[role], headers })
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

interface Caller {
  who: string
  role: Role
  sent: { authorization: string; headers: Record<string, string> }
}

function memberCallers({ sessions, ownProject }: TwoTenantApp): Caller[] {
  const headers = { 'x-svc-project': ownProject.ids.projects ?? '' }
  return ROLES.map((role) => ({
    who: `member ${role}`,
    role,
    sent: { authorization: bearer(sessions[role]), headers },
  }))
}

async function keyCallers(tenants: TwoTenantApp): Promise<Caller[]> {
  const roles = ROLES.filter((role) => role !== 'owner')
  const keys = await Promise.all(roles.map((role) => tenants.call('POST', '/v1/keys', { name: role, role })))
  return keys.map(({ body }, at) => ({
    who: `key ${roles[at]}`,
    role: roles[at] ?? 'viewer',
    sent: { authorization: bearer(body.key), headers: {} },
  }))
}

/** A path with absent ids. Together with an unreadable body it changes nothing: a permitted caller gets 404 or 400. */
function absentPath({ ownProject }: TwoTenantApp, { path }: AnyRoute): string {
  const absent = Object.fromEntries(pathKinds(path).map((kind) => [kind, 'absent_0']))
  return fillPath(path, { ...ownProject.ids, ...absent })
}

const unreadableBody = ({ method }: AnyRoute) => (method === 'GET' ? {} : { raw: '{"' })
