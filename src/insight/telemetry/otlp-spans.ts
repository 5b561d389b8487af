import { hash } from 'node:crypto'
import type { Json } from '../../platform/base/json.ts'
import { parseTraceparent } from '../../platform/base/trace-context.ts'
import type { TraceSpan, Trace } from '../traces/trace.ts'
import type { TaskRow } from '../../platform/store/tables.ts'
import { toOtlpAttributes, type OtlpSpan, toUnixNano } from './otlp-format.ts'

/** Collectors refuse requests that are too large, so a task with thousands of calls is cut. */
const MAX_SPANS = 1000

const KIND_INTERNAL = 1
const KIND_CLIENT = 3
const STATUS_ERROR = 2

const FLAG_SAMPLED = 0x1
const FLAG_PARENT_LOCATION_KNOWN = 0x100
const FLAG_PARENT_IS_REMOTE = 0x200

type TracedTask = Pick<
  TaskRow,
  'id' | 'project_id' | 'task_type' | 'thread_id' | 'status' | 'created_at' | 'traceparent' | 'tracestate'
>

/**
 * A finished task as spans by OpenTelemetry's conventions for generative AI. Spans contain names, numbers and ids, but
 * no inputs and outputs. The ids follow from the log, so a trace that is sent twice is one trace. If the request that
 * created the task belongs to a trace, the spans continue it.
 */
export function toOtlpSpans(task: TracedTask, { root }: Trace): OtlpSpan[] {
  if (!root) return []
  const all = [root, ...descendants(root)]
  const leftOut = Math.max(0, all.length - MAX_SPANS)
  const model = modelOfRun(root)
  const agent = agentSpan(task, root, model, leftOut)
  const others = all
    .slice(1, MAX_SPANS)
    .map((span) => ({ ...spanIdentity(task, span), ...spanContent(task, span, model.provider) }))
  return [{ ...spanIdentity(task, root), ...agent }, ...others]
}

type SpanContent = Pick<OtlpSpan, 'name' | 'kind' | 'attributes' | 'status'>
interface Model {
  provider: string
  name: string
}

function agentSpan(task: TracedTask, root: TraceSpan, model: Model, leftOut: number): SpanContent {
  const wedge = nameOrNull(root.attributes.wedge) ?? 'agent'
  const failed = task.status === 'failed' || task.status === 'expired'
  return {
    name: `invoke_agent ${wedge}`,
    kind: KIND_INTERNAL,
    status: failed ? { code: STATUS_ERROR } : {},
    attributes: toOtlpAttributes({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.provider.name': model.provider,
      'gen_ai.request.model': model.name,
      'gen_ai.agent.name': wedge,
      'gen_ai.conversation.id': task.thread_id,
      'error.type': failed ? (failureReason(root) ?? '_OTHER') : null,
      'svc.task.id': task.id,
      'svc.task.type': task.task_type,
      'svc.task.status': task.status,
      'svc.task.queued_ms': Math.max(0, Date.parse(root.started_at) - Date.parse(task.created_at)),
      'svc.task.cost_usd': doubleOrNull(root.attributes.cost_usd),
      'svc.task.sandbox': nameOrNull(root.attributes.sandbox),
      'svc.project.id': task.project_id,
      'svc.spans_left_out': leftOut || null,
    }),
  }
}

function spanContent(task: TracedTask, span: TraceSpan, provider: string): SpanContent {
  switch (span.kind) {
    case 'model':
      return chatSpan(task, span, provider)
    case 'tool':
      return toolSpan(span)
    case 'approval':
      return approvalSpan(span)
    default:
      return {
        name: 'step',
        kind: KIND_INTERNAL,
        status: {},
        attributes: toOtlpAttributes({ 'svc.step': numberOrNull(span.attributes.step) }),
      }
  }
}

