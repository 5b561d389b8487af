import { Notifications } from './notifications.ts'
import { createCounts } from './counts.ts'
import { type Ctx, neverStart } from './ctx.ts'
import { LiveRuns } from './live-runs.ts'
import { LogFollowers } from './log-followers.ts'

/** What a context keeps in memory, as it is before anything has happened. */
export function createMemoryState(): Pick<
  Ctx,
  'notifications' | 'logFollowers' | 'liveRuns' | 'taskStarter' | 'counts'
> {
  return {
    notifications: new Notifications(),
    logFollowers: new LogFollowers(),
    liveRuns: new LiveRuns(),
    taskStarter: { take: neverStart },
    counts: createCounts(),
  }
}
