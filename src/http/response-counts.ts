import type { Writable } from 'node:stream'
import { RESPONSE_TIME_BUCKETS_S, type ResponseCount, type Counts } from '../ctx/counts.ts'
import { reduceHeapGrowth, limitYoungGeneration } from './heap-tuning/heap-tuning.ts'

/** The count that a route adds to: by plane and subject, never by anything that a caller chose. */
export function responseCountFor(counts: Counts, path: string): ResponseCount {
  const { plane, subject } = planeAndSubject(path)
  const known = counts.responses.find((count) => count.plane === plane && count.subject === subject)
  if (known) return known
  const timeBuckets = Array.from({ length: RESPONSE_TIME_BUCKETS_S.length + 1 }, () => 0)
  const count = { plane, subject, statuses: [0, 0, 0, 0, 0, 0], timeBuckets, seconds: 0, streaming: 0, maxStreams: 0 }
  counts.responses.push(count)
  return count
}

export function countResponse(count: ResponseCount, status: number): void {
  const digit = Math.floor(status / 100)
  count.statuses[digit] = (count.statuses[digit] ?? 0) + 1
}

export function countResponseTime(count: ResponseCount, ms: number): void {
  const seconds = ms / 1000
  let place = 0
  while (seconds > (RESPONSE_TIME_BUCKETS_S[place] ?? Number.POSITIVE_INFINITY)) place++
  count.timeBuckets[place] = (count.timeBuckets[place] ?? 0) + 1
  count.seconds += seconds
}

/** From here on it is worth something to keep memory close to what is used. */
const SOME_STREAMS = 200
const MANY_STREAMS = 1000

export function countStream<Out extends Writable>(count: ResponseCount, out: Out): Out {
  // Its end has been told already.
  if (out.destroyed) return out
  count.streaming++
  if (count.streaming > count.maxStreams) {
    count.maxStreams = count.streaming
    if (count.maxStreams >= SOME_STREAMS) limitYoungGeneration()
    if (count.maxStreams === MANY_STREAMS) reduceHeapGrowth()
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
