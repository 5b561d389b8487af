import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, onTestFinished, test } from 'vitest'
import { clientText } from '../../src/events/client-view.ts'
import { type Following, follow } from '../../src/events/follow.ts'
import { Reader } from '../../src/http/sse.ts'
import { eachStore, type TestApp, testApp } from '../app.ts'
import { cancel, progress, runningTask, SCRIPTED, say } from '../tasks/scripted.ts'
import { idsIn, oneTo, openAndStall } from './streams.ts'

const MB = 1024 * 1024
/** About as long as one event may be. */
const LONG = 'x'.repeat(60_000)

/** A door that follows as the service's own does, and tells how much it ever had to keep for its reader. */
async function watchedDoor(app: TestApp, following: Following): Promise<{ url: string; kept(): number }> {
  let most = 0
  const server = createServer((_request, out) => {
    const write = out.write.bind(out)
    out.write = (...args: unknown[]) => {
      const room = Reflect.apply(write, out, args)
      most = Math.max(most, out.writableLength)
      return room
    }
    void follow(app.ctx, following, new Reader(out)).finally(() => out.end())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, kept: () => most }
}

eachStore((store) => {
  const open = async () => {
    const app = await testApp({ store, env: SCRIPTED })
    return { app, id: await runningTask(app) }
  }

  test('a replay keeps less than a megabyte for its reader, however long the events are', async () => {
    const { app, id } = await open()
    // Long ones among short ones: alone, in a row, and at the end of a page.
    const short = progress(9)
    const long = progress(1, LONG)
    await say(app, id, [...progress(600), ...progress(60, LONG), ...progress(700)])
    await say(app, id, Array.from({ length: 12 }, () => [...long, ...short]).flat())
    await cancel(app, id)
    const last = 1 + 600 + 60 + 700 + 120 + 1
    for (const [view, after] of [
      [null, 0],
      [clientText, 0],
      [null, 630],
      [null, last - 1],
    ] as const) {
      const door = await watchedDoor(app, { taskId: id, after, view, ended: true })
      const text = await (await fetch(door.url)).text()
      expect(idsIn(text)).toEqual(oneTo(last, after + 1))
      expect(door.kept()).toBeLessThan(MB)
    }
  })

  test('what is said live is kept for a reader by the megabyte too, and the log has the rest', async () => {
    const { app, id } = await open()
    const door = await watchedDoor(app, { taskId: id, after: 0, view: null, ended: false })
    const text = fetch(door.url).then((answer) => answer.text())
    for (let n = 0; n < 3; n++) await say(app, id, [...progress(100, LONG), ...progress(100)])
    await cancel(app, id)
    expect(idsIn(await text)).toEqual(oneTo(602))
    expect(door.kept()).toBeLessThan(MB)
  })

  test('of what is said live while a reader does not read, little waits for it in memory', async () => {
    const { app, id } = await open()
    const stalled = await openAndStall(app, id)
    await say(app, id, progress(100, LONG))
    const before = heldBytes()
    for (let n = 0; n < 6; n++) await say(app, id, progress(100, LONG))
    expect(heldBytes() - before).toBeLessThan(8 * MB)
    stalled.destroy()
    await cancel(app, id)
  })
})

/** What buffers hold in this process, without those that nobody has any more. */
function heldBytes(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return process.memoryUsage().arrayBuffers
}
