import fc from 'fast-check'
import { expect, test } from 'vitest'
import { signUp } from '../accounts/people.ts'
import { eachStore } from '../app.ts'
import { desks } from '../approvals/desk.ts'
import { PATIENCE, ROUNDS } from '../faults/rounds.ts'
import { expectWholeProject, newProject, perform, type Project, settled } from './project.ts'
import { WEDGE } from './requests.ts'
import { fresh, type Kind, shown, type State } from './state.ts'
import { type Action, applies, step, subjectOf } from './step.ts'

const n = fc.nat({ max: 99 })
const kind = fc.constantFrom<Kind[]>('say', 'bad', 'note', 'note', 'ping', 'ping', 'book', 'held')
const stage = fc.constantFrom('new', 'doing', 'done', 'nowhere')
const enabled = fc.boolean()
const called = fc.constantFrom('alpha', 'beta')
const MINUTE = 60_000

/** Work comes more often than what is done about it, and a wedge is seldom switched off for long. */
const ACTIONS: fc.Arbitrary<Action>[] = [
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

type Reference = { state: State }

/** One action, done to the reference and to the service; then both must look the same. */
const command = (action: Action): fc.AsyncCommand<Reference, Project> => ({
  check: ({ state }) => applies(state, action),
  async run(reference, project) {
    // Ids of one moment are in no order, so each action has a moment of its own.
    project.desk.clock.leap(1)
    const before = { ...reference.state, now: reference.state.now + 1 }
    const [after, answer] = step(before, action)
    const subject = 'n' in action ? subjectOf(before, action) : ''
    expect(await perform(project, action, subject, answer)).toBe(answer.status)
    expect(await settled(project, shown(after))).toEqual(shown(after))
    reference.state = after
  },
  toString: () => JSON.stringify(action),
})

eachStore((store) => {
  const shared = desks(store, { wedges: WEDGE })

  test(
    'whatever callers do, in whatever order, a project is what the contract says',
    async () => {
      const desk = shared()
      const session = await signUp(desk)
      const property = fc.asyncProperty(
        fc.commands(
          ACTIONS.map((actions) => actions.map(command)),
          { maxCommands: 100, size: 'max' },
        ),
        async (commands) => {
          const project = await newProject(desk, session)
          await fc.asyncModelRun(() => ({ model: { state: fresh(desk.clock.now()) }, real: project }), commands)
          await expectWholeProject(project)
        },
      )
      // The seed is told with a failure.
      await fc.assert(property, { numRuns: 4 * ROUNDS })
    },
    PATIENCE,
  )
})
