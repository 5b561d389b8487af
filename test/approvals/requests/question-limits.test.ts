import { expect, test } from 'vitest'
import { eachStore } from '../../app.ts'
import { scriptedAgentFolder, startScript, waitForEvent } from '../../execution/runs/scripted-agent.ts'
import { requestedApprovalId, sharedGatedApp } from '../decisions/gated-app.ts'

const env = scriptedAgentFolder()

/** Makes the requests of the list one after another and gives the responses as its output. */
const askAll = (bodies: object[]) => `
  const responses = []
  for (const body of ${JSON.stringify(bodies)}) responses.push(await ask('POST', '/v1/internal/ask', body))
  say({ output: responses.map(({ status, body }) => [status, body.error]) })`

const REFUSED: [object, string][] = [
  [{ question: 'Why?' }, "field 'to'"],
  [{ question: 'Why?', to: 'everyone' }, "field 'to'"],
  [{ question: ' ', to: 'team' }, "field 'question' must not be blank"],
  [{ question: 'x'.repeat(2001), to: 'team' }, "field 'question'"],
  [{ question: 'Why?', to: 'team', options: [] }, "field 'options'"],
  [{ question: 'Why?', to: 'team', options: Array.from({ length: 21 }, (_, n) => `${n}`) }, "field 'options'"],
  [{ question: 'Why?', to: 'team', options: ['a', 'a'] }, "field 'options' must not name an option twice"],
  [{ question: 'Why?', to: 'team', options: ['x'.repeat(201)] }, "field 'options.0'"],
  [{ question: 'Why?', to: 'team', schema: 'text' }, "field 'schema' must be an object"],
  [{ question: 'Why?', to: 'team', schema: { type: 'text' } }, "field 'schema.type' must be one of object"],
  [{ question: 'Why?', to: 'team', schema: { type: 'object', properties: { a: 1 } } }, "field 'schema.properties.a'"],
  [{ question: 'Why?', to: 'team', schema: { description: 'x'.repeat(17_000) } }, "field 'schema' must not be larger"],
  [{ question: 'Why?', to: 'team', schema: JSON.parse(`${'{"items":'.repeat(13)}{}${'}'.repeat(13)}`) }, 'levels'],
  [{ question: 'Why?', to: 'team', schema: { type: 'integer' }, options: ['one'] }, 'must match'],
  [{ question: 'Why?', to: 'client' }, "field 'to' must be 'team': the task has no client"],
]

/** Asks 25 questions at once. */
const TOO_MANY = `
  let refused = 0
  const responses = await Promise.all(Array.from({ length: 25 }, (_, n) =>
    ask('POST', '/v1/internal/ask', { question: 'Question ' + n + '?', to: 'team' }).then((response) => {
      if (response.status === 429 && ++refused === 5) say({ event: 'progress', data: { text: response.body.error } })
      return response
    })))
  say({ output: responses.map(({ status, body }) => [status, body.answer]) })`

eachStore((store) => {
  const shared = sharedGatedApp(store, { env })

  test('a question that cannot be shown or answered is 400, over the socket of a custom agent', async () => {
    const app = shared()
    const id = await startScript(app, askAll(REFUSED.map(([body]) => body)), { wedge: 'gate', task_type: 'act' })
    const { output } = (await app.finished(id)) as { output: [number, string][] }
    for (const [index, [body, error]] of REFUSED.entries())
      expect(output[index], JSON.stringify(body).slice(0, 100)).toEqual([400, expect.stringContaining(error)])
    expect((await app.call('GET', `/v1/approvals?task_id=${id}`)).body.data).toEqual([])
  })

  test('a run has at most 20 pending questions, and each gets its own answer', async () => {
    const app = shared()
    const id = await startScript(app, TOO_MANY, { wedge: 'gate', task_type: 'act' })
    const refusal = await waitForEvent(app, id, 'progress')
    expect(refusal.data.data.text).toBe('the run already has 20 pending approvals: wait for a decision')
    await requestedApprovalId(app, id, 20)
    const pending = (await app.call('GET', `/v1/approvals?task_id=${id}&status=pending&limit=200`)).body.data
    for (const { approval_id, preview } of pending) {
      const edited = { answer: `answer to ${preview.question}` }
      expect((await app.call('POST', `/v1/approvals/${approval_id}/approve`, { edited })).status).toBe(200)
    }
    const { output } = (await app.finished(id)) as { output: [number, string][] }
    const answered = output.flatMap(([status, text], n) => (status === 200 ? [[n, text]] : []))
    expect(answered).toHaveLength(20)
    for (const [n, text] of answered) expect(text).toBe(`answer to Question ${n}?`)
  })
})
