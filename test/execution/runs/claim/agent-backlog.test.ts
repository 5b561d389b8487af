import { expect, onTestFinished, test } from 'vitest'
import { testApp, type TestApp } from '../../../app.ts'
import { scriptedAgentFolder, startScript, waitForEvent } from '../scripted-agent.ts'

const agents = scriptedAgentFolder()

/** An agent that writes 16 MiB of events and then sends a request that the service counts. */
const FLOOD = `
  say({ event: 'progress', data: { text: 'on' } })
  while ((await ask('GET', '/v1/internal/records/go')).body.data.length === 0) await new Promise((r) => setTimeout(r, 20))
  for (let n = 0; n < 1024; n++) say({ event: 'token.delta', data: { text: String(n).padEnd(16_000, '.') } })
  await ask('GET', '/v1/internal/case')
  say({ output: 'said' })`

const countCaseRequests = ({ ctx }: TestApp) =>
  ctx.counts.responses
    .filter(({ plane, subject }) => plane === 'sandbox' && subject === 'case')
    .flatMap(({ statuses }) => statuses)
    .reduce((sum, count) => sum + count, 0)

test('while the store accepts no writes the service stops reading the agent, and stores all its events in order afterwards', async () => {
  const app = await testApp({ store: 'sqlite', env: { SVC_SANDBOX: 'bwrap', SVC_METRICS_PORT: '0', ...agents } })
  const id = await startScript(app, FLOOD)
  await waitForEvent(app, id, 'progress')
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  onTestFinished(() => release())
  // The agent starts to write when it sees this record; by then the store is blocked.
  const stored = app.call('POST', '/v1/records', { wedge: 'echo', collection: 'go', key: 'k', value: 1 })
  const blockedStore = stored.then(() => app.ctx.store.transact(() => released))
  await new Promise((resolve) => setTimeout(resolve, 3000))
  expect(countCaseRequests(app)).toBe(0)
  release()
  await blockedStore
  expect(await app.finished(id)).toMatchObject({ status: 'succeeded', output: 'said' })
  expect(countCaseRequests(app)).toBe(1)
  const deltas = (await app.events(id)).filter(({ event }) => event === 'token.delta')
  expect(deltas.map(({ data }) => Number.parseInt(data.data.text, 10))).toEqual(
    Array.from({ length: 1024 }, (_, n) => n),
  )
})
