import { hash } from 'node:crypto'
import type { Json } from '../base/json.ts'
import type { Span, Trace } from '../reports/trace.ts'
import type { Tasks } from '../store/tables.ts'
import { attributes, type OtlpSpan, unixNano } from './otlp.ts'

/** A task with thousands of calls must not be a request that no collector takes. */
const MOST_SPANS = 1000

const INTERNAL = 1
const CLIENT = 3
const ERROR = 2

type TracedTask = Pick<Tasks, 'id' | 'project_id' | 'task_type' | 'thread_id' | 'status' | 'created_at'>

/**
 * A finished task as spans after the conventions for generative AI. Names, numbers and ids only: what was asked, done
 * or answered stays in the log. The same log always gives the same ids, so a trace that is sent twice is one trace.
 */
export function otlpSpans(task: TracedTask, { root }: Trace): OtlpSpan[] {
  if (!root) return []
  const all = [root, ...below(root)]
  const left = Math.max(0, all.length - MOST_SPANS)
  const model = modelOf(root)
  const agent = agentSpan(task, root, model, left)
  const others = all.slice(1, MOST_SPANS).map((span) => ({ ...common(task.id, span), ...told(span, model.provider) }))
  return [{ ...common(task.id, root), ...agent }, ...others]
}

type Told = Pick<OtlpSpan, 'name' | 'kind' | 'attributes' | 'status'>
interface Model {
  provider: string
  name: string
}

function agentSpan(task: TracedTask, root: Span, model: Model, left: number): Told {
  const wedge = word(root.attributes.wedge) ?? 'agent'
  const failed = task.status === 'failed' || task.status === 'expired'
  return {
    name: `invoke_agent ${wedge}`,
    kind: INTERNAL,
    status: failed ? { code: ERROR } : {},
    attributes: attributes({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.provider.name': model.provider,
      'gen_ai.request.model': model.name,
      'gen_ai.agent.name': wedge,
      'gen_ai.conversation.id': task.thread_id,
      'error.type': failed ? (reasonOf(root) ?? '_OTHER') : null,
      'svc.task.id': task.id,
      'svc.task.type': task.task_type,
      'svc.task.status': task.status,
      'svc.task.queued_ms': Math.max(0, Date.parse(root.started_at) - Date.parse(task.created_at)),
      'svc.task.cost_usd': amount(root.attributes.cost_usd),
      'svc.task.sandbox': word(root.attributes.sandbox),
      'svc.project.id': task.project_id,
      'svc.spans_left_out': left || null,
    }),
  }
}

function told(span: Span, provider: string): Told {
  switch (span.kind) {
    case 'model':
      return chatSpan(span, provider)
    case 'tool':
      return toolSpan(span)
    case 'approval':
      return approvalSpan(span)
    default:
      return {
        name: 'step',
        kind: INTERNAL,
        status: {},
        attributes: attributes({ 'svc.step': number(span.attributes.step) }),
      }
  }
}

function chatSpan({ attributes: charged }: Span, provider: string): Told {
  const model = word(charged.model) ?? 'model'
  return {
    name: `chat ${model}`,
    kind: CLIENT,
    status: {},
    attributes: attributes({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': provider,
      'gen_ai.request.model': model,
      'gen_ai.usage.input_tokens': number(charged.input_tokens),
      'gen_ai.usage.output_tokens': number(charged.output_tokens),
      'svc.cost_usd': amount(charged.cost_usd),
    }),
  }
}

function toolSpan({ attributes: called, status }: Span): Told {
  const tool = word(called.tool) ?? 'tool'
  return {
    name: `execute_tool ${tool}`,
    kind: INTERNAL,
    status: status === 'failed' ? { code: ERROR } : {},
    attributes: attributes({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': tool,
      'gen_ai.tool.call.id': word(called.call_id),
      'gen_ai.tool.type': 'function',
      'error.type': status === 'failed' ? '_OTHER' : null,
    }),
  }
}

/** A person who says no makes no error. */
function approvalSpan({ attributes: asked }: Span): Told {
  const action = word(asked.action) ?? 'action'
  return {
    name: `approval ${action}`,
    kind: INTERNAL,
    status: {},
    attributes: attributes({
      'svc.approval.id': word(asked.approval_id),
      'svc.approval.action': action,
      'svc.approval.risk': word(asked.risk),
      'svc.approval.decision': word(asked.decision) ?? 'none',
      'svc.approval.edited': asked.edited === true ? true : null,
    }),
  }
}

function common(taskId: string, { span_id, parent_id, started_at, ended_at }: Span) {
  return {
    traceId: digest(taskId, 32),
    spanId: digest(`${taskId} ${span_id}`, 16),
    ...(parent_id !== null && { parentSpanId: digest(`${taskId} ${parent_id}`, 16) }),
    startTimeUnixNano: unixNano(started_at),
    endTimeUnixNano: unixNano(ended_at ?? started_at),
  }
}

const below = (span: Span): Span[] => span.children.flatMap((child) => [child, ...below(child)])

const digest = (text: string, digits: number) => hash('sha256', text).slice(0, digits)

/** As the first event tells it: `provider/name`. */
function modelOf({ attributes: { model } }: Span): Model {
  const [provider = '', ...name] = (typeof model === 'string' ? model : 'none').split('/')
  return { provider, name: name.join('/') || provider }
}

function reasonOf({ attributes: { error } }: Span): string | null {
  return typeof error === 'object' && error !== null && !Array.isArray(error) ? word(error.reason) : null
}

/** Agents name their tools and calls; only what looks like a name is one. */
const word = (value: Json | undefined) => (typeof value === 'string' && /^[\w.:/@-]{1,128}$/.test(value) ? value : null)
const number = (value: Json | undefined) => (typeof value === 'number' ? value : null)
const amount = (value: Json | undefined) => (typeof value === 'number' ? { doubleValue: value } : null)
