import { expect } from 'vitest'
import type { Role } from '../../src/ctx/scope.ts'
import type { TestApp } from '../app.ts'

export const PASSWORD = 'correct horse battery'

/** The owner's session. */
export async function signUpOwner(app: TestApp, email = 'owner@example.com'): Promise<string> {
  const answer = await app.call('POST', '/v1/auth/signup', { email, password: PASSWORD }, { key: null })
  expect(answer.status).toBe(201)
  return answer.body.session_token
}

/** Invites someone and accepts: the new member's id and session. */
export async function addMember(
  app: TestApp,
  session: string,
  role: Role,
  email = `${role}-two@example.com`,
): Promise<{ id: string; session: string }> {
  const { status, body } = await app.call('POST', '/v1/members', { email, role }, { key: session })
  expect(status).toBe(201)
  const answer = await app.call('POST', '/v1/auth/accept', { invite: body.invite, password: PASSWORD }, { key: null })
  expect(answer.status).toBe(200)
  return { id: body.member.id, session: answer.body.session_token }
}

/** Another project of the owner's organisation, with a key of its own. */
export async function addProject(app: TestApp, session: string): Promise<{ project: string; key: string }> {
  const made = await app.call('POST', '/v1/projects', { name: 'Next door' }, { key: session })
  expect(made.status).toBe(201)
  const headers = { 'x-svc-project': made.body.id }
  const { status, body } = await app.call('POST', '/v1/keys', { name: 'server' }, { key: session, headers })
  expect(status).toBe(201)
  return { project: made.body.id, key: body.key }
}

/** The actions of a chain, in order. */
export async function auditActions(app: TestApp, chain: string): Promise<string[]> {
  const query = app.ctx.db.selectFrom('audit_entries').select('action').where('chain', '=', chain).orderBy('seq')
  return (await query.execute()).map(({ action }) => action)
}

/** How many answers there are of each status. */
export function countByStatus(answers: { status: number }[]): Record<number, number> {
  const counts: Record<number, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}
