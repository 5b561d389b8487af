/** The clients, in their own process so that they share no event loop with the servers that they measure. */
import type { Connection } from './connection.ts'
import { type Crowd, heard, openCrowd } from './live-followers.ts'
import { decide } from './decisions.ts'
import type { Target } from './statistics.ts'
import { mix } from './mixed-calls.ts'
import { hammer, runs } from './requests.ts'
import { append, delivery, follow, openIdle, replay } from './streams.ts'

const idle: Connection[] = []
const crowds: Crowd[] = []
const parkedBy = new Map<number, Parameters<typeof decide>[1]>()

/** The kinds of load that the clients can run. */
const LOAD_KINDS = {
  hammer,
  runs,
  append,
  follow,
  delivery,
  replay,
  mix,
  async idle(target: Target, options: Parameters<typeof openIdle>[1]) {
    idle.push(...(await openIdle(target, options)))
    return { open: idle.length }
  },
  async crowd(target: Target, options: Parameters<typeof openCrowd>[1]) {
    crowds.push(await openCrowd(target, options))
    return { open: crowds.length }
  },
  heard: async (_target: Target, options: { lines: number }) => heard(crowds, options.lines),
  decide(target: Target, options: Parameters<typeof decide>[2]) {
    const parked = parkedBy.get(target.port) ?? []
    parkedBy.set(target.port, parked)
    return decide(target, parked, options)
  },
}

export type LoadKinds = typeof LOAD_KINDS

process.on('message', ({ name, target, options }: { name: keyof LoadKinds; target: Target; options: never }) => {
  LOAD_KINDS[name](target, options).then(
    (result) => process.send?.({ result }),
    (error: unknown) =>
      process.send?.({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
  )
})
process.on('disconnect', () => process.exit(0))
