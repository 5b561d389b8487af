import { isJsonObject, type Json, type JsonObject } from '../base/json.ts'
import type { Frame } from '../ctx/tails.ts'
import type { EventType } from './types.ts'

type Shown = (data: JsonObject) => Record<string, Json | undefined>

/**
 * What the founder's client may read of a log, on replay and live: these types, and of each these fields. They are named
 * one by one, so that nothing that an event comes to carry, from us or from an agent, becomes public by itself.
 */
const CLIENT_VIEW: Partial<Record<EventType, Shown>> = {
  // Where and by which model it runs, and what the founder calls this kind of work, is the founder's matter.
  'task.created': ({ status }) => ({ status }),
  'step.started': ({ step, label }) => ({ step, label }),
  // What goes into a tool and comes out of it is the founder's systems and other people's data. Of an action the name is told.
  'tool.called': ({ call_id, tool, input }) => ({ call_id, tool, input: tool === 'act' ? nameOf(input) : undefined }),
  'tool.result': ({ call_id, tool, ok }) => ({ call_id, tool, ok }),
  progress: ({ text }) => ({ text: withoutQuestion(text) }),
  // The errors say why the task fails, as that of `task.finished` does.
  'output.validated': ({ ok }) => ({ ok, errors: [] }),
  'artifact.created': ({ artifact_id, name, content_type, size, url }) => ({
    artifact_id,
    name,
    content_type,
    size,
    url: portalAddress(url),
  }),
  // Why a task failed names connections, ceilings and machines: the client learns how it ended.
  'task.finished': ({ status, duration_ms }) => ({ status, duration_ms }),
}

const VIEWS: ReadonlyMap<string, Shown> = new Map(Object.entries(CLIENT_VIEW))

export const CLIENT_EVENTS: readonly string[] = [...VIEWS.keys()]

/** A frame as the founder's client may read it; nothing, where the whole event is internal. */
export function clientText(frame: Frame): string {
  // Made for the first client that follows, and kept for the others. The founder's frame stays as it is.
  frame.clientText ??= viewed(frame)
  return frame.clientText
}

function viewed({ type, text }: Frame): string {
  const view = VIEWS.get(type)
  if (!view) return ''
  const start = text.indexOf(DATA) + DATA.length
  const event: { data: JsonObject } = JSON.parse(text.slice(start))
  return `${text.slice(0, start)}${JSON.stringify({ ...event, data: view(event.data) })}\n\n`
}

const nameOf = (input: Json | undefined): Json | undefined =>
  isJsonObject(input) && typeof input.capability === 'string' ? { capability: input.capability } : undefined

const DATA = '\ndata: '

/** The address in the log is the founder's, where a client's session is a stranger's. */
const portalAddress = (url: Json | undefined): Json | undefined =>
  typeof url === 'string' ? url.replace(/^\/v1\//, '/v1/portal/') : url

/** What an agent does not know it asks the founder: the client learns that it asks, as the contract words it, not what. */
const withoutQuestion = (text: Json | undefined): Json | undefined =>
  typeof text === 'string' && text.trimStart().startsWith(GAP) ? GAP : text

const GAP = 'Missing knowledge:'
