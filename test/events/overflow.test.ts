import { once } from 'node:events'
import type { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { eachStore, testApp } from '../app.ts'
import { cancelTask, progressEvents, startScriptedTask, SCRIPTED_AGENT, appendAsRun } from '../tasks/scripted-agent.ts'
import { eventIds, numbersUpTo, openStalledStream, openStream, readWholeStream, eventsUrl } from './stream-reader.ts'

/** More than the buffers between two sockets hold. */
const WIDE = 'x'.repeat(16_000)

async function readAll(socket: Socket): Promise<string> {
  const pieces: Buffer[] = []
  socket.on('data', (piece: Buffer) => pieces.push(piece))
  await once(socket, 'close')
  return unchunked(Buffer.concat(pieces)).toString()
}

/** The body of an answer that came in chunks. */
function unchunked(answer: Buffer): Buffer {
  const parts: Buffer[] = []
  let at = answer.indexOf('\r\n\r\n') + 4
  for (;;) {
    const line = answer.indexOf('\r\n', at)
    const size = Number.parseInt(answer.subarray(at, line).toString(), 16)
    if (!size) return Buffer.concat(parts)
    parts.push(answer.subarray(line + 2, line + 2 + size))
    at = line + 2 + size + 2
  }
}

eachStore((store) => {
  test('a reader more than 5,000 events behind is told to reconnect; the others never notice', async () => {
    const app = await testApp({ store, env: SCRIPTED_AGENT })
    const id = await startScriptedTask(app)
    const quick = await openStream(eventsUrl(app, id))
    const slow = await openStalledStream(app, id)
    let said = 1
    const sayAndSee = async (count: number, text?: string) => {
      await appendAsRun(app, id, progressEvents(count, text))
      said += count
      await quick.until(({ tail }) => tail.includes(`id: ${said}\n`))
    }
    for (let i = 0; i < 10; i++) await sayAndSee(100, WIDE)
    for (let i = 0; i < 7; i++) await sayAndSee(1_000)
    const text = await readAll(slow)
    const overflow = 'event: error\ndata: {"error":"stream overflow: reconnect with Last-Event-ID"}\n\n'
    expect(text.endsWith(overflow)).toBe(true)
    const seen = eventIds(text)
    expect(seen.length).toBeLessThan(said)
    expect(seen).toEqual(numbersUpTo(seen.length))
    await cancelTask(app, id)
    const whole = await quick.ended
    expect(eventIds(whole)).toEqual(numbersUpTo(said + 1))
    expect(whole).not.toContain('event: error')
    // What it missed is there when it does as it was told.
    const rest = await readWholeStream(eventsUrl(app, id), { 'last-event-id': String(seen.length) })
    expect(text.slice(0, -overflow.length) + rest === whole).toBe(true)
  })

  test('a burst of more than 5,000 events reaches those who were there for it, in pieces that they share', async () => {
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
