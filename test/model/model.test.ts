import fc from 'fast-check'
import { expect, test } from 'vitest'
import { signUpOwner } from '../accounts/members.ts'
import { eachStore } from '../app.ts'
import { sharedGatedApp } from '../approvals/gated-app.ts'
import { FAULT_TIMEOUT_MS, FAULT_ROUNDS } from '../faults/rounds.ts'
import {
  expectCompleteProject,
  createModelProject,
  performAction,
  type ModelProject,
  waitForState,
} from './model-project.ts'
import { GATED_WEDGE } from './action-requests.ts'
import { emptyState, type TaskKind, toVisibleState, type ModelState } from './model-state.ts'
import { type ModelAction, isApplicable, applyAction, subjectOf } from './model-step.ts'

const n = fc.nat({ max: 99 })
const kind = fc.constantFrom<TaskKind[]>('say', 'bad', 'note', 'note', 'ping', 'ping', 'book', 'held')
const stage = fc.constantFrom('new', 'doing', 'done', 'nowhere')
const enabled = fc.boolean()
const called = fc.constantFrom('alpha', 'beta')
const MINUTE = 60_000

/** Work comes more often than what is done about it, and a wedge is seldom switched off for long. */
const ACTIONS: fc.Arbitrary<ModelAction>[] = [
  fc.record({ do: fc.constant('create'), kind, key: fc.constant(null) }),
  fc.record({ do: fc.constant('create'), kind, key: fc.constantFrom('k1', 'k2') }),
  fc.record({ do: fc.constantFrom('retry', 'cancel'), n }),
  fc.record({ do: fc.constant('feedback'), n, note: fc.boolean() }),
  fc.record({ do: fc.constant('approve'), n, edit: fc.boolean() }),
  fc.record({ do: fc.constant('reject'), n }),
  fc.record({ do: fc.constant('advance'), ms: fc.constantFrom(MINUTE, 5 * MINUTE, 25 * 60 * MINUTE) }),
  fc.record({ do: fc.constant('enable'), on: fc.constantFrom(true, true, false) }),
  fc.record({ do: fc.constant('open case'), stage: fc.option(stage, { nil: null }) }),
  fc.record({ do: fc.constant('move case'), n, stage }),
  fc.record({ do: fc.constant('turn case'), n, status: fc.constantFrom('open', 'closed') }),
  fc.record({ do: fc.constant('task on case'), n }),
  fc.record({ do: fc.constant('task on case'), n }),
  fc.record({
    do: fc.constant('put record'),
    key: fc.constantFrom('a', 'b'),
    value: fc.nat({ max: 9 }),
    version: fc.option(fc.nat({ max: 2 }), { nil: null }),
  }),
  fc.record({ do: fc.constant('delete record'), n }),
  fc.record({ do: fc.constant('create schedule'), everyS: fc.constantFrom(60, 3600), enabled }),
  fc.record({ do: fc.constant('switch schedule'), n, enabled }),
  fc.record({ do: fc.constantFrom('delete schedule', 'run schedule'), n }),
  fc.record({ do: fc.constant('create connection'), called }),
  fc.record({ do: fc.constant('rename connection'), n, called }),
  fc.record({ do: fc.constantFrom('write secret', 'delete connection'), n }),
]

type Reference = { state: ModelState }

/** One action, done to the reference and to the service; then both must look the same. */
const command = (action: ModelAction): fc.AsyncCommand<Reference, ModelProject> => ({
  check: ({ state }) => isApplicable(state, action),
  async run(reference, project) {
    // Ids of one moment are in no order, so each action has a moment of its own.
    project.desk.clock.jump(1)
    const before = { ...reference.state, now: reference.state.now + 1 }
    const [after, answer] = applyAction(before, action)
    const subject = 'n' in action ? subjectOf(before, action) : ''
    expect(await performAction(project, action, subject, answer)).toBe(answer.status)
    expect(await waitForState(project, toVisibleState(after))).toEqual(toVisibleState(after))
    reference.state = after
  },
  toString: () => JSON.stringify(action),
})

eachStore((store) => {
  const shared = sharedGatedApp(store, { wedges: GATED_WEDGE })

  test(
    'whatever callers do, in whatever order, a project is what the contract says',
    async () => {
      const desk = shared()
      const session = await signUpOwner(desk)
      const property = fc.asyncProperty(
        fc.commands(
          ACTIONS.map((actions) => actions.map(command)),
          { maxCommands: 100, size: 'max' },
        ),
        async (commands) => {
          const project = await createModelProject(desk, session)
          await fc.asyncModelRun(() => ({ model: { state: emptyState(desk.clock.now()) }, real: project }), commands)
          await expectCompleteProject(project)
        },
      )
      // The seed is told with a failure.
      await fc.assert(property, { numRuns: 4 * FAULT_ROUNDS })
    },
    FAULT_TIMEOUT_MS,
  )
})
