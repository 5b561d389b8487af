import { RESPONSE_TIME_BUCKETS_S, type Counts } from '../ctx/counts.ts'
import { TERMINAL_STATUSES } from '../tasks/status.ts'
import { counterFamily, type MetricFamily, gaugeFamily, histogramSamples } from './prometheus-text.ts'
import type { StatusCounters } from './status-counters.ts'

/** What this replica has done since it started. */
export function workMetrics(counts: Counts, counters: StatusCounters): MetricFamily[] {
  return [
    ...taskMetrics(counters),
    counterFamily('svc_commits_total', 'Transactions that were committed.', counts.commits),
    counterFamily('svc_events_total', 'Events that were appended to the logs of tasks.', counts.events),
    ...responseMetrics(counts),
    ...modelMetrics(counts),
    counterFamily(
      'svc_webhook_attempts_total',
      'Attempts to deliver a notice, by what became of it; a pending one is tried again.',
      Object.entries(counts.webhookAttempts).map(([outcome, value]) => ({ labels: { outcome }, value })),
    ),
    counterFamily('svc_traces_sent_total', 'Traces that the collector took.', counts.traces.sent),
    counterFamily('svc_traces_dropped_total', 'Traces that nobody will send any more.', counts.traces.dropped),
  ]
}

function taskMetrics({ task, approval }: StatusCounters): MetricFamily[] {
  const ended = TERMINAL_STATUSES.map((status) => ({ labels: { status }, value: task.get(status) ?? 0 }))
  const decided = ['approved', 'rejected', 'expired']
  return [
    counterFamily('svc_tasks_created_total', 'Tasks that were put into the queue here.', task.get('queued') ?? 0),
    counterFamily('svc_tasks_finished_total', 'Tasks that were ended here, by status.', ended),
    counterFamily(
      'svc_approvals_requested_total',
      'Approvals that were asked of a person here.',
      approval.get('pending') ?? 0,
    ),
    counterFamily(
      'svc_approvals_decided_total',
      'Approvals that were asked of a person and settled here, by decision.',
      decided.map((decision) => ({ labels: { decision }, value: approval.get(decision) ?? 0 })),
    ),
  ]
}

function responseMetrics({ responses: answers }: Counts): MetricFamily[] {
  const labelled = answers.map((count) => ({ ...count, labels: { plane: count.plane, subject: count.subject } }))
  const requests = labelled.flatMap(({ labels, statuses }) =>
    statuses.flatMap((value, digit) => (value > 0 ? [{ labels: { ...labels, status: `${digit}xx` }, value }] : [])),
  )
  const times = labelled
    .filter(({ timeBuckets: within }) => within.some((n) => n > 0))
    .flatMap(({ labels, timeBuckets: within, seconds }) =>
      histogramSamples(labels, RESPONSE_TIME_BUCKETS_S, { within, sum: seconds }),
    )
  const streams = new Map<string, number>()
  for (const { plane, streaming } of answers) streams.set(plane, (streams.get(plane) ?? 0) + streaming)
  return [
    counterFamily('svc_http_requests_total', 'Requests that were answered.', requests),
    {
      name: 'svc_http_request_seconds',
      help: 'Time to the end of an answer; streams and the sandbox plane are left out.',
      type: 'histogram',
      samples: times,
    },
    gaugeFamily(
      'svc_http_streams_open',
      'Answers that are being streamed: followed events, and model calls on the sandbox plane.',
      [...streams].map(([plane, value]) => ({ labels: { plane }, value })),
    ),
  ]
}

function modelMetrics({ models }: Counts): MetricFamily[] {
  const used = [...models].map(([model, count]) => ({ labels: { model }, ...count }))
  const tokens = used.flatMap(({ labels, inputTokens, outputTokens }) => [
    { labels: { ...labels, type: 'input' }, value: inputTokens },
    { labels: { ...labels, type: 'output' }, value: outputTokens },
  ])
  return [
    counterFamily(
      'svc_model_calls_total',
      'Model calls that were charged.',
      used.map(({ labels, calls }) => ({ labels, value: calls })),
    ),
    counterFamily('svc_model_tokens_total', 'Tokens that models were charged for.', tokens),
    counterFamily(
      'svc_model_cost_usd_total',
      'What models have cost, where their price is known.',
      used.map(({ labels, micros }) => ({ labels, value: micros / 1e6 })),
    ),
  ]
}
