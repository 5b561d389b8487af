import fc from 'fast-check'
import { expect, test } from 'vitest'
import { signUpOwner } from '../identity/accounts/members.ts'
import { anyStore } from '../app.ts'
import { sharedGatedApp } from '../approvals/decisions/gated-app.ts'
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
const label = fc.constantFrom('alpha', 'beta')
const MINUTE = 60_000

/** Creates are more frequent than other actions, and a wedge is rarely disabled for long. */
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
  fc.record({ do: fc.constant('set case status'), n, status: fc.constantFrom('open', 'closed') }),
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
  fc.record({ do: fc.constant('create connection'), label }),
  fc.record({ do: fc.constant('rename connection'), n, label }),
  fc.record({ do: fc.constantFrom('write secret', 'delete connection'), n }),
]

type ModelHolder = { state: ModelState }

/** Applies one action to the model and to the service, and expects the same visible state. */
const command = (action: ModelAction): fc.AsyncCommand<ModelHolder, ModelProject> => ({
  check: ({ state }) => isApplicable(state, action),
  async run(model, project) {
    // Ids of the same millisecond are not ordered, so each action gets its own millisecond.
    project.app.clock.jump(1)
    const before = { ...model.state, now: model.state.now + 1 }
    const [after, expected] = applyAction(before, action)
    const subject = 'n' in action ? subjectOf(before, action) : ''
    expect(await performAction(project, action, subject, expected)).toBe(expected.status)
    expect(await waitForState(project, toVisibleState(after))).toEqual(toVisibleState(after))
    model.state = after
  },
  toString: () => JSON.stringify(action),
})

anyStore((store) => {
  const shared = sharedGatedApp(store, { wedges: GATED_WEDGE })

  test(
    'after every random sequence of API calls a project has the state of the reference model',
    async () => {
      const app = shared()
      const session = await signUpOwner(app)
      const property = fc.asyncProperty(
        fc.commands(
          ACTIONS.map((actions) => actions.map(command)),
          { maxCommands: 100, size: 'max' },
        ),
        async (commands) => {
          const project = await createModelProject(app, session)
          await fc.asyncModelRun(() => ({ model: { state: emptyState(app.clock.now()) }, real: project }), commands)
          await expectCompleteProject(project)
        },
      )
      // A failure prints the seed that repeats it.
      await fc.assert(property, { numRuns: 4 * FAULT_ROUNDS })
    },
    FAULT_TIMEOUT_MS,
  )
})
