import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { eachStore, FOUNDER_KEY, sharedApp } from '../app.ts'
import { expectInvariants } from './invariants.ts'
import { attemptNumbers } from './rounds.ts'

const ECHO = { wedge: 'echo', task_type: 'say' }

eachStore((store) => {
  const shared = sharedApp({ store, env: { SVC_TASK_RATE_PER_MIN: '100000' } })

  /** Sends this share of the request and disconnects. */
  async function sendPart(bytes: Buffer, share: number): Promise<void> {
    const { hostname, port } = new URL(shared().url)
    const socket = connect(Number(port), hostname)
    socket.on('error', () => {})
    await once(socket, 'connect')
    const part = bytes.subarray(0, Math.ceil(bytes.length * share))
    await new Promise<void>((resolve) => socket.write(part, () => resolve()))
    socket.destroy()
  }

  test('a client that disconnects during a create and repeats it with the same idempotency key has one task', async () => {
    const app = shared()
    const created: string[] = []
    for (const n of attemptNumbers(20)) {
      const key = `dropped ${n}`
      const body = JSON.stringify({ ...ECHO, input: n })
      const head = [
        'POST /v1/tasks HTTP/1.1',
        'host: a',
        `authorization: Bearer ${FOUNDER_KEY}`,
        `idempotency-key: ${key}`,
      ]
      const sent = [...head, 'content-type: application/json', `content-length: ${body.length}`, '', body].join('\r\n')
      await sendPart(Buffer.from(sent), (n % 21) / 20)
      const again = await app.call('POST', '/v1/tasks', undefined, {
        raw: body,
        headers: { 'idempotency-key': key, 'content-type': 'application/json' },
      })
      expect(again.status).toBe(201)
      created.push(again.body.id)
    }
    const ended = await expectInvariants(app, app.ctx.db, { tasks: created })
    expect([...ended.values()].map(({ input }) => input).toSorted((a, b) => a - b)).toEqual(attemptNumbers(20))
  })
})
