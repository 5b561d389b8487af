import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { evaluatePolicy, firstMatchingRule, unreachableRules } from '../../../src/platform/contract/policy.ts'
import type { Json } from '../../../src/platform/base/json.ts'
import type { PolicyRule } from '../../../src/platform/contract/wedge/wedge-manifest.ts'

const unused = () => ({ task: 0, day: 0 })
const rulesFor = (...actions: string[]): PolicyRule[] => actions.map((action) => ({ action }))

describe('matching rules', () => {
  test.each<[string, string, boolean]>([
    ['send_email', 'send_email', true],
    ['send_email', 'Send_EMAIL', true],
    ['SEND_email', 'send_email', true],
    ['send_email', 'send_email2', false],
    ['send_email', 'send', false],
    ['refund:', 'refund:full', true],
    ['refund:', 'REFUND:', true],
    ['refund:', 'refund', false],
    ['refund:', 'refunds:full', false],
    ['refund:*', 'refund:full', true],
    ['refund:*', 'refund', false],
    ['refund*', 'refunds', true],
    ['refund*', 'refund', true],
    ['re*nd', 're_nd', false],
    ['re*nd', 're*nd', true],
    ['*', 'anything', true],
    ['*', '', true],
    ['', '', true],
    ['', 'anything', false],
    ['.*', 'anything', false],
  ])('the rule %j matches %j: %s', (pattern, action, matches) => {
    expect(firstMatchingRule(rulesFor(pattern), action)).toBe(matches ? 0 : null)
  })

  test('the first matching rule counts, not the most specific', () => {
    expect(firstMatchingRule(rulesFor('send', 'refund:*', 'refund:full', '*'), 'refund:full')).toBe(1)
  })
})

describe('amount limits', () => {
  test('a rule without a limit ignores the amount', () => {
    expect(
      evaluatePolicy(rulesFor('refund:*'), { action: 'refund:x', payload: { amount: 'lots' } }, unused).approve,
    ).toBe(true)
  })

  test('a limit that is not a number approves nothing', () => {
    const invalid = [{ action: '*', max_amount_usd: Number.NaN }]
    expect(evaluatePolicy(invalid, { action: 'x', payload: { amount: 0 } }, unused).approve).toBe(false)
  })
})

describe('decisions and reasons', () => {
  const full: PolicyRule = { action: 'refund:*', max_amount_usd: 50, max_per_task: 2, max_per_day: 20 }
  const request = { action: 'refund:full', payload: { amount: 12 } }
  test.each<[string, PolicyRule[], { task: number; day: number }, string]>([
    [
      'approves',
      [full],
      { task: 0, day: 2 },
      'Rule 1 (refund:*) allows up to $50 (1 of 2 in this task, 3 of 20 today).',
    ],
    [
      'approves',
      [full],
      { task: 1, day: 19 },
      'Rule 1 (refund:*) allows up to $50 (2 of 2 in this task, 20 of 20 today).',
    ],
    ['approves', rulesFor('x', '*'), { task: 9, day: 9 }, 'Rule 2 (*) allows this action.'],
    ['gates', [full], { task: 2, day: 2 }, 'The auto-approval limit of 2 per task is reached.'],
    ['gates', [full], { task: 0, day: 20 }, 'The auto-approval limit of 20 per day is reached.'],
    [
      'gates',
      [{ action: '*', max_per_day: 0 }],
      { task: 0, day: 0 },
      'The auto-approval limit of 0 per day is reached.',
    ],
    ['gates', [], { task: 0, day: 0 }, 'No auto-approve rule covers refund:full.'],
    ['gates', rulesFor('send'), { task: 0, day: 0 }, 'No auto-approve rule covers refund:full.'],
    [
      'gates',
      [{ action: '*', max_amount_usd: 11.999 }, { action: '*' }],
      { task: 0, day: 0 },
      'Auto-approval limit is $11.999; this is $12.',
    ],
  ])('the policy %s with %j after %j', (verb, rules, used, reason) => {
    const decision = evaluatePolicy(rules, request, () => used)
    expect(decision.reason).toBe(reason)
    expect(decision.approve).toBe(verb === 'approves')
  })

  test('a reply that no rule covers is called a reply', () => {
    const { reason } = evaluatePolicy([], { ...request, action: 'bot:reply' }, () => ({ task: 0, day: 0 }))
    expect(reason).toBe('Replies need approval: no auto-approve rule covers bot:reply.')
  })

  test.each<[Json, string]>([
    [{}, 'Auto-approval limit is $5; the payload states no amount.'],
    [{ amount_usd: 1, amount: 1_000_000, total: 7 }, 'Auto-approval limit is $5; this is $1000000.'],
    [{ amount: 1, Amount: 1_000_000 }, "Auto-approval limit is $5; 'Amount' in the payload may be read as 'amount'."],
    [{ total: 1, 'total ': 1_000_000 }, "Auto-approval limit is $5; 'total ' in the payload may be read as 'total'."],
    [
      { amount_usd: 1, amount_uſd: 1_000_000 },
      "Auto-approval limit is $5; 'amount_uſd' in the payload may be read as 'amount_usd'.",
    ],
    [
      { amount: 1, charge: { currency: 'BTC' } },
      `Auto-approval limit is $5; 'charge.currency' in the payload is "BTC"; limits are in USD.`,
    ],
    [
      { amount: 1, charge: { total: 1_000_000 } },
      "Auto-approval limit is $5; 'charge.total' in the payload may state more than its amount of $1.",
    ],
    [{ total: 'ten' }, "Auto-approval limit is $5; 'total' in the payload is not an amount in dollars."],
  ])('the payload %j is gated with a reason', (payload, reason) => {
    expect(evaluatePolicy([{ action: '*', max_amount_usd: 5 }], { action: 'a', payload }, unused)).toEqual({
      approve: false,
      reason,
    })
  })

  test('only the counters of the matching rule are read', () => {
    const read: number[] = []
    const counts = (rule: number) => {
      read.push(rule)
      return { task: 0, day: 0 }
    }
    evaluatePolicy([...rulesFor('send'), full, ...rulesFor('*')], request, counts)
    expect(read).toEqual([1])
  })
})

