import { expect, test } from 'vitest'
import { declaredApprovers } from '../../../src/platform/contract/wedge/declared-approvals.ts'
import { countPossibleApprovers, WedgeManifest } from '../../../src/platform/contract/wedge/wedge-manifest.ts'

const rulesOf = (approvals: object[], action: string) =>
  declaredApprovers(WedgeManifest.parse({ wedge: 'desk', task_types: { act: {} }, approvals }), action)

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

test('the client may be an approver and counts as one person', () => {
  const both = [{ action: 'pay', approvers: ['client', 'ada@example.com'], needed: 2 }]
  expect(rulesOf(both, 'pay')).toEqual({ ...EVERYONE, approvers: ['client', 'ada@example.com'], needed: 2 })
  expect(() => rulesOf([{ ...both[0], needed: 3 }], 'pay')).toThrow('must not be more than the number of approvers')
})

test('roles have any number of people, and steps of the escalation add some', () => {
  expect(countPossibleApprovers(null, [])).toBe(Number.POSITIVE_INFINITY)
  expect(countPossibleApprovers(['client'], [])).toBe(1)
  expect(countPossibleApprovers(['client', 'ada@example.com'], [{ to: ['ada@example.com', 'mem_1'] }])).toBe(3)
  expect(countPossibleApprovers(['client'], [{ to: ['admin'] }])).toBe(Number.POSITIVE_INFINITY)
})
