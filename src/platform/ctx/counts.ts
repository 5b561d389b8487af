import { createHistogram, type Histogram } from './histogram.ts'
import { LabelledCounts } from './labelled-counts.ts'

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
  /** Ended tasks. */
  tasks: LabelledCounts<{ wedge: string; status: string }, TaskCount>
  /** Tasks that ended as failed. */
  failures: LabelledCounts<{ wedge: string; reason: string }, { tasks: number }>
  /** Charged model calls. */
  models: LabelledCounts<{ model: string; wedge: string }, ModelCount>
  /** Attempts to call a model that gave no reply. */
  modelFailures: LabelledCounts<{ model: string; reason: string }, { attempts: number }>
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
  times: Histogram
  /** Streams that are open now, and the maximum since the start. */
  streaming: number
  maxStreams: number
}

/** Bounds of histograms, in seconds. A task may wait for hours for an approval. */
export const RESPONSE_TIME_BOUNDS_S = [0.005, 0.025, 0.1, 0.5, 2.5, 10]
const TASK_TIME_BOUNDS_S = [0.1, 0.5, 2.5, 10, 30, 120, 600, 3_600, 21_600, 86_400]
const MODEL_TIME_BOUNDS_S = [0.25, 0.5, 1, 2.5, 5, 10, 20, 60, 180, 600]

interface TaskCount {
  times: Histogram
}

interface ModelCount {
  inputTokens: number
  outputTokens: number
  /** Parts of the input tokens. */
  cacheReadTokens: number
  cacheWriteTokens: number
  micros: number
  /** Every charged call is in it once. */
  times: Histogram
}

const OTHER = 'other'

export function createCounts(): Counts {
  return {
    commits: 0,
    events: 0,
    responses: [],
    refusedConnections: 0,
    tasks: new LabelledCounts({ wedge: OTHER, status: OTHER }, () => ({ times: createHistogram(TASK_TIME_BOUNDS_S) })),
    failures: new LabelledCounts({ wedge: OTHER, reason: OTHER }, () => ({ tasks: 0 })),
    models: new LabelledCounts({ model: OTHER, wedge: OTHER }, createModelCount),
    modelFailures: new LabelledCounts({ model: OTHER, reason: OTHER }, () => ({ attempts: 0 })),
    webhookAttempts: { delivered: 0, pending: 0, failed: 0 },
    traces: { sent: 0, dropped: 0 },
  }
}

const createModelCount = (): ModelCount => ({
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  micros: 0,
  times: createHistogram(MODEL_TIME_BOUNDS_S),
})
