import { describe, expect, test } from 'vitest'
import {
  type PastDecision,
  type PastOutcome,
  suggestRules,
  toPastDecision,
} from '../../../src/approvals/suggestions/suggest-rules.ts'
import type { Json } from '../../../src/platform/base/json.ts'
import { evaluatePolicy, type PolicyRequest, unreachableRules } from '../../../src/platform/contract/policy.ts'
import { type PolicyRule, WedgeManifest } from '../../../src/platform/contract/wedge/wedge-manifest.ts'

const manifest = (approvals: object[] = []) => WedgeManifest.parse({ wedge: 'w', task_types: { t: {} }, approvals })

interface PastRequest extends PolicyRequest {
  outcome: PastOutcome
  taskId?: string
  day?: number
}

const toPast = (rules: PolicyRule[], requests: PastRequest[]): PastDecision[] =>
  requests.map((request, i) =>
    toPastDecision(rules, request, {
      approvalId: `apr_${i}`,
      taskId: request.taskId ?? `task_${i}`,
      createdAt: `2026-03-${String(request.day ?? 1).padStart(2, '0')}T09:00:00.000Z`,
      outcome: request.outcome,
    }),
  )

const approved = (action: string, payloads: Json[], more: Partial<PastRequest> = {}): PastRequest[] =>
  payloads.map((payload) => ({ action, payload, outcome: 'unchanged', ...more }))

const refusalOf = (approvals: object[], requests: PastRequest[], rules: PolicyRule[] = []) =>
  suggestRules(manifest(approvals), rules, toPast(rules, requests)).refused.map(({ reason }) => reason)

const NOTES = [{}, {}, {}, {}, {}]

describe('suggestRules', () => {
  test.each([
    ['several people', { needed: 2 }, 'the wedge says that 2 people must approve it'],
    ['approvers', { approvers: ['admin'] }, 'the wedge says who must approve it'],
    [
      'separation of duties',
      { exclude_requester: true },
      'the wedge says that the person who started the task may not approve it',
    ],
    [
      'high risk',
      { risk: 'high' },
      'the wedge says that it has a high risk, and its requests state no amount that a rule can limit',
    ],
  ])('no rule is suggested for an action with %s', (_, declared, reason) => {
    expect(refusalOf([{ action: 'send', ...declared }], approved('send', NOTES))).toEqual([reason])
    expect(refusalOf([{ action: 'send' }], approved('send', NOTES))).toEqual([])
  })

  test('an action of high risk gets a rule if its amount can be limited', () => {
    const amounts = [1, 2, 3, 4, 5].map((amount) => ({ amount }))
    const { suggestions } = suggestRules(
      manifest([{ action: 'pay', risk: 'high' }]),
      [],
      toPast([], approved('pay', amounts)),
    )
    expect(suggestions.map(({ rule }) => rule.max_amount_usd)).toEqual([5])
  })

  test('a reply gets no rule if the wedge requires its approval', () => {
    const reason = 'the wedge requires an approval of every reply to a client'
    expect(refusalOf([{ action: 'mail:reply', required: true }], approved('mail:reply', NOTES))).toEqual([reason])
    expect(refusalOf([{ action: 'reply', required: true }], approved('mail:reply', NOTES))).toEqual([reason])
    expect(refusalOf([{ action: 'mail:reply' }], approved('mail:reply', NOTES))).toEqual([])
  })

  test('a name that would be a prefix in a rule gets none', () => {
    const reason = 'a rule cannot name this action alone, because its name ends in : or *'
    for (const action of ['pay:', 'pay*', '*']) expect(refusalOf([], approved(action, NOTES))).toEqual([reason])
  })

  test('amounts in another currency, and amounts that are texts, are neither covered nor a reason for a wider rule', () => {
    const amount = { path: 'amount', unit: 'minor', currency_path: 'currency' } as const
    const euros = approved(
      'pay',
      Array.from({ length: 5 }, () => ({ amount: 500, currency: 'eur' })),
      { amount },
    )
    expect(refusalOf([], euros)).toEqual([
      'fewer than 5 approved requests state an amount in dollars that a rule can limit',
    ])
    const dollars = approved(
      'pay',
      Array.from({ length: 5 }, () => ({ amount: 500, currency: 'usd' })),
      { amount },
    )
    const { suggestions } = suggestRules(manifest(), [], toPast([], [...euros, ...dollars]))
    expect(suggestions).toMatchObject([{ rule: { max_amount_usd: 5 } }])
    expect(suggestions[0]?.wouldPass).toHaveLength(5)
    const oneText = [
      ...approved(
        'pay',
        Array.from({ length: 5 }, () => ({ to: 'a' })),
      ),
      ...approved('pay', [{ amount: '5' }]),
    ]
    expect(refusalOf([], oneText)).toHaveLength(1)
  })

  test('the limit is the highest usual amount: more than twice the median is left out', () => {
    const amounts = [60, 180, 63, 66, 69, 72, 75].map((amount) => ({ amount }))
    const { suggestions } = suggestRules(manifest(), [], toPast([], approved('pay', amounts)))
    expect(suggestions).toMatchObject([{ rule: { max_amount_usd: 75 }, aboveLimit: [{ stated: { dollars: 180 } }] }])
    expect(suggestions[0]?.wouldPass).toHaveLength(6)
    const scattered = approved('pay', [1, 2, 3, 50, 60, 70, 80].map((amount) => ({ amount })).slice(0, 6))
    expect(refusalOf([], scattered)).toEqual([
      'the approved amounts differ too much: fewer than 5 are at most $6, twice the median',
    ])
  })

  test('the caps are the most that people approved in a task and on a day', () => {
    const requests = [
      ...approved('send', [{}, {}, {}], { taskId: 'task_a', day: 1 }),
      ...approved('send', [{}, {}], { taskId: 'task_b', day: 2 }),
    ]
    const { suggestions } = suggestRules(manifest(), [], toPast([], requests))
    expect(suggestions.map(({ rule }) => rule)).toEqual([{ action: 'send', max_per_task: 3, max_per_day: 3 }])
  })

  test('a rule with the same action is replaced, with caps that are not lower', () => {
    const rules = [{ action: 'Pay', max_amount_usd: 10, max_per_day: 9 }, { action: 'other' }]
    const requests = approved('pay', [{ amount: 20 }, { amount: 11 }, { amount: 12 }, { amount: 13 }, { amount: 14 }])
    const [suggestion] = suggestRules(manifest(), rules, toPast(rules, requests)).suggestions
    expect(suggestion?.rules).toEqual([{ action: 'pay', max_amount_usd: 20, max_per_day: 9 }, { action: 'other' }])
  })

  test('an expired request that the rule covers is counted, and it is no evidence for the rule', () => {
    const expired = approved('send', [...NOTES, {}, {}, {}, {}], { outcome: 'undecided' })
    expect(suggestRules(manifest(), [], toPast([], expired)).suggestions).toEqual([])
    const both = toPast([], [...expired, ...approved('send', NOTES)])
    expect(suggestRules(manifest(), [], both).suggestions).toMatchObject([{ undecided: 9 }])
  })

  test('no suggestion ever covers a request that a person refused, in 1,000 random histories', () => {
    const random = seededRandom(20_260_318)
    let suggested = 0
    for (let round = 0; round < 1_000; round++) {
      const rules = randomRules(random)
      const history = Array.from({ length: pick(random, [6, 20, 60]) }, () => randomRequest(random))
      for (const { rule, rules: proposed, wouldPass } of suggestRules(manifest(), rules, toPast(rules, history))
        .suggestions) {
        suggested++
        expect(wouldPass.length).toBeGreaterThanOrEqual(5)
        const isPassed = (list: PolicyRule[], request: PastRequest) =>
          evaluatePolicy(list, request, () => ({ task: 0, day: 0 })).approve
        const refused = history.filter(({ outcome }) => outcome === 'refused')
        const story = JSON.stringify({ round, rule, rules })
        expect(
          refused.filter((request) => isPassed([rule], request)),
          story,
        ).toEqual([])
        // Nothing else changes: the list passes what it passed before, and what the new rule covers.
        const expected = (request: PastRequest) => isPassed(rules, request) || isPassed([rule], request)
        const changed = history.filter((request) => isPassed(proposed, request) !== expected(request))
        expect(changed, story).toEqual([])
        const passed = wouldPass.flatMap(({ approvalId }) => history[Number(approvalId.slice('apr_'.length))] ?? [])
        const isExpected = (request: PastRequest) => request.outcome === 'unchanged' && isPassed(proposed, request)
        expect(passed.filter(isExpected), story).toHaveLength(wouldPass.length)
        expect(unreachableRules(proposed).length, story).toBeLessThanOrEqual(unreachableRules(rules).length)
      }
    }
    expect(suggested).toBeGreaterThan(100)
  })
})

