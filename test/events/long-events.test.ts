import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, onTestFinished, test } from 'vitest'
import { clientFrameText } from '../../src/events/client-frames.ts'
import { type FollowRequest, followTaskLog } from '../../src/events/follow-log.ts'
import { SseClient } from '../../src/http/sse.ts'
import { eachStore, type TestApp, testApp } from '../app.ts'
import { cancelTask, progressEvents, startScriptedTask, SCRIPTED_AGENT, appendAsRun } from '../tasks/scripted-agent.ts'
import { eventIds, numbersUpTo, openStalledStream } from './stream-reader.ts'

const MB = 1024 * 1024
/** About as long as one event may be. */
const LONG = 'x'.repeat(60_000)

/** A door that follows as the service's own does, and tells how much it ever had to keep for its reader. */
async function watchedDoor(app: TestApp, following: FollowRequest): Promise<{ url: string; kept(): number }> {
  let most = 0
  const server = createServer((_request, out) => {
    const write = out.write.bind(out)
    out.write = (...args: unknown[]) => {
      const room = Reflect.apply(write, out, args)
      most = Math.max(most, out.writableLength)
      return room
    }
    void followTaskLog(app.ctx, following, new SseClient(out)).finally(() => out.end())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, kept: () => most }
}

eachStore((store) => {
  const open = async () => {
    const app = await testApp({ store, env: SCRIPTED_AGENT })
    return { app, id: await startScriptedTask(app) }
  }

  test('a replay keeps less than a megabyte for its reader, however long the events are', async () => {
    const { app, id } = await open()
    // Long ones among short ones: alone, in a row, and at the end of a page.
    const short = progressEvents(9)
    const long = progressEvents(1, LONG)
    await appendAsRun(app, id, [...progressEvents(600), ...progressEvents(60, LONG), ...progressEvents(700)])
    await appendAsRun(app, id, Array.from({ length: 12 }, () => [...long, ...short]).flat())
    await cancelTask(app, id)
    const last = 1 + 600 + 60 + 700 + 120 + 1
    for (const [view, after] of [
      [null, 0],
      [clientFrameText, 0],
      [null, 630],
      [null, last - 1],
    ] as const) {
      const door = await watchedDoor(app, { taskId: id, after, view, ended: true })
      const text = await (await fetch(door.url)).text()
      expect(eventIds(text)).toEqual(numbersUpTo(last, after + 1))
      expect(door.kept()).toBeLessThan(MB)
    }
  })

  test('what is said live is kept for a reader by the megabyte too, and the log has the rest', async () => {
    const { app, id } = await open()
    const door = await watchedDoor(app, { taskId: id, after: 0, view: null, ended: false })
    const text = fetch(door.url).then((answer) => answer.text())
    for (let n = 0; n < 3; n++) await appendAsRun(app, id, [...progressEvents(100, LONG), ...progressEvents(100)])
    await cancelTask(app, id)
    expect(eventIds(await text)).toEqual(numbersUpTo(602))
    expect(door.kept()).toBeLessThan(MB)
  })

  test('of what is said live while a reader does not read, little waits for it in memory', async () => {
    const { app, id } = await open()
    const stalled = await openStalledStream(app, id)
    await appendAsRun(app, id, progressEvents(100, LONG))
    const before = heldBytes()
    for (let n = 0; n < 6; n++) await appendAsRun(app, id, progressEvents(100, LONG))
    expect(heldBytes() - before).toBeLessThan(8 * MB)
    stalled.destroy()
    await cancelTask(app, id)
  })
})

/** What buffers hold in this process, without those that nobody has any more. */
function heldBytes(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return process.memoryUsage().arrayBuffers
}
