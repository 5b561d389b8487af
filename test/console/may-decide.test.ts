import { expect, test } from 'vitest'
import {
  approverNames,
  askedOfClient,
  hasVoted,
  isApprover,
  isExcluded,
  isOnlyForClient,
} from '../../console/src/pages/approvals/may-decide.ts'

const ada = { role: 'operator' as const, member: { id: 'mem_1', email: 'Ada@example.com' }, key: null }
const key = { role: 'admin' as const, member: null, key: { id: 'key_1' } }

test('approvers: a role means that role or a higher one, and a member is named by id or mail address', () => {
  expect(isApprover({ approvers: null }, ada)).toBe(true)
  expect(isApprover({ approvers: ['operator'] }, ada)).toBe(true)
  expect(isApprover({ approvers: ['admin'] }, ada)).toBe(false)
  expect(isApprover({ approvers: ['operator'] }, key)).toBe(true)
  expect(isApprover({ approvers: ['owner'] }, key)).toBe(false)
  expect(isApprover({ approvers: ['owner', 'mem_1'] }, ada)).toBe(true)
  expect(isApprover({ approvers: ['ada@example.com'] }, ada)).toBe(true)
  expect(isApprover({ approvers: ['ada@example.com'] }, key)).toBe(false)
})

test('approvers: who started the task is excluded if the request says so', () => {
  const startedBy = (kind: string, id: string) => ({
    exclude_requester: true,
    context: { requested_by: { kind, id, name: null }, client: null, thread_id: null, message: null, case_id: null },
  })
  expect(isExcluded(startedBy('member', 'mem_1'), ada)).toBe(true)
  expect(isExcluded(startedBy('member', 'mem_2'), ada)).toBe(false)
  expect(isExcluded(startedBy('key', 'key_1'), key)).toBe(true)
  expect(isExcluded({ ...startedBy('member', 'mem_1'), exclude_requester: false }, ada)).toBe(false)
  const unknown = startedBy('member', 'mem_1')
  expect(isExcluded({ ...unknown, context: { ...unknown.context, requested_by: null } }, ada)).toBe(false)
})

test('approvers: a member or key has voted if the votes name it', () => {
  const vote = (kind: string, id: string) => ({ by: { kind, id, name: null }, at: '2026-01-01T00:00:00Z' })
  expect(hasVoted({ votes: [vote('member', 'mem_1')] }, ada)).toBe(true)
  expect(hasVoted({ votes: [vote('member', 'mem_2')] }, ada)).toBe(false)
  expect(hasVoted({ votes: [vote('key', 'key_1')] }, key)).toBe(true)
})

test('approvers: a member is not the client, who decides alone or with others', () => {
  const pending = { status: 'pending' as const, votes: [] }
  expect(isApprover({ approvers: ['client'] }, key)).toBe(false)
  expect(isOnlyForClient({ approvers: ['client'] })).toBe(true)
  expect([isOnlyForClient({ approvers: null }), isOnlyForClient({ approvers: ['client', 'admin'] })]).toEqual([
    false,
    false,
  ])
  expect(askedOfClient({ ...pending, approvers: ['client'] })).toBe('alone')
  expect(askedOfClient({ ...pending, approvers: ['client', 'admin'] })).toBe('with others')
  expect(askedOfClient({ ...pending, approvers: null })).toBeNull()
  const vote = { by: { kind: 'client', id: 'cli_1', name: 'Ada' }, at: '2026-01-01T00:00:00Z' }
  expect(askedOfClient({ ...pending, approvers: ['client', 'admin'], votes: [vote] })).toBeNull()
  const context = {
    client: { id: 'cli_1', name: 'Ada' },
    thread_id: null,
    message: null,
    case_id: null,
    requested_by: null,
  }
  expect(approverNames({ approvers: ['client', 'admin'], context })).toEqual(['Ada', 'admin'])
})
