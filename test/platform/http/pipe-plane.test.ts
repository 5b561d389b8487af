import { expect, test } from 'vitest'
import { forbidden } from '../../../src/platform/base/problem.ts'
import type { PipeResponsePart } from '../../../src/platform/contract/agent-protocol.ts'
import { jsonObject } from '../../../src/platform/http/validate.ts'
import { createPipePlane } from '../../../src/platform/http/pipe-plane.ts'
import { type RequestHead, type Route, defineRoute, StreamResponse } from '../../../src/platform/http/route.ts'
import { testApp } from '../../app.ts'

const requestTo = (name: string) => ({ token: 'good', method: 'POST', path: `/v1/internal/${name}` })

/** A pipe plane with routes that allow, refuse, end the run or stream; `calledRoutes` has the routes that ran. */
async function planeWithRoutes() {
  const { ctx } = await testApp({ store: 'sqlite' })
  const calledRoutes: string[] = []
  const route = (name: string, effect: () => unknown): Route<null, RequestHead> =>
    defineRoute('POST', `/v1/internal/${name}`, {
      summary: name,
      responses: { 200: jsonObject },
      async handle() {
        calledRoutes.push(name)
        effect()
        return { name }
      },
    })
  const refuse = () => {
    throw forbidden('approval rejected')
  }
  let isRunOver = false
  const streaming: Route<null, RequestHead> = defineRoute('POST', '/v1/internal/stream', {
    summary: 'stream',
    responses: { 200: 'text/event-stream' },
    handle: async () => new StreamResponse({}, async (out) => void out.end('data: {}\n\n')),
  })
  const routes = [
    route('allow', () => {}),
    route('refuse', refuse),
    route('end', () => (isRunOver = true)),
    route('tool', () => {}),
    streaming,
  ]
  const plane = createPipePlane(ctx, routes, (_route, _scope, token) => token === 'good' && !isRunOver)
  const call = async (first: ReturnType<typeof requestTo>, second = requestTo('tool')) => {
    const parts: PipeResponsePart[] = []
    await plane(null, { ...second, first }, { send: (part) => parts.push(part) > 0, whenDrained: () => {} })
    return parts
  }
  return { call, calledRoutes }
}

test('a pipe request runs after its first request was allowed, and its own response is sent', async () => {
  const { call, calledRoutes } = await planeWithRoutes()
  expect(await call(requestTo('allow'))).toEqual([{ status: 200, body: { name: 'tool' } }])
  expect(calledRoutes).toEqual(['allow', 'tool'])
})

test('if the first request is refused, the second does not run, and the response says that it is for the first', async () => {
  const { call, calledRoutes } = await planeWithRoutes()
  const refused = { status: 403, body: { error: 'approval rejected' } }
  expect(await call(requestTo('refuse'))).toEqual([{ ...refused, first: true }])
  expect(calledRoutes).toEqual(['refuse'])
  expect(await call(requestTo('allow'), requestTo('refuse'))).toEqual([refused])
})

test('if the first request has a wrong token or an unknown route, the second does not run', async () => {
  const { call, calledRoutes } = await planeWithRoutes()
  expect(await call({ ...requestTo('allow'), token: 'bad' })).toMatchObject([{ status: 401, first: true }])
  expect(await call(requestTo('nowhere'))).toMatchObject([{ status: 404, first: true }])
  expect(calledRoutes).toEqual([])
})

test('if the token becomes invalid during the first request, the second does not run', async () => {
  const { call, calledRoutes } = await planeWithRoutes()
  const [response, ...more] = await call(requestTo('end'))
  expect(response).toMatchObject({ status: 401 })
  expect(response).not.toHaveProperty('first')
  expect([more, calledRoutes]).toEqual([[], ['end']])
})

test('a stream as response to the first request does not allow the second', async () => {
  const { call, calledRoutes } = await planeWithRoutes()
  const response = await call(requestTo('stream'))
  expect(response.at(-1)).toEqual({ status: 200, body: null })
  expect(calledRoutes).toEqual([])
})
