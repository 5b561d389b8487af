import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import { appendAuditEntry } from '../../src/audit/append.ts'
import type { JsonObject } from '../../src/base/json.ts'
import { inTx } from '../../src/ctx/ctx.ts'
import { SYSTEM_ACTOR } from '../../src/ctx/scope.ts'
import { eachStore, type TestApp, testApp } from '../app.ts'

eachStore((store) => {
  test('while a long chain is verified or exported, others are answered', async () => {
    const app = await testApp({ store })
    await lengthen(app, 20_000)
    for (const path of ['/v1/audit/verify', '/v1/audit/export']) {
      const order: string[] = []
      const beside = begun(path).then(async () => {
        order.push('begun')
        for (const other of ['first', 'second']) {
          expect((await app.call('GET', '/v1/tasks')).status).toBe(200)
          order.push(other)
        }
      })
      expect((await app.call('GET', path)).status).toBe(200)
      order.push('done')
      await beside
      expect(order, path).toEqual(['begun', 'first', 'second', 'done'])
    }
    expect((await app.call('GET', '/v1/audit/verify')).body.ok).toBe(true)
  })

  test('an export that is still being read when its key is deleted is cut off', async () => {
    const app = await testApp({ store })
    // More than what lies between the service and a reader that does not read.
    await lengthen(app, 10_000, { text: 'x'.repeat(4_000) })
    const { id, key } = (await app.call('POST', '/v1/keys', { name: 'leaked', role: 'viewer' })).body
    const file = await fetch(`${app.url}/v1/audit/export`, { headers: { authorization: `Bearer ${key}` } })
    expect(file.status).toBe(200)
    expect((await app.call('DELETE', `/v1/keys/${id}`)).status).toBe(204)
    const read = file.text().then(
      (whole) => whole.length,
      (error: Error) => error.message,
    )
    expect(await read).toBe('terminated')
    // And the service goes on.
    expect((await app.call('GET', '/v1/audit/verify')).body.ok).toBe(true)
  })
})

/** Adds so many entries to the chain of the project. */
async function lengthen(app: TestApp, entries: number, data: JsonObject = {}): Promise<void> {
  const { id } = (await app.call('GET', '/v1/projects')).body.data[0]
  await inTx(app.ctx, async (tx) => {
    for (let n = 0; n < entries; n++) await appendAuditEntry(tx, id, SYSTEM_ACTOR, 'thing.noted', `thing ${n}`, data)
  })
}

/** Resolves when the service gets a request for this path, before it is answered. */
function begun(path: string): Promise<void> {
  return new Promise((resolve) => {
    const heard = (message: unknown) => {
      if ((message as { request: IncomingMessage }).request.url !== path) return
      unsubscribe('http.server.request.start', heard)
      resolve()
    }
    subscribe('http.server.request.start', heard)
  })
}
