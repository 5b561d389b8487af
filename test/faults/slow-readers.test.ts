import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { FOUNDER_KEY } from '../app.ts'
import { eventually } from '../execution/runs/scripted-agent.ts'
import { waitForEvent, createScriptedTask, createScriptedDeployment } from './scripted-deployment.ts'
import { expectInvariants } from './invariants.ts'
import { FAULT_TIMEOUT_MS, FAULT_ROUNDS } from './rounds.ts'
import type { ServiceProcess } from './service-process.ts'

/** About 18 MB of events. If the service buffered them for every stalled reader, it would need gigabytes. */
const EVENTS = 20_000
const STALLED_READERS = Math.min(200, 50 * FAULT_ROUNDS)
const MAX_GROWTH_KB = 250 * 1024

/** Opens a stream without reading it. */
async function openStream({ url }: ServiceProcess, taskId: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const lines = [`GET /v1/tasks/${taskId}/events HTTP/1.1`, 'host: a', `authorization: Bearer ${FOUNDER_KEY}`]
  socket.write([...lines, 'connection: close', '', ''].join('\r\n'))
  socket.on('error', () => {})
  await once(socket, 'readable')
  return socket
}

/** Disconnects after a random number of bytes. */
function disconnectSoon(socket: Socket): Promise<unknown> {
  let remaining = Math.random() * 2_000_000
  socket.on('data', ({ length }) => {
    remaining -= length
    if (remaining < 0) socket.destroy()
  })
  return once(socket, 'close')
}

async function readToEnd(socket: Socket): Promise<string> {
  let tail = ''
  socket.on('data', (chunk: Buffer) => {
    tail = (tail + chunk.toString()).slice(-2_000)
  })
  await once(socket, 'close')
  return tail
}

const residentKb = ({ child }: ServiceProcess) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1])
const openFiles = ({ child }: ServiceProcess) => readdirSync(`/proc/${child.pid}/fd`).length

// Memory and open files of another process are read from /proc.
test.skipIf(process.platform !== 'linux')(
  'readers that stall or disconnect cost the service little memory, and do not disturb other readers',
  async () => {
    const deployment = await createScriptedDeployment('sqlite')
    const service = await deployment.open()
    const id = await createScriptedTask(service, [{ act: 'send_note' }, { flood: EVENTS }, { output: 'said' }])
    const approval = await waitForEvent(service, id, 'approval.requested')
    const files = openFiles(service)
    const stalled = await Promise.all(Array.from({ length: STALLED_READERS }, () => openStream(service, id)))
    const disconnecting = await Promise.all(Array.from({ length: 20 }, () => openStream(service, id)))
    const disconnected = Promise.all(disconnecting.map(disconnectSoon))
    const before = residentKb(service)
    await service.call('POST', `/v1/approvals/${approval}/approve`, {})
    const ended = await expectInvariants(service, await deployment.openRows(), {
      tasks: [id],
      received: deployment.outside.received,
    })
    expect(residentKb(service) - before).toBeLessThan(MAX_GROWTH_KB)
    expect(ended.get(id)).toMatchObject({ status: 'succeeded' })
    expect(ended.get(id).last_event_id).toBeGreaterThan(EVENTS)
    await disconnected
    for (const tail of await Promise.all(stalled.map(readToEnd))) {
      expect(tail).toMatch(/event: task\.finished|stream overflow: reconnect with Last-Event-ID/)
    }
    await eventually(() => openFiles(service) <= files)
  },
  FAULT_TIMEOUT_MS,
)
