import { expect, test } from 'vitest'
import { loadConfig } from '../../../src/platform/config/config.ts'
import { FOUNDER_KEY, testApp } from '../../app.ts'
import { eventsUrl } from '../../work/events/stream-reader.ts'

const PAGE = 'https://app.example.com'

test('a page of a listed origin may call the API and follow a task, and no other page may', async () => {
  const app = await testApp({ store: 'sqlite', env: { SVC_CORS_ORIGINS: `${PAGE}, http://127.0.0.1:3000` } })
  const { id } = await app.createTask()
  await app.finished(id)
  const preflight = (origin: string) =>
    fetch(`${app.url}/v1/tasks`, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' },
    })
  const allowed = await preflight(PAGE)
  expect(allowed.status).toBe(204)
  expect(allowed.headers.get('access-control-allow-origin')).toBe(PAGE)
  expect(allowed.headers.get('access-control-allow-headers')).toContain('authorization')
  expect(allowed.headers.get('access-control-allow-credentials')).toBeNull()
  for (const url of [`${app.url}/v1/tasks/${id}`, eventsUrl(app, id), `${app.url}/v1/tasks/absent`]) {
    const allowOriginFor = async (origin: string) => {
      const response = await fetch(url, { headers: { origin, authorization: `Bearer ${FOUNDER_KEY}` } })
      await response.text()
      return response.headers.get('access-control-allow-origin')
    }
    expect([url, await allowOriginFor(PAGE)]).toEqual([url, PAGE])
    expect([url, await allowOriginFor('https://other.example.com')]).toEqual([url, null])
  }
  const refused = await preflight('https://other.example.com')
  expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([404, null])
})

test.each(['*', 'app.example.com', 'https://app.example.com/', 'https://app.example.com/path'])(
  'SVC_CORS_ORIGINS must list origins: %s stops the start',
  (origin) => {
    expect(() => loadConfig({ SVC_CORS_ORIGINS: `${PAGE}, ${origin}` })).toThrow(/^SVC_CORS_ORIGINS must/)
  },
)
