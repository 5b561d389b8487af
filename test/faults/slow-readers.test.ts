import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { FOUNDER_KEY } from '../app.ts'
import { eventually } from '../runs/scripted-agent.ts'
import { waitForEvent, createScriptedTask, createScriptedDeployment } from './scripted-deployment.ts'
import { expectInvariants } from './invariants.ts'
import { FAULT_TIMEOUT_MS, FAULT_ROUNDS } from './rounds.ts'
import type { ServiceProcess } from './service-process.ts'

/** Some 18 MB of log: were it kept for each reader that does not read, there would be gigabytes. */
const FLOOD = 20_000
const STALLED = Math.min(200, 50 * FAULT_ROUNDS)
const MOST_GROWTH_KB = 250 * 1024

/** A stream that is open; nobody reads it until somebody does. */
async function openStream({ url }: ServiceProcess, taskId: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const lines = [`GET /v1/tasks/${taskId}/events HTTP/1.1`, 'host: a', `authorization: Bearer ${FOUNDER_KEY}`]
  socket.write([...lines, 'connection: close', '', ''].join('\r\n'))
  socket.on('error', () => {})
  await once(socket, 'readable')
  return socket
}

/** Hangs up in the middle of a frame, somewhere. */
function vanish(socket: Socket): Promise<unknown> {
  let left = Math.random() * 2_000_000
  socket.on('data', ({ length }) => {
    left -= length
    if (left < 0) socket.destroy()
  })
  return once(socket, 'close')
}

async function readToEnd(socket: Socket): Promise<string> {
  let tail = ''
  socket.on('data', (piece: Buffer) => {
    tail = (tail + piece.toString()).slice(-2_000)
  })
  await once(socket, 'close')
  return tail
}

const residentKb = ({ child }: ServiceProcess) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1])
const openFiles = ({ child }: ServiceProcess) => readdirSync(`/proc/${child.pid}/fd`).length

// Memory and open files of another process are read from /proc.
test.skipIf(process.platform !== 'linux')(
  'readers that stall and readers that vanish cost the service little, and a reader that reads nothing',
  async () => {
    const place = await createScriptedDeployment('sqlite')
    const service = await place.open()
    const id = await createScriptedTask(service, [{ act: 'send_note' }, { flood: FLOOD }, { output: 'said' }])
    const approval = await waitForEvent(service, id, 'approval.requested')
    const files = openFiles(service)
    const stalled = await Promise.all(Array.from({ length: STALLED }, () => openStream(service, id)))
    const vanishing = await Promise.all(Array.from({ length: 20 }, () => openStream(service, id)))
    const gone = Promise.all(vanishing.map(vanish))
    const before = residentKb(service)
    await service.call('POST', `/v1/approvals/${approval}/approve`, {})
    const ended = await expectInvariants(service, await place.openRows(), {
      tasks: [id],
      received: place.outside.received,
    })
    expect(residentKb(service) - before).toBeLessThan(MOST_GROWTH_KB)
    expect(ended.get(id)).toMatchObject({ status: 'succeeded' })
    expect(ended.get(id).last_event_id).toBeGreaterThan(FLOOD)
    await gone
    for (const tail of await Promise.all(stalled.map(readToEnd))) {
      expect(tail).toMatch(/event: task\.finished|stream overflow: reconnect with Last-Event-ID/)
    }
    await eventually(() => openFiles(service) <= files)
  },
  FAULT_TIMEOUT_MS,
)
