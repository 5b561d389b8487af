import { expect, test } from 'vitest'
import { listCalls } from '../../bench/lists/calls.ts'
import { CLIENT_SESSION, OWNER_SESSION, seedStore } from '../../bench/seed/seed-store.ts'
import type { OpenApiDocument } from '../../src/platform/http/openapi.ts'
import { describeApi } from '../../scripts/openapi-document.ts'
import { eachStore, testApp } from '../app.ts'

const SEEDED = 2_100

eachStore((store) => {
  test('the benchmark seeds tasks that the service lists like its own', async () => {
    const app = await testApp({ store, env: { SVC_MAX_CONCURRENT_TASKS: '0' } })
    await seedStore(app.ctx.store, 0, SEEDED)
    const asOwner = (path: string) => app.call('GET', path, undefined, { key: OWNER_SESSION })
    const { body } = await asOwner('/v1/tasks?status=succeeded&limit=100')
    expect(body.data).toHaveLength(100)
    const task = (await asOwner(`/v1/tasks/${body.data[0].id}`)).body
    expect(task).toMatchObject({ status: 'succeeded', artifacts: [{ name: 'output.json' }] })
    expect((await asOwner('/v1/approvals?status=pending')).body.data).toHaveLength(3)
    expect((await asOwner('/v1/threads?unread=true')).body.data).toHaveLength(2)
    const { data } = (await app.call('GET', '/v1/audit?subject=task_00000000000000100000000007')).body
    expect(data).toMatchObject([{ action: 'approval.approved' }])
    const asClient = await app.call('GET', '/v1/portal/cases', undefined, { key: CLIENT_SESSION })
    expect(asClient.body.data.length).toBeGreaterThan(0)
  })
})

test('the benchmark measures every list with each of its filters, and fails if it has no value for one', () => {
  const document = describeApi()
  const paths = listCalls(document).map(({ path }) => path)
  expect(paths).toEqual(expect.arrayContaining(['/v1/tasks', '/v1/tasks?status=failed', '/v1/tasks?wedge=workshop']))
  const lists = Object.entries(document.paths).filter(([, { get }]) =>
    get?.parameters?.some((parameter) => 'name' in parameter && parameter.name === 'cursor'),
  )
  for (const [path] of lists.filter(([name]) => !name.includes('{') && !name.startsWith('/v1/broker')))
    expect(paths).toContain(path)
  const get = document.paths['/v1/tasks']?.['get']
  const parameter = { name: 'colour', in: 'query' as const, required: false, schema: { type: 'string' } }
  const extended = { ...document, paths: { '/v1/tasks': { get: { ...get, parameters: [parameter] } } } }
  expect(() => listCalls(extended as OpenApiDocument)).toThrow("no values for the filter 'colour' of /v1/tasks")
})
