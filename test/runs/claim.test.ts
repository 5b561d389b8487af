import { expect, test } from 'vitest'
import { claimTasks, type Starter } from '../../src/runs/claim.ts'
import { holdTask } from '../../src/tasks/state-rows.ts'
import { testApp, type TestApp } from '../app.ts'

const ONE_BY_ONE: Starter = { canBegin: () => false, begun: async () => {} }
const claimed = async ({ ctx }: TestApp) =>
  (await claimTasks(ctx, '', 8, ONE_BY_ONE, new AbortController().signal)).tasks.map(({ task }) => task.id)

test('a project whose queue another replica is just emptying hides no other project', async () => {
  const app = await testApp({ store: 'postgres', env: { SVC_MAX_CONCURRENT_TASKS: '0', SVC_OPEN_SIGNUP: '1' } })
  const queue = async (key: string) =>
    (await app.call('POST', '/v1/tasks', { wedge: 'echo', task_type: 'say' }, { key })).body.id as string
  const tasks: string[] = []
  for (const email of ['first@example.com', 'second@example.com', 'third@example.com']) {
    const person = { email, password: 'correct horse battery' }
    const { body } = await app.call('POST', '/v1/auth/signup', person, { key: null })
    tasks.push(await queue(body.session_token))
  }
  const [held = '', ...free] = tasks
  let letGo = () => {}
  const waiting = new Promise<void>((resolve) => {
    letGo = resolve
  })
  let holding: Promise<void> = Promise.resolve()
  await new Promise<void>((resolve) => {
    holding = app.ctx.store.transact(async (db) => {
      await holdTask(db, { id: held })
      resolve()
      await waiting
    })
  })
  expect((await claimed(app)).toSorted()).toEqual(free.toSorted())
  letGo()
  await holding
  expect(await claimed(app)).toEqual([held])
})