const letter = fc.constantFrom('a', 'B', ':', '*')
const name = fc.string({ unit: letter, maxLength: 4 })
const limit = fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined })
const rule = fc.record({ action: name, max_amount_usd: limit, max_per_task: limit, max_per_day: limit })
const rules = fc.array(rule, { maxLength: 6 })
const used = fc.record({ task: fc.nat(4), day: fc.nat(4) })
const payload = fc.oneof(fc.record({ amount: fc.integer({ min: -1, max: 5 }) }), fc.constant({}))

describe('all rules and requests', () => {
  test('an approval is within every limit of the first matching rule', () => {
    fc.assert(
      fc.property(rules, name, payload, used, (rules, action, payload, used) => {
        const decision = evaluatePolicy(rules, { action, payload }, () => used)
        if (!decision.approve) return
        const first = rules[decision.rule]
        expect(decision.rule).toBe(firstMatchingRule(rules, action))
        expect(used.task).toBeLessThan(first?.max_per_task ?? Number.POSITIVE_INFINITY)
        expect(used.day).toBeLessThan(first?.max_per_day ?? Number.POSITIVE_INFINITY)
        if (first?.max_amount_usd === undefined) return
        expect('amount' in payload && payload.amount >= 0 && payload.amount <= first.max_amount_usd).toBe(true)
      }),
    )
  })

  test('rules after the first match have no effect', () => {
    fc.assert(
      fc.property(rules, rules, name, payload, used, (rules, more, action, payload, used) => {
        fc.pre(firstMatchingRule(rules, action) !== null)
        const request = { action, payload }
        expect(evaluatePolicy([...rules, ...more], request, () => used)).toEqual(
          evaluatePolicy(rules, request, () => used),
        )
      }),
    )
  })

  test('rules ignore the case of actions', () => {
    fc.assert(
      fc.property(rules, name, (rules, action) => {
        const upper = rules.map((rule) => ({ ...rule, action: rule.action.toUpperCase() }))
        expect(firstMatchingRule(upper, action.toLowerCase())).toBe(firstMatchingRule(rules, action))
      }),
    )
  })
})

describe('unreachable rules', () => {
  test.each<[string[], { rule: number; by: number }[]]>([
    [[], []],
    [['a', 'b', '*'], []],
    [
      ['*', 'a', 'b:*'],
      [
        { rule: 1, by: 0 },
        { rule: 2, by: 0 },
      ],
    ],
    [
      ['refund:*', 'REFUND:full', 'refund:', 'refund'],
      [
        { rule: 1, by: 0 },
        { rule: 2, by: 0 },
      ],
    ],
    [['refund', 'Refund', 'refund*'], [{ rule: 1, by: 0 }]],
    [['a:b', 'a:', 'a:b'], [{ rule: 2, by: 0 }]],
  ])('unreachable rules of %j', (actions, expected) => {
    expect(unreachableRules(rulesFor(...actions))).toEqual(expected)
  })

  test('a rule is unreachable exactly if no action reaches it', () => {
    fc.assert(
      fc.property(rules, (rules) => {
        const reached = new Set(rules.flatMap(probes).map((action) => firstMatchingRule(rules, action)))
        const named = unreachableRules(rules).map(({ rule }) => rule)
        expect(named).toEqual([...rules.keys()].filter((index) => !reached.has(index)))
      }),
    )
  })
})

function probes({ action }: PolicyRule): string[] {
  const stem = action.replace(/\*$/, '')
  return [action, stem, `${stem}z`]
}
