import { z } from 'zod'
import { jsonObject, jsonValue } from '../../platform/http/validate.ts'

const askedOf = z
  .enum(['team', 'client'])
  .optional()
  .meta({ description: 'Who is asked a question. Only questions have it.' })

const asksClient = z
  .literal(true)
  .optional()
  .meta({ description: 'The client of the task may decide about this request, which is no question.' })

/** The statuses of a task that has ended. */
export const TERMINAL_STATUSES = ['succeeded', 'failed', 'rejected', 'expired', 'cancelled'] as const

/** The thirteen event types and their data. Fields may be added; clients ignore what they do not know. */
export const EVENT_DATA = {
  'task.created': z.object({
    wedge: z.string(),
    task_type: z.string(),
    status: z.literal('running'),
    sandbox: z.string(),
    model: z.string(),
  }),
  'step.started': z.object({ step: jsonValue, label: jsonValue }),
  'tool.called': z.object({
    call_id: z.string(),
    tool: z.string(),
    input: jsonValue,
    truncated: z.literal(true).optional(),
  }),
  'tool.result': z.object({
    call_id: z.string(),
    tool: z.string(),
    ok: z.boolean(),
    output: jsonValue.optional(),
    error: jsonValue.optional(),
    truncated: z.literal(true).optional(),
  }),
  progress: z.object({
    text: z.string(),
    state: z.enum(['parked', 'resumed', 'model_switched', 'approval_left_out']).optional().meta({
      description:
        'The run left its process, continues in another one, or continues with another model; or a step needs no approval, because the reply after it needs one.',
    }),
    model: z.string().optional().meta({ description: 'With `model_switched`: the model that the run now uses.' }),
    question_id: z
      .string()
      .optional()
      .meta({ description: 'Only in the stream of a client: the question to the client that was asked or decided.' }),
  }),
  'token.delta': z.object({ text: z.string() }),
  'approval.requested': z.object({
    approval_id: z.string(),
    action: z.string(),
    risk: z.string(),
    to: askedOf,
    asks_client: asksClient,
    connection: z.string().optional().meta({ description: 'The connection that the action would use, if any.' }),
    preview: jsonValue,
    text: z.string().nullish().meta({ description: 'What an action of a named tool does, in one line.' }),
    amount: jsonObject.nullish().meta({ description: 'As in the approval.' }),
    expires_at: z.string(),
  }),
  'approval.resolved': z.object({
    approval_id: z.string(),
    action: z.string(),
    decision: z.enum(['approved', 'rejected', 'auto_approved']),
    policy_reason: z.string().optional(),
    decided_by: jsonObject.optional(),
    edited: z.boolean().optional(),
    revise: z.boolean().optional(),
    to: askedOf,
    asks_client: asksClient,
  }),
  'output.validated': z.object({
    ok: z.boolean(),
    errors: z.array(z.object({ path: z.string(), message: z.string() })),
  }),
  'artifact.created': z.object({
    artifact_id: z.string(),
    name: z.string(),
    content_type: z.string(),
    size: z.number().int().meta({ description: 'Bytes.' }),
    url: z.string(),
  }),
  'cost.charged': z.object({
    provider: z.string().optional(),
    model: z.string(),
    response_model: z
      .string()
      .optional()
      .meta({ description: 'The model that wrote the reply, as the provider says.' }),
    finish_reason: z.string().optional().meta({ description: 'Why the model stopped, in the words of the provider.' }),
    streamed: z.boolean().optional(),
    input_tokens: z.number().int().meta({ description: 'Includes the tokens of the cache.' }),
    cache_read_tokens: z.number().int().optional(),
    cache_write_tokens: z.number().int().optional(),
    output_tokens: z.number().int(),
    duration_ms: z.number().optional().meta({ description: 'From the request of the agent to the end of the reply.' }),
    cost_usd: z.number(),
    total_usd: z.number(),
    unpriced: z.boolean().optional().meta({ description: 'The model has no known price.' }),
  }),
  'feedback.recorded': z.object({
    source: z.enum(['approval', 'task']),
    knowledge_id: z.string().nullable(),
    rating: jsonValue.optional(),
    note: z.string().optional(),
  }),
  'task.finished': z.object({
    status: z.enum(TERMINAL_STATUSES),
    error: z.object({ reason: z.string(), message: z.string() }).optional(),
    duration_ms: z.number(),
  }),
} as const

export type EventType = keyof typeof EVENT_DATA

export type EventData = { [Type in EventType]: z.output<(typeof EVENT_DATA)[Type]> }

export type NewEvent = { [Type in EventType]: { type: Type; data: EventData[Type] } }[EventType]

/** An event as the stream sends it, for the reference; the stream itself passes stored text on. */
export const EventView = z.discriminatedUnion('type', eventVariants()).meta({
  id: 'Event',
  description: 'One event of a task. `type` decides what `data` holds.',
  discriminator: { propertyName: 'type', mapping: eventSchemasByType() },
})

/** Generated clients need the mapping, because the schemas are not named like the types. */
function eventSchemasByType(): Record<string, string> {
  return Object.fromEntries(
    Object.keys(EVENT_DATA).map((type) => [type, `#/components/schemas/${eventSchemaName(type)}`]),
  )
}

function eventVariants() {
  const [first, ...rest] = Object.entries(EVENT_DATA).map(([type, data]) =>
    z
      .object({
        id: z.number().int().min(1).meta({ description: 'The same as `seq`.' }),
        task_id: z.string(),
        seq: z.number().int().min(1).meta({ description: 'Counts from 1 in each task, without gaps.' }),
        type: z.literal(type),
        ts: z.string(),
        data,
      })
      .meta({ id: eventSchemaName(type) }),
  )
  if (!first) throw new Error('there are no event types')
  return [first, ...rest] as const
}

function eventSchemaName(type: string): string {
  return `${type.replace(/(?:^|\.)([a-z])/g, (_, letter: string) => letter.toUpperCase())}Event`
}
