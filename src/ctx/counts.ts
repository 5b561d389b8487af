/**
 * What this process has done since it started, for the metrics. Plain numbers, so that counting costs one addition; the
 * metrics endpoint formats them when it is read.
 */
export interface Counts {
  commits: number
  events: number
  responses: ResponseCount[]
  /** Connections that were closed because their address had too many. */
  refusedConnections: number
  /** By the name of the model. */
  models: Map<string, ModelCount>
  /** Attempts to deliver an event to a webhook, by result; `pending` is retried. */
  webhookAttempts: Record<string, number>
  /** Traces of finished tasks: accepted by the collector, or dropped after failed attempts. */
  traces: { sent: number; dropped: number }
}

/** Responses of one plane about one subject, for example `founder` and `tasks`. */
export interface ResponseCount {
  plane: string
  subject: string
  /** By the first digit of the status. */
  statuses: number[]
  /** Responses by duration: one number for each of `RESPONSE_TIME_BUCKETS_S`, and a last one for longer responses. */
  timeBuckets: number[]
  seconds: number
  /** Streams that are open now, and the maximum since the start. */
  streaming: number
  maxStreams: number
}

/** The upper bounds of the histogram of response times, in seconds. */
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
    refusedConnections: 0,
    models: new Map(),
    webhookAttempts: { delivered: 0, pending: 0, failed: 0 },
    traces: { sent: 0, dropped: 0 },
  }
}
