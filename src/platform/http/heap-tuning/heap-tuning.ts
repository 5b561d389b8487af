import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** From this many open streams on, the young generation does not grow while streams are being opened. */
const YOUNG_LIMIT_STREAMS = 200
/** At this many open streams, the old generation is collected once and grows more slowly from then on. */
const SLOW_GROWTH_STREAMS = 1000
const OPENING_MS = 5_000

let opening: NodeJS.Timeout | null = null

/** Called whenever more streams are open than ever before. README.md in this folder explains why. */
export function tuneHeapForStreams(openStreams: number): void {
  if (openStreams >= YOUNG_LIMIT_STREAMS) limitYoungGeneration()
  if (openStreams === SLOW_GROWTH_STREAMS) slowHeapGrowth()
}

function limitYoungGeneration(): void {
  if (opening) return void opening.refresh()
  setFlagsFromString('--semi-space-growth-factor=1')
  opening = setTimeout(() => {
    opening = null
    setFlagsFromString('--semi-space-growth-factor=2')
  }, OPENING_MS).unref()
}

/** V8 computes the next limit of the heap when it collects, so the new growth factor needs a collection. */
function slowHeapGrowth(): void {
  setFlagsFromString('--heap-growing-percent=10')
  setFlagsFromString('--expose-gc')
  void runInNewContext('gc')({ execution: 'async' })
}
