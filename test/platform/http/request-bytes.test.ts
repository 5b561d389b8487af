import { createServer, request as sendRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { Problem } from '../../../src/platform/base/problem.ts'
import { readRequestBytes } from '../../../src/platform/http/request-bytes.ts'

const MAX_BYTES = 3 * 1024 * 1024

/** Sends a body in pieces to a server that answers with what `readRequestBytes` returned. */
async function echo(
  pieces: Buffer[],
  headers: Record<string, number>,
  reserve?: (bytes: number) => void,
): Promise<Buffer | number> {
  const server = createServer((request, response) => {
    readRequestBytes(request, MAX_BYTES, reserve).then(
      (bytes) => response.end(bytes),
      (error: unknown) => response.writeHead(error instanceof Problem ? error.status : 500).end(),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  return new Promise((resolve, reject) => {
    const call = sendRequest({ host: '127.0.0.1', port, method: 'POST', agent: false, headers }, (response) => {
      const received: Buffer[] = []
      response.on('data', (piece: Buffer) => received.push(piece))
      response.on('end', () =>
        resolve(response.statusCode === 200 ? Buffer.concat(received) : (response.statusCode ?? 0)),
      )
    })
    call.on('error', reject)
    for (const piece of pieces) call.write(piece)
    call.end()
  })
}

const counting = (length: number) => Buffer.from(Array.from({ length }, (_, n) => n % 251))

test.each([0, 1, 70_000, MAX_BYTES])(
  'a body of %i bytes is read as it was sent, with and without its length',
  async (size) => {
    const whole = counting(size)
    const pieces = [whole.subarray(0, 10), whole.subarray(10, 1_500_000), whole.subarray(1_500_000)].filter(
      ({ length }) => length > 0,
    )
    for (const headers of [{ 'content-length': size }, {}]) {
      const received = await echo(pieces, headers)
      expect(Buffer.isBuffer(received) && received.equals(whole)).toBe(true)
    }
  },
)

test('memory is reserved for the parts of a body and for the whole, before it is taken', async () => {
  let reserved = 0
  let most = 0
  const reserve = (bytes: number) => {
    reserved += bytes
    most = Math.max(most, reserved)
  }
  const whole = counting(MAX_BYTES)
  const received = await echo([whole.subarray(0, 10), whole.subarray(10)], {}, reserve)
  expect(Buffer.isBuffer(received) && received.equals(whole)).toBe(true)
  expect(most).toBeGreaterThanOrEqual(2 * MAX_BYTES)
  expect(reserved).toBe(MAX_BYTES)
})

test('a body that is larger than the limit is refused, with and without its length', async () => {
  const whole = counting(MAX_BYTES + 1)
  expect(await echo([whole], { 'content-length': whole.length })).toBe(413)
  expect(await echo([whole], {})).toBe(413)
  expect(await echo([], { 'content-length': Number.MAX_SAFE_INTEGER })).toBe(413)
})