/** A small generator (mulberry32), so that a failure can be repeated. */
function seededRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const pick = <T>(random: () => number, values: readonly T[]): T => {
  const value = values[Math.floor(random() * values.length)]
  if (value === undefined) throw new Error('nothing to pick from')
  return value
}

const ACTIONS = ['pay', 'Pay', 'pay:x', 'pay:', 'send', 'send*', 'İt']
const OUTCOMES: PastOutcome[] = [...Array(9).fill('unchanged'), 'refused', 'undecided', 'other']

function randomRequest(random: () => number): PastRequest {
  const amount = pick(random, [0, 0.1, 0.3, 1, 5, 12, 19.99, 20, 24, 100])
  const payload = pick<Json>(random, [
    ...Array.from({ length: 6 }, () => ({ amount })),
    {},
    {},
    { amount_usd: amount, total: 2 },
    { Amount: amount },
    { amount: String(amount) },
    'text',
  ])
  const declared = { path: 'amount', unit: 'major', currency: pick(random, ['USD', 'EUR']) } as const
  return {
    action: pick(random, ACTIONS),
    payload,
    amount: pick(random, [null, null, null, declared]),
    outcome: pick(random, OUTCOMES),
    taskId: pick(random, ['task_a', 'task_b', 'task_c']),
    day: pick(random, [1, 2, 3]),
  }
}

const randomRules = (random: () => number): PolicyRule[] =>
  Array.from({ length: pick(random, [0, 0, 1, 2]) }, () => ({
    action: pick(random, ACTIONS),
    ...(random() < 0.7 && { max_amount_usd: pick(random, [0, 0.2, 5, 50]) }),
    ...(random() < 0.3 && { max_per_day: pick(random, [0, 1, 4]) }),
  }))
