import { expect, test } from 'vitest'
import { forbidden } from '../../src/base/problem.ts'
import type { PipeResponsePart } from '../../src/contract/agent-protocol.ts'
import { jsonObject } from '../../src/http/validate.ts'
import { createPipePlane } from '../../src/http/pipe-plane.ts'
import { type RequestHead, type Route, defineRoute, StreamResponse } from '../../src/http/route.ts'
import { testApp } from '../app.ts'

const answers = { 200: jsonObject }
const asks = (path: string) => ({ token: 'good', method: 'POST', path })

/** A plane with a door that lets pass and one that does not; `seen` is what was asked behind them. */
async function doors() {
  const { ctx } = await testApp({ store: 'sqlite' })
  const seen: string[] = []
  const passing = (name: string, pass: () => unknown): Route<null, RequestHead> =>
    defineRoute('POST', `/v1/internal/${name}`, {
      summary: name,
      responses: answers,
      async handle() {
        seen.push(name)
        pass()
        return { name }
      },
    })
  const refuse = () => {
    throw forbidden('approval rejected')
  }
  let over = false
  const streaming: Route<null, RequestHead> = defineRoute('POST', '/v1/internal/stream', {
    summary: 'stream',
    responses: { 200: 'text/event-stream' },
    handle: async () => new StreamResponse({}, async (out) => void out.end('data: {}\n\n')),
  })
  const routes = [
    passing('open', () => {}),
    passing('shut', refuse),
    passing('end', () => (over = true)),
    passing('tool', () => {}),
    streaming,
  ]
  const door = createPipePlane(ctx, routes, (_route, _scope, token) => token === 'good' && !over)
  const ask = async (first: ReturnType<typeof asks>, then = asks('/v1/internal/tool')) => {
    const told: PipeResponsePart[] = []
    await door(null, { ...then, first }, { send: (word) => told.push(word) > 0, whenDrained: () => {} })
    return told
  }
  return { ask, seen }
}

test('what must be asked first is asked first, and the answer is that to the question itself', async () => {
  const { ask, seen } = await doors()
  expect(await ask(asks('/v1/internal/open'))).toEqual([{ status: 200, body: { name: 'tool' } }])
  expect(seen).toEqual(['open', 'tool'])
})

test('what was refused first is not asked at all, and the answer says which of the two it is', async () => {
  const { ask, seen } = await doors()
  const refused = { status: 403, body: { error: 'approval rejected' } }
  expect(await ask(asks('/v1/internal/shut'))).toEqual([{ ...refused, first: true }])
  expect(seen).toEqual(['shut'])
  expect(await ask(asks('/v1/internal/open'), asks('/v1/internal/shut'))).toEqual([refused])
})

test('a first question that nobody may ask, or that leads nowhere, lets nothing pass', async () => {
  const { ask, seen } = await doors()
  expect(await ask({ ...asks('/v1/internal/open'), token: 'bad' })).toMatchObject([{ status: 401, first: true }])
  expect(await ask(asks('/v1/internal/nowhere'))).toMatchObject([{ status: 404, first: true }])
  expect(seen).toEqual([])
})

test('nothing passes for one who may not ask any more when the first answer is there', async () => {
  const { ask, seen } = await doors()
  const [told, ...more] = await ask(asks('/v1/internal/end'))
  expect(told).toMatchObject({ status: 401 })
  expect(told).not.toHaveProperty('first')
  expect([more, seen]).toEqual([[], ['end']])
})

test('a stream is no yes', async () => {
  const { ask, seen } = await doors()
  const told = await ask(asks('/v1/internal/stream'))
  expect(told.at(-1)).toEqual({ status: 200, body: null })
  expect(seen).toEqual([])
})
