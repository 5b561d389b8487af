import { once } from 'node:events'
import type { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { anyStore, testApp } from '../../app.ts'
import { appendAsRun, cancelTask, progressEvents, SCRIPTED_AGENT, startScriptedTask } from '../tasks/scripted-agent.ts'
import { eventIds, eventsUrl, numbersUpTo, openStalledStream, openStream, readWholeStream } from './stream-reader.ts'

/** 1,000 of these exceed the socket buffers. */
const LONG_TEXT = 'x'.repeat(16_000)

async function readAll(socket: Socket): Promise<string> {
  const pieces: Buffer[] = []
  socket.on('data', (piece: Buffer) => pieces.push(piece))
  await once(socket, 'close')
  return decodeChunked(Buffer.concat(pieces)).toString()
}

/** The body of a response with chunked encoding. */
function decodeChunked(response: Buffer): Buffer {
  const parts: Buffer[] = []
  let at = response.indexOf('\r\n\r\n') + 4
  for (;;) {
    const line = response.indexOf('\r\n', at)
    const size = Number.parseInt(response.subarray(at, line).toString(), 16)
    if (!size) return Buffer.concat(parts)
    parts.push(response.subarray(line + 2, line + 2 + size))
    at = line + 2 + size + 2
  }
}

anyStore((store) => {
  test('a client more than 5,000 events behind must reconnect; other clients are not affected', async () => {
    const app = await testApp({ store, env: SCRIPTED_AGENT })
    const id = await startScriptedTask(app)
    const quick = await openStream(eventsUrl(app, id))
    const slow = await openStalledStream(app, id)
    let appended = 1
    const appendAndWait = async (count: number, text?: string) => {
      await appendAsRun(app, id, progressEvents(count, text))
      appended += count
      await quick.until(({ tail }) => tail.includes(`id: ${appended}\n`))
    }
    for (let i = 0; i < 10; i++) await appendAndWait(100, LONG_TEXT)
    for (let i = 0; i < 7; i++) await appendAndWait(1_000)
    const text = await readAll(slow)
    const overflow = 'event: error\ndata: {"error":"stream overflow: reconnect with Last-Event-ID"}\n\n'
    expect(text.endsWith(overflow)).toBe(true)
    const seen = eventIds(text)
    expect(seen.length).toBeLessThan(appended)
    expect(seen).toEqual(numbersUpTo(seen.length))
    await cancelTask(app, id)
    const whole = await quick.ended
    expect(eventIds(whole)).toEqual(numbersUpTo(appended + 1))
    expect(whole).not.toContain('event: error')
    // After reconnecting the slow client gets what it missed.
    const rest = await readWholeStream(eventsUrl(app, id), { 'last-event-id': String(seen.length) })
    expect(text.slice(0, -overflow.length) + rest === whole).toBe(true)
  })

  test('a burst of more than 5,000 events reaches all clients that had caught up', async () => {
    const app = await testApp({ store, env: SCRIPTED_AGENT })
    const id = await startScriptedTask(app)
    const readers = await Promise.all(Array.from({ length: 3 }, () => openStream(eventsUrl(app, id))))
    await Promise.all(readers.map((reader) => reader.until(({ tail }) => tail.includes('id: 1\n'))))
    await appendAsRun(app, id, progressEvents(14_000))
    await Promise.all(readers.map((reader) => reader.until(({ tail }) => tail.includes('id: 14001\n'))))
    await cancelTask(app, id)
    for (const reader of readers) {
      const text = await reader.ended
      expect(text).not.toContain('event: error')
      expect(eventIds(text)).toEqual(numbersUpTo(14_002))
    }
  })
})
