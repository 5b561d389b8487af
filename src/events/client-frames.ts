import { isJsonObject, type Json, type JsonObject } from '../base/json.ts'
import type { EventFrame } from '../ctx/log-followers.ts'
import type { EventType } from './event-types.ts'

type FieldFilter = (data: JsonObject) => Record<string, Json | undefined>

/**
 * What the founder's client may read of a log, on replay and live: these types, and of each these fields. They are named
 * one by one, so that nothing that an event comes to carry, from us or from an agent, becomes public by itself.
 */
const CLIENT_FIELDS: Partial<Record<EventType, FieldFilter>> = {
  // Where and by which model it runs, and what the founder calls this kind of work, is the founder's matter.
  'task.created': ({ status }) => ({ status }),
  'step.started': ({ step, label }) => ({ step, label }),
  // What goes into a tool and comes out of it is the founder's systems and other people's data. Of an action the name is told.
  'tool.called': ({ call_id, tool, input }) => ({
    call_id,
    tool,
    input: tool === 'act' ? onlyCapability(input) : undefined,
  }),
  'tool.result': ({ call_id, tool, ok }) => ({ call_id, tool, ok }),
  progress: ({ text }) => ({ text: withoutQuestion(text) }),
  // The errors say why the task fails, as that of `task.finished` does.
  'output.validated': ({ ok }) => ({ ok, errors: [] }),
  'artifact.created': ({ artifact_id, name, content_type, size, url }) => ({
    artifact_id,
    name,
    content_type,
    size,
    url: toPortalUrl(url),
  }),
  // Why a task failed names connections, ceilings and machines: the client learns how it ended.
  'task.finished': ({ status, duration_ms }) => ({ status, duration_ms }),
}

const FILTERS_BY_TYPE: ReadonlyMap<string, FieldFilter> = new Map(Object.entries(CLIENT_FIELDS))

export const CLIENT_EVENT_TYPES: readonly string[] = [...FILTERS_BY_TYPE.keys()]

/** A frame as the founder's client may read it; nothing, where the whole event is internal. */
export function clientFrameText(frame: EventFrame): string {
  // Made for the first client that follows, and kept for the others. The founder's frame stays as it is.
  frame.clientText ??= filterFrame(frame)
  return frame.clientText
}

function filterFrame({ type, text }: EventFrame): string {
  const view = FILTERS_BY_TYPE.get(type)
  if (!view) return ''
  const start = text.indexOf(DATA_LINE) + DATA_LINE.length
  const event: { data: JsonObject } = JSON.parse(text.slice(start))
  return `${text.slice(0, start)}${JSON.stringify({ ...event, data: view(event.data) })}\n\n`
}

const onlyCapability = (input: Json | undefined): Json | undefined =>
  isJsonObject(input) && typeof input.capability === 'string' ? { capability: input.capability } : undefined

const DATA_LINE = '\ndata: '

/** The address in the log is the founder's, where a client's session is a stranger's. */
const toPortalUrl = (url: Json | undefined): Json | undefined =>
  typeof url === 'string' ? url.replace(/^\/v1\//, '/v1/portal/') : url

/** What an agent does not know it asks the founder: the client learns that it asks, as the contract words it, not what. */
const withoutQuestion = (text: Json | undefined): Json | undefined =>
  typeof text === 'string' && text.trimStart().startsWith(GAP_PREFIX) ? GAP_PREFIX : text

const GAP_PREFIX = 'Missing knowledge:'
