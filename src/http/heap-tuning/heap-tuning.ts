import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Opening streams leaves behind almost as much as they hold, and V8 lets that lie until the heap is several times what
 * is used. It reckons how far the heap may grow whenever it collects, so it collects once.
 */
export function reduceHeapGrowth(): void {
  setFlagsFromString('--heap-growing-percent=10')
  setFlagsFromString('--expose-gc')
  void runInNewContext('gc')({ execution: 'async' })
}

const OPENING_MS = 5_000
let opening: NodeJS.Timeout | null = null

/**
 * What many streams are made of stays, and V8 takes that for a sign that young objects need more room: up to 16 MB,
 * which it keeps. So while they are being opened that room does not grow. For good would make all work a third dearer.
 */
export function limitYoungGeneration(): void {
  if (opening) return void opening.refresh()
  setFlagsFromString('--semi-space-growth-factor=1')
  opening = setTimeout(() => {
    opening = null
    setFlagsFromString('--semi-space-growth-factor=2')
  }, OPENING_MS).unref()
}
