/** The baseline: a plain HTTP server with the same routes and durable writes, without authentication and validation. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { BareEventLogs } from './event-logs.ts'
import { openBarePostgres } from './postgres.ts'
import { BareRuns, type BareMode, newId } from './runs.ts'
import { openBareStore } from './store.ts'

const { BARE_DIR = '.', BARE_PORT = '0', BARE_MODE = 'none', BARE_COMMAND = '[]', BARE_DATABASE } = process.env

const store = BARE_DATABASE
  ? await openBarePostgres(BARE_DATABASE)
  : openBareStore(join(BARE_DIR, `bare-${process.pid}.db`))
const logs = new BareEventLogs(store)
const runs = new BareRuns(store, logs, BARE_MODE as BareMode, JSON.parse(BARE_COMMAND) as string[])

const server = createServer((request, response) => {
  if (request.url === '/discard') {
    request.resume().on('end', () => send(response, 200, { ok: true }))
    return
  }
  const body: Buffer[] = []
  request.on('data', (chunk: Buffer) => body.push(chunk))
  request.on('end', () => {
    handleRequest(request, Buffer.concat(body).toString(), response).catch((error: unknown) => {
      send(response, 500, { error: String(error) })
    })
  })
})
server.keepAliveTimeout = 75_000
server.listen(Number(BARE_PORT), '127.0.0.1')

async function handleRequest(request: IncomingMessage, body: string, response: ServerResponse): Promise<void> {
  const [, , kind = '', id = '', part = ''] = (request.url ?? '').split('/')
  if (request.url === '/health' || request.url === '/livez') return send(response, 200, { ok: true })
  if (kind === 'tasks' && request.method === 'POST') return createTask(body, response)
  if (kind === 'tasks' && part === 'events') {
    return logs.follow(id, Number(request.headers['last-event-id'] ?? 0), response)
  }
  if (kind === 'tasks') return send(response, 200, (await store.taskOf(id)) ?? {})
  if (kind === 'workflow') return send(response, 200, { result: await runs.callWorkflow(JSON.parse(body)) })
  if (kind !== 'approvals') return send(response, 404, { error: 'no such route' })
  await runs.approve(id)
  return send(response, 200, { ok: true })
}

async function createTask(body: string, response: ServerResponse): Promise<void> {
  const { input, task_type } = JSON.parse(body) as { input: unknown; task_type: string }
  const id = newId('task')
  await store.commit(() => {
    store.insertTask(id, JSON.stringify(input))
    store.audit('task.created', id)
  })
  send(response, 201, { id, status: 'queued', input, task_type })
  await runs.start({ id, input, ask: task_type === 'ask' })
}

function send(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body)
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
  response.end(text)
}
