import type { Writable } from 'node:stream'
import { ANSWER_SECONDS, type AnswerCount, type Counts } from '../ctx/counts.ts'
import { collectSooner, keepYoungSpace } from './collect-sooner.ts'

/** The count that a route adds to: by plane and subject, never by anything that a caller chose. */
export function countFor(counts: Counts, path: string): AnswerCount {
  const { plane, subject } = placeOf(path)
  const known = counts.answers.find((count) => count.plane === plane && count.subject === subject)
  if (known) return known
  const within = Array.from({ length: ANSWER_SECONDS.length + 1 }, () => 0)
  const count = { plane, subject, statuses: [0, 0, 0, 0, 0, 0], within, seconds: 0, streaming: 0, mostStreams: 0 }
  counts.answers.push(count)
  return count
}

export function countAnswer(count: AnswerCount, status: number): void {
  const digit = Math.floor(status / 100)
  count.statuses[digit] = (count.statuses[digit] ?? 0) + 1
}

export function countTime(count: AnswerCount, ms: number): void {
  const seconds = ms / 1000
  let place = 0
  while (seconds > (ANSWER_SECONDS[place] ?? Number.POSITIVE_INFINITY)) place++
  count.within[place] = (count.within[place] ?? 0) + 1
  count.seconds += seconds
}

/** From here on it is worth something to keep memory close to what is used. */
const SOME_STREAMS = 200
const MANY_STREAMS = 1000

export function whileStreaming<Out extends Writable>(count: AnswerCount, out: Out): Out {
  // Its end has been told already.
  if (out.destroyed) return out
  count.streaming++
  if (count.streaming > count.mostStreams) {
    count.mostStreams = count.streaming
    if (count.mostStreams >= SOME_STREAMS) keepYoungSpace()
    if (count.mostStreams === MANY_STREAMS) collectSooner()
  }
  return out.once('close', () => count.streaming--)
}

function placeOf(path: string): { plane: string; subject: string } {
  const [, first = '', second = '', third = ''] = path.split('/')
  if (first === 'v1' && second === 'internal') return { plane: 'sandbox', subject: third.replace(/\W.*/, '') }
  if (first === 'v1' && second === 'portal') return { plane: 'client', subject: 'portal' }
  if (first === 'v1' && second === 'auth') return { plane: 'open', subject: 'auth' }
  if (first === 'v1') return { plane: 'founder', subject: second }
  if (first === 'mcp') return { plane: 'founder', subject: 'mcp' }
  return { plane: 'open', subject: first === 'health' ? 'health' : 'page' }
}
