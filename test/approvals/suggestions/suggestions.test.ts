import { beforeAll, expect, test } from 'vitest'
import { signUpOwner } from '../../identity/accounts/members.ts'
import { anyStore } from '../../app.ts'
import { signUpOtherOrganisation } from '../../wedges/knowledge/knowledge-app.ts'
import {
  type GatedApp,
  gatedWedgeFiles,
  requestedApprovalId,
  sharedGatedApp,
  startAction,
} from '../decisions/gated-app.ts'

const WEDGES = {
  ...gatedWedgeFiles('gate'),
  ...gatedWedgeFiles('ruled', {
    policy: {
      auto_approve: [
        { action: 'pay:small' },
        { action: 'never', max_per_day: 0 },
        { action: 'pay:', max_amount_usd: 50 },
      ],
    },
  }),
}

anyStore((store) => {
  const shared = sharedGatedApp(store, { wedges: WEDGES })
  beforeAll(async () => {
    member = await signUpOwner(shared())
  })

  test('five unchanged approvals suggest a rule, and after it is saved the sixth request passes', async () => {
    const app = shared()
    const ids: string[] = []
    for (const amount of [10, 19.99, 5, 12, 20]) ids.push(await decide(app, 'refund:full', { amount }))
    expect((await suggestions(app)).suggestions.map(({ rule }) => rule)).toEqual([
      { action: 'refund:full', max_amount_usd: 20, max_per_task: 1, max_per_day: 5 },
    ])
    const rejected = await decide(app, 'refund:full', { amount: 900 }, 'reject')
    const edited = await decide(app, 'refund:full', { amount: 80 }, 'approve', { edited: { amount: 8 } })
    const sentBack = await decide(app, 'refund:full', { amount: 30 }, 'revise', { note: 'less' })
    const { checked, is_capped, policy_version, suggestions: found, refused } = await suggestions(app)
    expect({ checked, is_capped, policy_version, refused }).toEqual({
      checked: 8,
      is_capped: false,
      policy_version: null,
      refused: [],
    })
    const rule = { action: 'refund:full', max_amount_usd: 20, max_per_task: 1, max_per_day: 5 }
    expect(found).toEqual([
      {
        rule,
        text: 'refund:full up to $20, at most 1 in a task and 5 on a day',
        auto_approve: [rule],
        would_pass: {
          count: 5,
          sum: { amount: 66.99, currency: 'USD' },
          first_at: await createdAt(app, ids[0]),
          last_at: await createdAt(app, ids[4]),
          sample: ids.toReversed(),
          undecided: 0,
        },
        above_limit: { count: 0, lowest: null, sample: [] },
        would_pass_wrongly: 0,
        not_covered: { count: 3, sample: [sentBack, edited, rejected] },
      },
    ])

    const auto_approve = found[0]?.auto_approve
    const simulated = await app.call('POST', '/v1/wedges/gate/policy/simulate', { auto_approve })
    expect(simulated.body).toMatchObject({ checked: 8, would_pass: 5 })
    const saved = await app.call('PUT', '/v1/wedges/gate/policy', { auto_approve, based_on: policy_version })
    expect(saved).toMatchObject({ status: 200, body: { version: 1 } })
    const sixth = await startAction(app, { action: 'refund:full', payload: { amount: 20 } })
    expect((await app.finished(sixth.id)).status).toBe('succeeded')
    const [passed] = (await app.call('GET', `/v1/approvals?task_id=${sixth.id}`)).body.data
    expect(passed).toMatchObject({
      status: 'auto_approved',
      policy_reason: 'Rule 1 (refund:full) of policy version 1 allows up to $20 (1 of 1 in this task, 1 of 5 today).',
    })
    // What the saved rule approves is not suggested again.
    expect(await suggestions(app)).toMatchObject({ policy_version: 1, suggestions: [], refused: [] })
  })

  test('a rejected, edited or returned request with a lower amount leaves no safe rule', async () => {
    const app = shared()
    for (const [action, decision, body] of [
      ['low:rejected', 'reject', {}],
      ['low:edited', 'approve', { edited: { amount: 1 } }],
      ['low:returned', 'revise', { note: 'no' }],
    ] as const) {
      for (const amount of [10, 20, 30, 40, 50]) await decide(app, action, { amount })
      await decide(app, action, { amount: 45 }, decision, body)
    }
    const { suggestions: found, refused } = await suggestions(app)
    expect(found.filter(({ rule }) => rule.action.startsWith('low:'))).toEqual([])
    const reason = 'people rejected or edited a request of $45, and approved fewer than 5 below it'
    expect(refused.filter(({ action }) => action.startsWith('low:')).toSorted(byAction)).toEqual([
      { action: 'low:edited', reason },
      { action: 'low:rejected', reason },
      { action: 'low:returned', reason },
    ])
    // One more below it is enough for a rule with a lower limit.
    await decide(app, 'low:rejected', { amount: 44 })
    expect((await suggestions(app)).suggestions.find(({ rule }) => rule.action === 'low:rejected')).toMatchObject({
      rule: { max_amount_usd: 44 },
      would_pass: { count: 5, sum: { amount: 144 } },
    })
  })

  test('only approvals of members count, and an unusual amount is outside of the limit', async () => {
    const app = shared()
    const amounts = [60, 63, 66, 69, 72, 75, 180]
    for (const amount of amounts) await decide(app, 'usual', { amount }, 'approve', {}, 'gate', app.key)
    const found = async () => (await suggestions(app)).suggestions.find(({ rule }) => rule.action === 'usual')
    expect(await found()).toBe(undefined)
    const ids: string[] = []
    for (const amount of amounts) ids.push(await decide(app, 'usual', { amount }))
    expect(await found()).toMatchObject({
      rule: { max_amount_usd: 75 },
      would_pass: { count: 6, sum: { amount: 405 } },
      above_limit: { count: 1, lowest: 180, sample: [ids[6]] },
    })
  })

  test('requests without an amount get a rule only if people refused none of them', async () => {
    const app = shared()
    for (let i = 0; i < 5; i++) await decide(app, 'tell', { text: `${i}` })
    const told = async () => (await suggestions(app)).suggestions.find(({ rule }) => rule.action === 'tell')
    expect(await told()).toMatchObject({ would_pass: { count: 5, sum: null }, not_covered: { count: 0 } })
    await decide(app, 'tell', { text: 'rude' }, 'reject')
    expect(await told()).toBe(undefined)
    expect((await suggestions(app)).refused).toContainEqual({
      action: 'tell',
      reason: 'requests state no amount, so a rule would also cover those that people rejected or edited',
    })
  })

  test('a rule that approves less is not repeated: the suggestion comes before it and keeps its caps', async () => {
    const app = shared()
    for (let i = 0; i < 5; i++)
      for (const action of ['never', 'pay:more']) await decide(app, action, { amount: 60 + i }, 'approve', {}, 'ruled')
    const ruled = await suggestions(app, 'ruled')
    // It comes before the rule for `pay:`, which would refuse it, and has no caps because that rule has none.
    expect(ruled.suggestions).toMatchObject([
      {
        rule: { action: 'pay:more', max_amount_usd: 64 },
        auto_approve: [
          { action: 'pay:small' },
          { action: 'never', max_per_day: 0 },
          { action: 'pay:more', max_amount_usd: 64 },
          { action: 'pay:', max_amount_usd: 50 },
        ],
      },
    ])
    expect(Object.keys(ruled.suggestions[0]?.rule ?? {})).toEqual(['action', 'max_amount_usd'])
    expect(ruled.refused).toEqual([{ action: 'never', reason: 'a rule says that it always needs an approval' }])
  })

  test('suggestions need a wedge that exists, and come from the own project only', async () => {
    const app = shared()
    expect((await app.call('GET', '/v1/wedges/none/suggestions')).status).toBe(404)
    const other = await signUpOtherOrganisation(app)
    expect((await app.call('GET', '/v1/wedges/gate/suggestions', undefined, other)).body).toEqual({
      checked: 0,
      is_capped: false,
      policy_version: null,
      suggestions: [],
      refused: [],
    })
  })
})

