import type { JsonObject } from '../../../platform/base/json.ts'
import { objectField, objectListField, textField } from '../../../platform/base/json-fields.ts'
import { fromSlackText } from '../../../customers/channels/adapters/slack-text.ts'
import type { SlackCall } from '../../../customers/channels/parsers/call-parsers.ts'

/** What a person did in Slack, or what Slack wants to know. */
export type SlackInteraction = { type: 'challenge'; challenge: string } | SlackText | SlackClick | SlackSubmission

/** A direct message, or a command. */
export interface SlackText {
  type: 'text'
  user: string
  text: string
  isCommand: boolean
}

export interface SlackClick {
  type: 'click'
  user: string
  button: string
  value: string
  /** Opens a form within three seconds. */
  triggerId: string
  responseUrl: string
}

export interface SlackSubmission {
  type: 'submit'
  user: string
  form: string
  value: string
  /** By the id of the block. */
  values: Record<string, string>
}

/** What a verified call means. */
export function toSlackInteraction({ event, payload, command }: SlackCall): SlackInteraction | null {
  if (event) return parseEvent(event)
  if (payload) return parsePayload(payload)
  return command && { type: 'text', ...command, isCommand: true }
}

/** Only direct messages of people count: in a channel, others would read the code. */
function parseEvent(call: JsonObject): SlackInteraction | null {
  if (call.type === 'url_verification') return { type: 'challenge', challenge: textField(call, 'challenge') }
  const event = objectField(call, 'event')
  const user = textField(event, 'user')
  const isByPerson = event.type === 'message' && event.channel_type === 'im' && !event.subtype && !event.bot_id
  if (call.type !== 'event_callback' || !isByPerson || !user) return null
  return { type: 'text', user, text: fromSlackText(textField(event, 'text'), []), isCommand: false }
}

function parsePayload(payload: JsonObject): SlackInteraction | null {
  const user = textField(objectField(payload, 'user'), 'id')
  if (!user) return null
  if (payload.type === 'block_actions') return parseClick(payload, user)
  return payload.type === 'view_submission' ? parseForm(objectField(payload, 'view'), user) : null
}

function parseClick(payload: JsonObject, user: string): SlackInteraction | null {
  const [action] = objectListField(payload, 'actions')
  if (action?.type !== 'button') return null
  return {
    type: 'click',
    user,
    button: textField(action, 'action_id'),
    value: textField(action, 'value'),
    triggerId: textField(payload, 'trigger_id'),
    responseUrl: textField(payload, 'response_url'),
  }
}

function parseForm(view: JsonObject, user: string): SlackInteraction {
  const values = objectField(objectField(view, 'state'), 'values')
  return {
    type: 'submit',
    user,
    form: textField(view, 'callback_id'),
    value: textField(view, 'private_metadata'),
    values: Object.fromEntries(Object.keys(values).flatMap((block) => inputValue(block, objectField(values, block)))),
  }
}

/** The value of a block's only input. A field that was emptied is null at Slack. */
function inputValue(block: string, inputs: JsonObject): [string, string][] {
  const input = objectField(inputs, 'value')
  if (input.type === 'static_select') {
    const { selected_option } = input
    return selected_option ? [[block, textField(objectField(input, 'selected_option'), 'value')]] : []
  }
  return [[block, textField(input, 'value')]]
}
