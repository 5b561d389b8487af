import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import { appendAuditEntry } from '../../src/audit/append.ts'
import type { JsonObject } from '../../src/platform/base/json.ts'
import { inTx } from '../../src/platform/ctx/ctx.ts'
import { SYSTEM_ACTOR } from '../../src/platform/ctx/scope.ts'
import { eachStore, type TestApp, testApp } from '../app.ts'

eachStore((store) => {
  test('other requests are served while a long chain is verified or exported', async () => {
    const app = await testApp({ store })
    await addEntries(app, 20_000)
    for (const path of ['/v1/audit/verify', '/v1/audit/export']) {
      const order: string[] = []
      const otherRequests = requestStarted(path).then(async () => {
        order.push('started')
        for (const other of ['first', 'second']) {
          expect((await app.call('GET', '/v1/tasks')).status).toBe(200)
          order.push(other)
        }
      })
      expect((await app.call('GET', path)).status).toBe(200)
      order.push('done')
      await otherRequests
      expect(order, path).toEqual(['started', 'first', 'second', 'done'])
    }
    expect((await app.call('GET', '/v1/audit/verify')).body.ok).toBe(true)
  })

  test('a running export ends when its API key is deleted', async () => {
    const app = await testApp({ store })
    // More than the buffers between the service and a client that does not read.
    await addEntries(app, 10_000, { text: 'x'.repeat(4_000) })
    const { id, key } = (await app.call('POST', '/v1/keys', { name: 'leaked', role: 'viewer' })).body
    const file = await fetch(`${app.url}/v1/audit/export`, { headers: { authorization: `Bearer ${key}` } })
    expect(file.status).toBe(200)
    expect((await app.call('DELETE', `/v1/keys/${id}`)).status).toBe(204)
    const read = file.text().then(
      (whole) => whole.length,
      (error: Error) => error.message,
    )
    expect(await read).toBe('terminated')
    expect((await app.call('GET', '/v1/audit/verify')).body.ok).toBe(true)
  })
})

async function addEntries(app: TestApp, entries: number, data: JsonObject = {}): Promise<void> {
  const { id } = (await app.call('GET', '/v1/projects')).body.data[0]
  await inTx(app.ctx, async (tx) => {
    for (let n = 0; n < entries; n++) await appendAuditEntry(tx, id, SYSTEM_ACTOR, 'thing.noted', `thing ${n}`, data)
  })
}

/** Resolves when the service receives a request for this path, before it responds. */
function requestStarted(path: string): Promise<void> {
  return new Promise((resolve) => {
    const onRequest = (message: unknown) => {
      if ((message as { request: IncomingMessage }).request.url !== path) return
      unsubscribe('http.server.request.start', onRequest)
      resolve()
    }
    subscribe('http.server.request.start', onRequest)
  })
}
