import type { Writable } from 'node:stream'
import { RESPONSE_TIME_BOUNDS_S, type ResponseCount, type Counts } from '../ctx/counts.ts'
import { createHistogram } from '../ctx/histogram.ts'
import { tuneHeapForStreams } from './heap-tuning/heap-tuning.ts'

/** The counter of a route, by plane and subject; callers cannot choose either. */
export function responseCountFor(counts: Counts, path: string): ResponseCount {
  const { plane, subject } = planeAndSubject(path)
  const known = counts.responses.find((count) => count.plane === plane && count.subject === subject)
  if (known) return known
  const times = createHistogram(RESPONSE_TIME_BOUNDS_S)
  const count = { plane, subject, statuses: [0, 0, 0, 0, 0, 0], times, streaming: 0, maxStreams: 0 }
  counts.responses.push(count)
  return count
}

export function countResponse(count: ResponseCount, status: number): void {
  const digit = Math.floor(status / 100)
  count.statuses[digit] = (count.statuses[digit] ?? 0) + 1
}

/** Counts the stream as open until it closes. */
export function countStream<Out extends Writable>(count: ResponseCount, out: Out): Out {
  // Its close event has already been emitted.
  if (out.destroyed) return out
  count.streaming++
  if (count.streaming > count.maxStreams) {
    count.maxStreams = count.streaming
    tuneHeapForStreams(count.maxStreams)
  }
  return out.once('close', () => count.streaming--)
}

function planeAndSubject(path: string): { plane: string; subject: string } {
  const [, first = '', second = '', third = ''] = path.split('/')
  if (first === 'v1' && second === 'internal') return { plane: 'sandbox', subject: third.replace(/\W.*/, '') }
  if (first === 'v1' && second === 'portal') return { plane: 'client', subject: 'portal' }
  if (first === 'v1' && second === 'auth') return { plane: 'open', subject: 'auth' }
  if (first === 'v1') return { plane: 'founder', subject: second }
  if (first === 'mcp') return { plane: 'founder', subject: 'mcp' }
  return { plane: 'open', subject: first === 'health' ? 'health' : 'page' }
}
