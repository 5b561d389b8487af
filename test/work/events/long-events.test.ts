import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, onTestFinished, test } from 'vitest'
import { clientFrameText } from '../../../src/work/events/client-frames.ts'
import { type FollowRequest, followTaskLog } from '../../../src/work/events/follow-log.ts'
import { SseClient } from '../../../src/platform/http/sse.ts'
import { anyStore, type TestApp, testApp } from '../../app.ts'
import { appendAsRun, cancelTask, progressEvents, SCRIPTED_AGENT, startScriptedTask } from '../tasks/scripted-agent.ts'
import { eventIds, numbersUpTo, openStalledStream } from './stream-reader.ts'

const MB = 1024 * 1024
/** About the maximum length of an event. */
const LONG_TEXT = 'x'.repeat(60_000)

/** A server that follows a log like the service, and reports the maximum number of bytes buffered for its client. */
async function measuringServer(app: TestApp, request: FollowRequest): Promise<{ url: string; maxBuffered(): number }> {
  let maxBuffered = 0
  const server = createServer((_request, out) => {
    const write = out.write.bind(out)
    out.write = (...args: unknown[]) => {
      const room = Reflect.apply(write, out, args)
      maxBuffered = Math.max(maxBuffered, out.writableLength)
      return room
    }
    void followTaskLog(app.ctx, request, new SseClient(out)).finally(() => out.end())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, maxBuffered: () => maxBuffered }
}

anyStore((store) => {
  const startTask = async () => {
    const app = await testApp({ store, env: SCRIPTED_AGENT })
    return { app, id: await startScriptedTask(app) }
  }

  test('a replay buffers less than a megabyte for its client, also with long events', async () => {
    const { app, id } = await startTask()
    // Long events among short ones: alone, in a row, and at the end of a page.
    const short = progressEvents(9)
    const long = progressEvents(1, LONG_TEXT)
    await appendAsRun(app, id, [...progressEvents(600), ...progressEvents(60, LONG_TEXT), ...progressEvents(700)])
    await appendAsRun(app, id, Array.from({ length: 12 }, () => [...long, ...short]).flat())
    await cancelTask(app, id)
    const last = 1 + 600 + 60 + 700 + 120 + 1
    for (const [view, after] of [
      [null, 0],
      [clientFrameText, 0],
      [null, 630],
      [null, last - 1],
    ] as const) {
      const server = await measuringServer(app, { taskId: id, after, view, ended: true })
      const text = await (await fetch(server.url)).text()
      expect(eventIds(text)).toEqual(numbersUpTo(last, after + 1))
      expect(server.maxBuffered()).toBeLessThan(MB)
    }
  })

  test('live events buffer less than a megabyte for a client, and the log provides the rest', async () => {
    const { app, id } = await startTask()
    const server = await measuringServer(app, { taskId: id, after: 0, view: null, ended: false })
    const text = fetch(server.url).then((response) => response.text())
    for (let n = 0; n < 3; n++) await appendAsRun(app, id, [...progressEvents(100, LONG_TEXT), ...progressEvents(100)])
    await cancelTask(app, id)
    expect(eventIds(await text)).toEqual(numbersUpTo(602))
    expect(server.maxBuffered()).toBeLessThan(MB)
  })

  test('live events for a client that does not read use little memory', async () => {
    const { app, id } = await startTask()
    const stalled = await openStalledStream(app, id)
    await appendAsRun(app, id, progressEvents(100, LONG_TEXT))
    const before = usedBufferBytes()
    for (let n = 0; n < 6; n++) await appendAsRun(app, id, progressEvents(100, LONG_TEXT))
    // Buffers that the driver and the sockets still hold for a moment are released; what the stream keeps is not.
    await expect.poll(() => usedBufferBytes() - before).toBeLessThan(8 * MB)
    stalled.destroy()
    await cancelTask(app, id)
  })
})

/** The bytes of all buffers in use, after a garbage collection. */
function usedBufferBytes(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return process.memoryUsage().arrayBuffers
}
