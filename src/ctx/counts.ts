/**
 * What this process has done since it started. Plain numbers that are only ever added to, so that counting costs the
 * work that is counted an addition; whoever reads them does the rest.
 */
export interface Counts {
  commits: number
  events: number
  responses: ResponseCount[]
  /** By the name of the model. */
  models: Map<string, ModelCount>
  /** Attempts to deliver a notice, by what became of it; `pending` will be tried again. */
  webhookAttempts: Record<string, number>
  /** Traces of finished tasks that a collector took, and those that nobody will send any more. */
  traces: { sent: number; dropped: number }
}

/** The answers to requests of one plane on one subject, such as the founder's on tasks. */
export interface ResponseCount {
  plane: string
  subject: string
  /** By the first digit of the status. */
  statuses: number[]
  /** How many took no longer than each of `ANSWER_SECONDS`, not counting those of a shorter one; the rest at the end. */
  timeBuckets: number[]
  seconds: number
  /** Answers that are being streamed right now, and the most that ever were at once. */
  streaming: number
  maxStreams: number
}

/** The bounds between quick, slow and stuck: more would be nobody's question. */
export const RESPONSE_TIME_BUCKETS_S = [0.005, 0.025, 0.1, 0.5, 2.5, 10] as const

interface ModelCount {
  calls: number
  inputTokens: number
  outputTokens: number
  micros: number
}

export function createCounts(): Counts {
  return {
    commits: 0,
    events: 0,
    responses: [],
    models: new Map(),
    webhookAttempts: { delivered: 0, pending: 0, failed: 0 },
    traces: { sent: 0, dropped: 0 },
  }
}
