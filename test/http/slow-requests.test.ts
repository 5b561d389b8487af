import { once } from 'node:events'
import { connect, type AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createPublicServer } from '../../src/planes/public-server.ts'
import { FOUNDER_KEY, testApp } from '../app.ts'
import { openStream } from '../events/stream-reader.ts'

test('a body that is not received in time is 408, and open streams have no time limit', async () => {
  const app = await testApp({ store: 'sqlite' })
  const server = createPublicServer(app.ctx, new Promise(() => {}), () => false)
  onTestFinished(() => server.close())
  expect(server.server.requestTimeout).toBe(60_000)
  // Shorter, so that the test does not take a minute.
  server.server.requestTimeout = 500
  server.server.headersTimeout = 400
  await server.listen({ port: 0, host: '127.0.0.1' })
  const { port } = server.server.address() as AddressInfo
  const stream = await openStream(`http://127.0.0.1:${port}/v1/stream`, { authorization: `Bearer ${FOUNDER_KEY}` })
  const socket = connect(port, '127.0.0.1')
  const lines = ['POST /v1/auth/login HTTP/1.1', 'host: a', 'content-type: application/json', 'content-length: 100']
  socket.write([...lines, '', '{'].join('\r\n'))
  let text = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  await once(socket, 'close')
  expect(text).toMatch(/^HTTP\/1\.1 408 /)
  expect(text.split('\r\n\r\n')[1]).toBe('{"error":"the request was not received in time"}')
  // The stream was opened before the slow request and still works.
  const { id } = await app.createTask({ input: 'x' })
  expect(await stream.until(({ tail }) => tail.includes(id))).toContain(id)
  stream.close()
})
