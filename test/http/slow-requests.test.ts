import { once } from 'node:events'
import { connect, type AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createPublicServer } from '../../src/planes/public-server.ts'
import { FOUNDER_KEY, testApp } from '../app.ts'
import { openStream } from '../events/stream-reader.ts'

test('a body that does not come in time is 408, and an open stream is not what is timed', async () => {
  const app = await testApp({ store: 'sqlite' })
  const door = createPublicServer(app.ctx, new Promise(() => {}), () => false)
  onTestFinished(() => door.close())
  expect(door.server.requestTimeout).toBe(60_000)
  // Nobody waits here for a minute.
  door.server.requestTimeout = 500
  door.server.headersTimeout = 400
  await door.listen({ port: 0, host: '127.0.0.1' })
  const { port } = door.server.address() as AddressInfo
  const stream = await openStream(`http://127.0.0.1:${port}/v1/stream`, { authorization: `Bearer ${FOUNDER_KEY}` })
  const socket = connect(port, '127.0.0.1')
  const lines = ['POST /v1/auth/login HTTP/1.1', 'host: a', 'content-type: application/json', 'content-length: 100']
  socket.write([...lines, '', '{'].join('\r\n'))
  let text = ''
  socket.setEncoding('utf8').on('data', (piece: string) => (text += piece))
  await once(socket, 'close')
  expect(text).toMatch(/^HTTP\/1\.1 408 /)
  expect(text.split('\r\n\r\n')[1]).toBe('{"error":"the request was not received in time"}')
  // It was there before the other came, and is there still.
  const { id } = await app.createTask({ input: 'x' })
  expect(await stream.until(({ tail }) => tail.includes(id))).toContain(id)
  stream.close()
})
