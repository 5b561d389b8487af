import { expect, test } from 'vitest'
import { deciderRules } from '../../src/contract/declared-approvals.ts'
import { WedgeManifest } from '../../src/contract/wedge-manifest.ts'

const rulesOf = (approvals: object[], action: string) =>
  deciderRules(WedgeManifest.parse({ wedge: 'desk', task_types: { act: {} }, approvals }), action)

const EVERYONE = { needed: 1, approvers: null, excludesRequester: false, escalate: [] }

test('without an entry, one person of any role that decides is enough', () => {
  expect(rulesOf([], 'pay')).toEqual(EVERYONE)
  expect(rulesOf([{ action: 'other', needed: 3 }], 'pay')).toEqual(EVERYONE)
})

test('the entry with the whole name counts, and one approver may stand alone', () => {
  const entries = [
    { action: 'pay', needed: 3 },
    { action: 'bank:pay', approvers: 'admin', exclude_requester: true },
  ]
  expect(rulesOf(entries, 'bank:pay')).toEqual({ ...EVERYONE, approvers: ['admin'], excludesRequester: true })
})

test('of equal matches the most people, any exclusion and the first lists count; steps are sorted by time', () => {
  const entries = [
    { action: 'pay', needed: 2 },
    { action: 'bank', approvers: ['owner'], exclude_requester: true },
    {
      action: 'ban',
      approvers: ['admin'],
      escalate: [
        { after_s: 600, to: 'owner' },
        { after_s: 60, to: ['ada@example.com'] },
      ],
    },
  ]
  expect(rulesOf(entries, 'bank:pay')).toEqual({
    needed: 2,
    approvers: ['owner'],
    excludesRequester: true,
    escalate: [
      { after_s: 60, to: ['ada@example.com'] },
      { after_s: 600, to: ['owner'] },
    ],
  })
})
