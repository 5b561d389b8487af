import { describe, expect, test } from 'vitest'
import { statusesBefore } from '../../../src/approvals/lifecycle/states.ts'
import { isTerminalStatus, TASK_STATUSES } from '../../../src/work/tasks/status.ts'

/** Section 3.1 of the contract, one move per line. Restarts and cancels are listed for every status. */
const CONTRACT = `
  queued            provisioning        sandbox provisioning
  provisioning      running             sandbox ready
  running           awaiting_approval   gated action, no policy match
  awaiting_approval running             approve
  awaiting_approval rejected            reject, or cancel
  awaiting_approval expired             five minutes pass
  running           failed              output fails validation, service restart
  running           succeeded           run completes with valid output
  queued            cancelled           cancel
  provisioning      cancelled           cancel
  running           cancelled           cancel
  queued            failed              it cannot be started
  provisioning      failed              it cannot be started, service restart
  awaiting_approval failed              service restart
`

const moves = new Set(
  CONTRACT.trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).slice(0, 2).join(' → ')),
)
const TERMINAL = ['succeeded', 'failed', 'rejected', 'expired', 'cancelled']

describe('the statuses of a task', () => {
  test('the statuses are those of the contract, without validating, which is never set', () => {
    expect([...TASK_STATUSES]).toEqual(['queued', 'provisioning', 'running', 'awaiting_approval', ...TERMINAL])
  })

  test('a task moves only as the table of the contract says', () => {
    const allowed = TASK_STATUSES.flatMap((from) =>
      TASK_STATUSES.filter((to) => statusesBefore(to).includes(from)).map((to) => `${from} → ${to}`),
    )
    expect(new Set(allowed)).toEqual(moves)
  })

  test('the terminal statuses are those without a next status', () => {
    expect(TASK_STATUSES.filter((status) => isTerminalStatus(status))).toEqual(TERMINAL)
  })
})