const byAction = (a: { action: string }, b: { action: string }) => (a.action < b.action ? -1 : 1)

/** The session of the member who decides. */
let member = ''

/** Runs one action, decides about its request and returns the id of the approval. */
async function decide(
  app: GatedApp,
  action: string,
  payload: object,
  decision = 'approve',
  body: object = {},
  wedge = 'gate',
  key = member,
): Promise<string> {
  await app.clock.advance(1)
  const task = await startAction(app, { action, payload }, { wedge })
  const id = await requestedApprovalId(app, task.id)
  const { status } = await app.call('POST', `/v1/approvals/${id}/${decision}`, body, { key })
  expect(status).toBe(200)
  await app.finished(task.id)
  return id
}

interface Suggestions {
  checked: number
  is_capped: boolean
  policy_version: number | null
  suggestions: { rule: { action: string }; auto_approve: object[] }[]
  refused: { action: string; reason: string }[]
}

async function suggestions(app: GatedApp, wedge = 'gate'): Promise<Suggestions> {
  const { status, body } = await app.call('GET', `/v1/wedges/${wedge}/suggestions`)
  expect(status).toBe(200)
  return body
}

const createdAt = async (app: GatedApp, id: string | undefined): Promise<string> =>
  (await app.call('GET', `/v1/approvals/${id}`)).body.created_at
