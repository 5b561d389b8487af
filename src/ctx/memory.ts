import { Bells } from './bells.ts'
import { newCounts } from './counts.ts'
import { type Ctx, nobody } from './ctx.ts'
import { LiveRuns } from './live.ts'
import { Tails } from './tails.ts'

/** What a context keeps in memory, as it is before anything has happened. */
export function newMemory(): Pick<Ctx, 'bells' | 'tails' | 'live' | 'taker' | 'counts'> {
  return { bells: new Bells(), tails: new Tails(), live: new LiveRuns(), taker: { take: nobody }, counts: newCounts() }
}
