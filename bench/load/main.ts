/** The clients run in their own process, so that they share no event loop with the servers. */
import type { Connection } from './connection.ts'
import { type FollowerGroup, openFollowers, waitForLines } from './live-followers.ts'
import { type LivenessPolls, startPolling } from './liveness.ts'
import { decideApprovals, decideParked } from './decisions.ts'
import type { Target } from './statistics.ts'
import { runMix } from './mixed-calls.ts'
import { runTasks, sendRequests } from './requests.ts'
import { appendEvents, followTask, measureDelivery, openIdleStreams, replayLog } from './streams.ts'

const idleStreams: Connection[] = []
const followerGroups: FollowerGroup[] = []
const livenessPolls: LivenessPolls[] = []
const waitingRunsByPort = new Map<number, Parameters<typeof decideApprovals>[1]>()

/** The kinds of load that the clients can run. */
const LOAD_KINDS = {
  sendRequests,
  runTasks,
  appendEvents,
  followTask,
  measureDelivery,
  replayLog,
  runMix,
  decideParked,
  async openIdleStreams(target: Target, options: Parameters<typeof openIdleStreams>[1]) {
    idleStreams.push(...(await openIdleStreams(target, options)))
    return { open: idleStreams.length }
  },
  async openFollowers(target: Target, options: Parameters<typeof openFollowers>[1]) {
    followerGroups.push(await openFollowers(target, options))
    return { open: followerGroups.length }
  },
  waitForLines: async (_target: Target, options: { lines: number }) => waitForLines(followerGroups, options.lines),
  async startPolling(target: Target, _options: object) {
    livenessPolls.push(startPolling(target))
  },
  stopPolling: async (_target: Target, _options: object) => (await livenessPolls.pop()?.stop()) ?? [],
  decideApprovals(target: Target, options: Parameters<typeof decideApprovals>[2]) {
    const waiting = waitingRunsByPort.get(target.port) ?? []
    waitingRunsByPort.set(target.port, waiting)
    return decideApprovals(target, waiting, options)
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