function chatSpan({ thread_id }: TracedTask, { attributes: charged }: TraceSpan, provider: string): SpanContent {
  const model = nameOrNull(charged.model) ?? 'model'
  const finishReason = nameOrNull(charged.finish_reason)
  return {
    name: `chat ${model}`,
    kind: KIND_CLIENT,
    status: {},
    attributes: toOtlpAttributes({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': nameOrNull(charged.provider) ?? provider,
      'gen_ai.conversation.id': thread_id,
      'gen_ai.request.model': model,
      'gen_ai.request.stream': charged.streamed === true ? true : null,
      'gen_ai.response.model': nameOrNull(charged.response_model),
      'gen_ai.response.finish_reasons': finishReason === null ? null : [finishReason],
      'gen_ai.usage.input_tokens': numberOrNull(charged.input_tokens),
      'gen_ai.usage.cache_read.input_tokens': numberOrNull(charged.cache_read_tokens),
      'gen_ai.usage.cache_creation.input_tokens': numberOrNull(charged.cache_write_tokens),
      'gen_ai.usage.output_tokens': numberOrNull(charged.output_tokens),
      'svc.cost_usd': doubleOrNull(charged.cost_usd),
    }),
  }
}

function toolSpan({ attributes: called, status }: TraceSpan): SpanContent {
  const tool = nameOrNull(called.tool) ?? 'tool'
  return {
    name: `execute_tool ${tool}`,
    kind: KIND_INTERNAL,
    status: status === 'failed' ? { code: STATUS_ERROR } : {},
    attributes: toOtlpAttributes({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': tool,
      'gen_ai.tool.call.id': nameOrNull(called.call_id),
      'gen_ai.tool.type': 'function',
      'error.type': status === 'failed' ? '_OTHER' : null,
    }),
  }
}

/** A rejected approval is not an error. */
function approvalSpan({ attributes: asked }: TraceSpan): SpanContent {
  const action = nameOrNull(asked.action) ?? 'action'
  return {
    name: `approval ${action}`,
    kind: KIND_INTERNAL,
    status: {},
    attributes: toOtlpAttributes({
      'svc.approval.id': nameOrNull(asked.approval_id),
      'svc.approval.action': action,
      'svc.approval.risk': nameOrNull(asked.risk),
      'svc.approval.decision': nameOrNull(asked.decision) ?? 'none',
      'svc.approval.edited': asked.edited === true ? true : null,
    }),
  }
}

function spanIdentity(task: TracedTask, { span_id, parent_id, started_at, ended_at }: TraceSpan) {
  const caller = task.traceparent === null ? null : parseTraceparent(task.traceparent)
  const parentSpanId = parent_id === null ? caller?.spanId : hexDigest(`${task.id} ${parent_id}`, 16)
  const isRemote = parent_id === null && caller !== null
  return {
    traceId: caller?.traceId ?? hexDigest(task.id, 32),
    spanId: hexDigest(`${task.id} ${span_id}`, 16),
    ...(parentSpanId !== undefined && { parentSpanId }),
    ...(task.tracestate !== null && { traceState: task.tracestate }),
    flags: FLAG_SAMPLED | FLAG_PARENT_LOCATION_KNOWN | (isRemote ? FLAG_PARENT_IS_REMOTE : 0),
    startTimeUnixNano: toUnixNano(started_at),
    endTimeUnixNano: toUnixNano(ended_at ?? started_at),
  }
}

const descendants = (span: TraceSpan): TraceSpan[] => span.children.flatMap((child) => [child, ...descendants(child)])

const hexDigest = (text: string, digits: number) => hash('sha256', text).slice(0, digits)

/** The first event of the run names the model as `provider/name`. */
function modelOfRun({ attributes: { model } }: TraceSpan): Model {
  const [provider = '', ...name] = (typeof model === 'string' ? model : 'none').split('/')
  return { provider, name: name.join('/') || provider }
}

function failureReason({ attributes: { error } }: TraceSpan): string | null {
  return typeof error === 'object' && error !== null && !Array.isArray(error) ? nameOrNull(error.reason) : null
}

/** Agents choose the names of tools and calls, so text that does not look like a name is not sent. */
const nameOrNull = (value: Json | undefined) =>
  typeof value === 'string' && /^[\w.:/@-]{1,128}$/.test(value) ? value : null
const numberOrNull = (value: Json | undefined) => (typeof value === 'number' ? value : null)
const doubleOrNull = (value: Json | undefined) => (typeof value === 'number' ? { doubleValue: value } : null)
