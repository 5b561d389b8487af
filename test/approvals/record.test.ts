import { expect, test } from 'vitest'
import { showApproval } from '../../src/approvals/record.ts'

const ROW = {
  id: 'apr_1',
  project_id: 'prj_1',
  task_id: 'task_1',
  wedge: 'gate',
  task_type: 'act',
  action: 'send_note',
  risk: 'high',
  path: 'action',
  payload: '{"text":"hello"}',
  payload_sha256: '',
  status: 'pending',
  edited: null,
  policy_reason: null,
  policy_rule: null,
  reason: null,
  note: null,
  connection_id: null,
  connection: null,
  created_at: '',
  expires_at: null,
  decided_at: null,
  decided_by_kind: null,
  decided_by_id: null,
}

test.each([
  ['action', '{"text":"hello"}', ['approve', 'edit', 'reject']],
  ['action', '{}', ['approve', 'edit', 'reject']],
  ['action', '"hello"', ['approve', 'reject']],
  ['action', '["hello"]', ['approve', 'reject']],
  ['tool', '{"text":"hello"}', ['approve', 'reject']],
])('an edit is offered where it would be taken: %s %s', (path, payload, allowed) => {
  expect(showApproval({ ...ROW, path, payload }).allowed_decisions).toEqual(allowed)
})
