import { expect } from 'vitest'
import type { Role } from '../../../src/platform/ctx/scope.ts'
import type { TestApp } from '../../app.ts'

export const PASSWORD = 'correct horse battery'

/** Signs up the first member, or a later one with open sign-up, and returns the session token. */
export async function signUpOwner(app: Pick<TestApp, 'call'>, email = 'owner@example.com'): Promise<string> {
  const response = await app.call('POST', '/v1/auth/signup', { email, password: PASSWORD })
  expect(response.status).toBe(201)
  return response.body.session_token
}

/** Invites a member and accepts the invite. */
export async function addMember(
  app: TestApp,
  session: string,
  role: Role,
  email = `${role}-two@example.com`,
): Promise<{ id: string; session: string }> {
  const { status, body } = await app.call('POST', '/v1/members', { email, role }, { key: session })
  expect(status).toBe(201)
  const response = await app.call('POST', '/v1/auth/accept', { invite: body.invite, password: PASSWORD }, { key: null })
  expect(response.status).toBe(200)
  return { id: body.member.id, session: response.body.session_token }
}

/** Adds a second project with its own API key to the owner's organisation. */
export async function addProject(app: TestApp, session: string): Promise<{ project: string; key: string }> {
  const created = await app.call('POST', '/v1/projects', { name: 'Second project' }, { key: session })
  expect(created.status).toBe(201)
  const headers = { 'x-svc-project': created.body.id }
  const { status, body } = await app.call('POST', '/v1/keys', { name: 'server' }, { key: session, headers })
  expect(status).toBe(201)
  return { project: created.body.id, key: body.key }
}

/** The actions of an audit chain, oldest first. */
export async function auditActions(app: TestApp, chain: string): Promise<string[]> {
  const query = app.ctx.db.selectFrom('audit_entries').select('action').where('chain', '=', chain).orderBy('seq')
  return (await query.execute()).map(({ action }) => action)
}

/** How many responses have each status. */
export function countByStatus(responses: { status: number }[]): Record<number, number> {
  const counts: Record<number, number> = {}
  for (const { status } of responses) counts[status] = (counts[status] ?? 0) + 1
  return counts
}
