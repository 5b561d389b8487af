import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { followTask } from '../../../src/programs/cli/tasks/follow-task.ts'
import { createServiceClient } from '../../../src/programs/cli/shell/service-client.ts'

async function fakeService(respond: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(respond)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`
}

const frame = (id: number, type = 'progress') =>
  `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify({ id, seq: id, type, ts: '2026-01-01T00:00:00.000Z', data: {} })}\n\n`

test('followTask resumes a broken stream after the last event and yields no event twice', async () => {
  const requestedIds: unknown[] = []
  const url = await fakeService((request, response) => {
    const last = Number(request.headers['last-event-id'] ?? 0)
    requestedIds.push(last)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    if (last === 0) response.write(`: hello\n\n${frame(1)}${frame(2)}id: 3\nevent: pro`, () => response.destroy())
    else response.end(`${frame(2)}${frame(3)}${frame(4, 'task.finished')}`)
  })
  let lost = 0
  const ids: number[] = []
  for await (const { id } of followTask(createServiceClient(url, 'key'), 'task_1', { onLost: () => void lost++ }))
    ids.push(id)
  expect(ids).toEqual([1, 2, 3, 4])
  expect({ requestedIds, lost }).toEqual({ requestedIds: [0, 2], lost: 1 })
})

test('followTask continues after the overflow frame', async () => {
  const url = await fakeService((request, response) => {
    if (!request.url?.endsWith('/events')) return response.end('{"finished_at":null,"last_event_id":2}')
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    if (request.headers['last-event-id']) return response.end(frame(2, 'task.finished'))
    return response.end(`${frame(1)}event: error\ndata: {"error":"stream overflow: reconnect with Last-Event-ID"}\n\n`)
  })
  const types: string[] = []
  for await (const { type } of followTask(createServiceClient(url, 'key'), 'task_1')) types.push(type)
  expect(types).toEqual(['progress', 'task.finished'])
})

test('followTask does not retry a request that the service refuses', async () => {
  const url = await fakeService((_, response) => response.writeHead(404).end('{"error":"no such task"}'))
  await expect(followTask(createServiceClient(url, 'key'), 'task_1').next()).rejects.toThrow('no such task')
})
