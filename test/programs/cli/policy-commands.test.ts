import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { signUpOwner } from '../../identity/accounts/members.ts'
import {
  gatedWedgeFiles,
  requestedApprovalId,
  sharedGatedApp,
  startAction,
} from '../../approvals/decisions/gated-app.ts'
import { callSvc } from './call-svc.ts'
import { temporaryFolder } from './run-svc.ts'

const OWN_RULES = [{ action: 'send_note', max_per_day: 3 }]
const app = sharedGatedApp('sqlite', { wedges: gatedWedgeFiles('gate', { policy: { auto_approve: OWN_RULES } }) })
const svc = (...args: string[]) => callSvc(args, { url: app().url })

test('svc wedge suggestions prints rules, and svc wedge policy saves, shows and resets them', async () => {
  const key = await signUpOwner(app())
  for (const amount of [5, 6, 7, 8, 9]) {
    const task = await startAction(app(), { action: 'pay', payload: { amount } })
    await app().call('POST', `/v1/approvals/${await requestedApprovalId(app(), task.id)}/approve`, {}, { key })
    await app().finished(task.id)
  }
  const suggested = await svc('wedge', 'suggestions', 'gate')
  expect(suggested).toMatchObject({ code: 0, stderr: '' })
  expect(suggested.stdout).toMatch(
    /^pay up to \$9, at most 1 in a task and 5 on a day\n {2}approved unchanged: 5, 35 USD in total, since .+ \(UTC\)\n {2}rejected, sent back or edited: 0, none of them covered\n$/,
  )
  const own = await svc('wedge', 'policy', 'gate')
  expect(own.stdout).toMatch(/^gate: the rules of the wedge's folder\n.*\n1 +send_note +- +- +3\n$/)

  const file = join(temporaryFolder(), 'rules.json')
  const [found] = (await svc('wedge', 'suggestions', 'gate', '--json')).lines
  writeFileSync(file, JSON.stringify(found.suggestions[0]))
  const saved = await svc('wedge', 'policy', 'gate', '--save', file, '--based-on', 'none')
  expect(saved).toMatchObject({ code: 0 })
  expect(saved.stdout).toMatch(/^gate: version 1, saved by .+ \(UTC\)\n.*\n1 +send_note +- +- +3\n2 +pay +9 +1 +5\n$/)
  const outdated = await svc('wedge', 'policy', 'gate', '--save', '[]', '--based-on', 'none')
  expect(outdated).toMatchObject({ code: 1, stderr: expect.stringContaining('is at version 1 now') })
  const empty = await svc('wedge', 'policy', 'gate', '--save', '[]', '--based-on', '1')
  expect(empty).toMatchObject({ code: 0, stderr: expect.stringContaining('no rules: every action needs an approval') })

  const reset = await svc('wedge', 'policy', 'gate', '--reset', '--json')
  expect(reset.lines).toMatchObject([{ version: 3, source: 'wedge', auto_approve: OWN_RULES }])
})

test('svc wedge policy refuses rules that are not a list, a wrong version, and both options at once', async () => {
  for (const [args, problem] of [
    [['--save', '{"rules": []}'], 'option --save must be a list of rules'],
    [['--save', '[]', '--based-on', 'x'], 'option --based-on must be the number of a version'],
    [['--save', '[]', '--reset'], 'use either --save or --reset'],
    [['--save', '[{"action": "x", "max_amount": 5}]'], 'max_amount'],
  ] as const) {
    const refused = await svc('wedge', 'policy', 'gate', ...args)
    expect(refused.stderr).toContain(problem)
    expect(refused.code).toBeGreaterThan(0)
  }
  expect(await svc('wedge', 'suggestions', 'none')).toMatchObject({ code: 1 })
})
