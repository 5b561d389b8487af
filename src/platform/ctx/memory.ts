import { join } from 'node:path'
import { ByteBudget } from './byte-budget.ts'
import { createCounts } from './counts.ts'
import { type Ctx, neverStart } from './ctx.ts'
import { LiveRuns } from './live-runs.ts'
import { LogFollowers } from './log-followers.ts'
import { ChangeHints } from './change-hints.ts'
import { refuseToStart } from './program-starter.ts'
import { programsFolder } from '../config/programs-folder.ts'
import { WorkerThread } from './worker-thread.ts'

/** Two of the largest mails that a provider sends, which take twice their bytes while their parts are joined. */
const MAX_HOOK_BYTES = 256 * 1024 * 1024

/** The parts of a context that live in memory, in their initial state. */
export function createMemoryState(): Pick<
  Ctx,
  | 'changeHints'
  | 'logFollowers'
  | 'liveRuns'
  | 'taskStarter'
  | 'messageAnswers'
  | 'programStarter'
  | 'fullProjects'
  | 'hookBodies'
  | 'parserThreads'
  | 'counts'
> {
  const parser = join(programsFolder(), 'parser-thread.cjs')
  return {
    changeHints: new ChangeHints(),
    logFollowers: new LogFollowers(),
    liveRuns: new LiveRuns(),
    taskStarter: { tryStart: neverStart },
    messageAnswers: { tryAnswer: async () => null },
    programStarter: { start: refuseToStart },
    fullProjects: new Set(),
    hookBodies: new ByteBudget(MAX_HOOK_BYTES),
    parserThreads: { calls: new WorkerThread(parser), mails: new WorkerThread(parser) },
    counts: createCounts(),
  }
}
