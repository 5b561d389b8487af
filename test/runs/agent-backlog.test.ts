import { expect, onTestFinished, test } from 'vitest'
import { testApp, type TestApp } from '../app.ts'
import { scriptedAgentFolder, startScript, waitForEvent } from './scripted-agent.ts'

const agents = scriptedAgentFolder()

/** Sixteen MiB of what an agent says, and then a question that the service counts. */
const FLOOD = `
  say({ event: 'progress', data: { text: 'on' } })
  while ((await ask('GET', '/v1/internal/records/go')).body.data.length === 0) await new Promise((r) => setTimeout(r, 20))
  for (let n = 0; n < 1024; n++) say({ event: 'token.delta', data: { text: String(n).padEnd(16_000, '.') } })
  await ask('GET', '/v1/internal/case')
  say({ output: 'said' })`

const questions = ({ ctx }: TestApp) =>
  ctx.counts.responses
    .filter(({ plane, subject }) => plane === 'sandbox' && subject === 'case')
    .flatMap(({ statuses }) => statuses)
    .reduce((sum, count) => sum + count, 0)

test('while nothing can be stored an agent is held back, and all that it said is there afterwards, in order', async () => {
  const app = await testApp({ store: 'sqlite', env: { SVC_SANDBOX: 'bwrap', SVC_METRICS_PORT: '0', ...agents } })
  const id = await startScript(app, FLOOD)
  await waitForEvent(app, id, 'progress')
  let letGo = () => {}
  const waiting = new Promise<void>((resolve) => {
    letGo = resolve
  })
  onTestFinished(() => letGo())
  // The flood begins when this record can be seen, and by then the store takes nothing more.
  const stored = app.call('POST', '/v1/records', { wedge: 'echo', collection: 'go', key: 'k', value: 1 })
  const holding = stored.then(() => app.ctx.store.transact(() => waiting))
  await new Promise((resolve) => setTimeout(resolve, 3000))
  expect(questions(app)).toBe(0)
  letGo()
  await holding
  expect(await app.finished(id)).toMatchObject({ status: 'succeeded', output: 'said' })
  expect(questions(app)).toBe(1)
  const said = (await app.events(id)).filter(({ event }) => event === 'token.delta')
  expect(said.map(({ data }) => Number.parseInt(data.data.text, 10))).toEqual(Array.from({ length: 1024 }, (_, n) => n))
})
