import type { Counts } from '../../platform/ctx/counts.ts'
import { TERMINAL_STATUSES } from '../../work/events/event-types.ts'
import { FAILURE_REASONS } from '../../work/tasks/status.ts'
import { counterFamily, gaugeFamily, histogramFamily, type MetricFamily } from './prometheus-text.ts'
import type { StatusCounters } from './status-counters.ts'

/** What this replica has done since it started. */
export function workMetrics(counts: Counts, counters: StatusCounters): MetricFamily[] {
  return [
    ...statusMetrics(counters),
    ...wedgeMetrics(counts),
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

function statusMetrics({ task, approval }: StatusCounters): MetricFamily[] {
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

/** A wedge that ended a task has all reasons, so that the first failure is a change that a rate can see. */
function wedgeMetrics({ tasks, failures }: Counts): MetricFamily[] {
  const ended = tasks.entries()
  const counted = failures.entries().map(({ labels, count }) => ({ labels, value: count.tasks }))
  const names = new Set(ended.map(({ labels }) => labels.wedge))
  const zeros = [...names].flatMap((wedge) =>
    FAILURE_REASONS.filter(
      (reason) => !counted.some(({ labels }) => labels.wedge === wedge && labels.reason === reason),
    ).map((reason) => ({ labels: { wedge, reason }, value: 0 })),
  )
  return [
    histogramFamily(
      'svc_tasks_seconds',
      'Time from the creation of a task to its end, including the queue and approvals; tasks that this replica ended.',
      ended.map(({ labels, count }) => ({ labels, histogram: count.times })),
    ),
    counterFamily('svc_tasks_failed_total', 'Tasks that this replica ended as failed, by wedge and reason.', [
      ...counted,
      ...zeros,
    ]),
  ]
}

function responseMetrics({ responses, refusedConnections }: Counts): MetricFamily[] {
  const labelled = responses.map((count) => ({ ...count, labels: { plane: count.plane, subject: count.subject } }))
  const requests = labelled.flatMap(({ labels, statuses }) =>
    statuses.flatMap((value, digit) => (value > 0 ? [{ labels: { ...labels, status: `${digit}xx` }, value }] : [])),
  )
  const timed = labelled.filter(({ times }) => times.counts.some((n) => n > 0))
  const streams = new Map<string, number>()
  for (const { plane, streaming } of responses) streams.set(plane, (streams.get(plane) ?? 0) + streaming)
  return [
    counterFamily('svc_http_requests_total', 'Responses by plane, subject and status class.', requests),
    histogramFamily(
      'svc_http_request_seconds',
      'Time from request to the end of the response, without streams and the sandbox plane.',
      timed.map(({ labels, times }) => ({ labels, histogram: times })),
    ),
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

function modelMetrics({ models, modelFailures }: Counts): MetricFamily[] {
  const used = models.entries()
  const tokens = used.flatMap(({ labels, count }) => [
    { labels: { ...labels, type: 'input' }, value: count.inputTokens },
    { labels: { ...labels, type: 'output' }, value: count.outputTokens },
  ])
  const cached = used.flatMap(({ labels, count }) => [
    { labels: { ...labels, type: 'read' }, value: count.cacheReadTokens },
    { labels: { ...labels, type: 'write' }, value: count.cacheWriteTokens },
  ])
  return [
    counterFamily(
      'svc_model_calls_total',
      'Model calls that were charged.',
      used.map(({ labels, count }) => ({ labels, value: count.times.counts.reduce((sum, n) => sum + n, 0) })),
    ),
    histogramFamily(
      'svc_model_call_seconds',
      'Duration of charged model calls, from the request of the agent to the end of the reply, including retries.',
      used.map(({ labels, count }) => ({ labels, histogram: count.times })),
    ),
    counterFamily(
      'svc_model_attempts_failed_total',
      'Attempts to call a model that failed; most are tried again.',
      modelFailures.entries().map(({ labels, count }) => ({ labels, value: count.attempts })),
    ),
    counterFamily('svc_model_tokens_total', 'Tokens of charged model calls; input includes the cache.', tokens),
    counterFamily(
      'svc_model_cache_tokens_total',
      'Input tokens that the cache of the provider served or kept.',
      cached,
    ),
    counterFamily(
      'svc_model_cost_usd_total',
      'Cost of model calls with a known price.',
      used.map(({ labels, count }) => ({ labels, value: count.micros / 1e6 })),
    ),
  ]
}
