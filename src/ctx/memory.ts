import { createCounts } from './counts.ts'
import { type Ctx, neverStart } from './ctx.ts'
import { LiveRuns } from './live-runs.ts'
import { LogFollowers } from './log-followers.ts'
import { Notifications } from './notifications.ts'
import { refuseToStart } from './program-starter.ts'

/** The parts of a context that live in memory, in their initial state. */
export function createMemoryState(): Pick<
  Ctx,
  'notifications' | 'logFollowers' | 'liveRuns' | 'taskStarter' | 'programStarter' | 'fullProjects' | 'counts'
> {
  return {
    notifications: new Notifications(),
    logFollowers: new LogFollowers(),
    liveRuns: new LiveRuns(),
    taskStarter: { tryStart: neverStart },
    programStarter: { start: refuseToStart },
    fullProjects: new Set(),
    counts: createCounts(),
  }
}
