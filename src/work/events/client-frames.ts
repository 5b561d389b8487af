import { isJsonObject, type Json, type JsonObject } from '../../platform/base/json.ts'
import { isClientFile } from '../../platform/contract/agent-protocol.ts'
import type { EventFrame } from '../../platform/ctx/log-followers.ts'
import type { EventType } from './event-types.ts'

/** Null for an event that the client may not read. */
type FieldFilter = (data: JsonObject) => Record<string, Json | undefined> | null

/**
 * The event types and fields that clients may read, on replay and live. This is an allow list, so that a new field of an
 * event is not shown to clients by accident.
 */
const CLIENT_FIELDS: Partial<Record<EventType, FieldFilter>> = {
  // Sandbox, model, wedge and task type are internal to the founder.
  'task.created': ({ status }) => ({ status }),
  'step.started': ({ step, label }) => ({ step, label }),
  // Tool inputs and outputs hold data of the founder's systems and of other people; an action shows its name only.
  'tool.called': ({ call_id, tool, input }) => ({
    call_id,
    tool,
    input: tool === 'act' ? onlyCapability(input) : undefined,
  }),
  'tool.result': ({ call_id, tool, ok }) => ({ call_id, tool, ok }),
  // A text with a state is about the run and its rules, and is meant for the founder.
  progress: ({ text, state }) => (state === undefined ? { text: withoutQuestion(text) } : null),
  // Validation errors are internal, like the error of `task.finished`.
  'output.validated': ({ ok }) => ({ ok, errors: [] }),
  'artifact.created': ({ artifact_id, name, content_type, size, url }) =>
    typeof name === 'string' && isClientFile(name)
      ? { artifact_id, name, content_type, size, url: toPortalUrl(url) }
      : null,
  // The error names connections, limits and machines, so the client sees the status only.
  'task.finished': ({ status, duration_ms }) => ({ status, duration_ms }),
}

/** What the client is asked. It is shown as `progress`, because clients read no event of an approval. */
const CLIENT_REQUESTS: ReadonlyMap<string, FieldFilter> = new Map<EventType, FieldFilter>([
  [
    'approval.requested',
    ({ to, asks_client, approval_id, preview }) => {
      if (asks_client) return { text: 'Your approval is needed', approval_id }
      return to === 'client' && isJsonObject(preview) ? { text: preview.question, question_id: approval_id } : null
    },
  ],
  [
    'approval.resolved',
    ({ to, asks_client, approval_id, decision }) => {
      const isApproved = decision === 'approved'
      if (asks_client) return { text: isApproved ? 'Approved' : 'Not approved', approval_id, decision }
      const text = isApproved ? 'Question answered' : 'Question declined'
      return to === 'client' ? { text, question_id: approval_id } : null
    },
  ],
])

const FILTERS_BY_TYPE: ReadonlyMap<string, FieldFilter> = new Map(Object.entries(CLIENT_FIELDS))

export const CLIENT_EVENT_TYPES: readonly string[] = [...FILTERS_BY_TYPE.keys()]

/** The frame that a client may read; empty for an internal event. */
export function clientFrameText(frame: EventFrame): string {
  // Cached for the other clients that follow the same log.
  frame.clientText ??= filterFrame(frame)
  return frame.clientText
}

function filterFrame({ type, text }: EventFrame): string {
  const request = CLIENT_REQUESTS.get(type)
  const view = request ?? FILTERS_BY_TYPE.get(type)
  if (!view) return ''
  const start = text.indexOf(DATA_LINE) + DATA_LINE.length
  const event: { type: string; data: JsonObject } = JSON.parse(text.slice(start))
  const data = view(event.data)
  if (data === null) return ''
  const head = text.slice(0, start)
  if (!request) return `${head}${JSON.stringify({ ...event, data })}\n\n`
  return `${head.replace(type, 'progress')}${JSON.stringify({ ...event, type: 'progress', data })}\n\n`
}

const onlyCapability = (input: Json | undefined): Json | undefined =>
  isJsonObject(input) && typeof input.capability === 'string' ? { capability: input.capability } : undefined

const DATA_LINE = '\ndata: '

/** The URL in the log is for founders; clients need the portal URL. */
const toPortalUrl = (url: Json | undefined): Json | undefined =>
  typeof url === 'string' ? url.replace(/^\/v1\//, '/v1/portal/') : url

/** A knowledge gap is a question to the founder: the client sees that there is one, but not its text. */
const withoutQuestion = (text: Json | undefined): Json | undefined =>
  typeof text === 'string' && text.trimStart().startsWith(GAP_PREFIX) ? GAP_PREFIX : text

const GAP_PREFIX = 'Missing knowledge:'
