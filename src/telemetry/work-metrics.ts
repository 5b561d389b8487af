import { RESPONSE_TIME_BUCKETS_S, type Counts } from '../ctx/counts.ts'
import { TERMINAL_STATUSES } from '../events/event-types.ts'
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
      'Webhook delivery attempts by outcome; a pending delivery is tried again.',
      Object.entries(counts.webhookAttempts).map(([outcome, value]) => ({ labels: { outcome }, value })),
    ),
    counterFamily('svc_traces_sent_total', 'Traces that the collector accepted.', counts.traces.sent),
    counterFamily(
      'svc_traces_dropped_total',
      'Traces that were not sent and will not be tried again.',
      counts.traces.dropped,
    ),
  ]
}

function taskMetrics({ task, approval }: StatusCounters): MetricFamily[] {
  const ended = TERMINAL_STATUSES.map((status) => ({ labels: { status }, value: task.get(status) ?? 0 }))
  const decided = ['approved', 'rejected', 'expired']
  return [
    counterFamily('svc_tasks_created_total', 'Tasks that this replica queued.', task.get('queued') ?? 0),
    counterFamily('svc_tasks_finished_total', 'Tasks that this replica ended, by status.', ended),
    counterFamily(
      'svc_approvals_requested_total',
      'Approvals that this replica requested from a person.',
      approval.get('pending') ?? 0,
    ),
    counterFamily(
      'svc_approvals_decided_total',
      'Approvals of a person that were decided on this replica, by decision.',
      decided.map((decision) => ({ labels: { decision }, value: approval.get(decision) ?? 0 })),
    ),
  ]
}

function responseMetrics({ responses, refusedConnections }: Counts): MetricFamily[] {
  const labelled = responses.map((count) => ({ ...count, labels: { plane: count.plane, subject: count.subject } }))
  const requests = labelled.flatMap(({ labels, statuses }) =>
    statuses.flatMap((value, digit) => (value > 0 ? [{ labels: { ...labels, status: `${digit}xx` }, value }] : [])),
  )
  const times = labelled
    .filter(({ timeBuckets }) => timeBuckets.some((n) => n > 0))
    .flatMap(({ labels, timeBuckets: counts, seconds }) =>
      histogramSamples(labels, RESPONSE_TIME_BUCKETS_S, { counts, sum: seconds }),
    )
  const streams = new Map<string, number>()
  for (const { plane, streaming } of responses) streams.set(plane, (streams.get(plane) ?? 0) + streaming)
  return [
    counterFamily('svc_http_requests_total', 'Responses by plane, subject and status class.', requests),
    {
      name: 'svc_http_request_seconds',
      help: 'Time from request to the end of the response, without streams and the sandbox plane.',
      type: 'histogram',
      samples: times,
    },
    counterFamily(
      'svc_http_connections_refused_total',
      'Connections that were closed because their address had too many without a valid credential.',
      refusedConnections,
    ),
    gaugeFamily(
      'svc_http_streams_open',
      'Open streams: followed events, and model calls on the sandbox plane.',
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
    counterFamily('svc_model_tokens_total', 'Tokens of charged model calls.', tokens),
    counterFamily(
      'svc_model_cost_usd_total',
      'Cost of model calls with a known price.',
      used.map(({ labels, micros }) => ({ labels, value: micros / 1e6 })),
    ),
  ]
}
