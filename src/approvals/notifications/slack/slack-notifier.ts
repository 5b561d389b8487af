import type { JsonObject } from '../../../platform/base/json.ts'
import { textField } from '../../../platform/base/json-fields.ts'
import { badRequest } from '../../../platform/base/problem.ts'
import { isProviderAddress } from '../../../customers/channels/adapters/provider-api.ts'
import {
  callSlack,
  slackBody,
  slackMessageId,
  verifySlackBody,
  verifySlackHead,
} from '../../../customers/channels/adapters/slack-api.ts'
import { toSlackText } from '../../../customers/channels/adapters/slack-text.ts'
import type { UpstreamResponse } from '../../../connections/calls/executor.ts'
import { sendOutgoing } from '../../../connections/calls/http-request.ts'
import type { Connection } from '../../../connections/connection/rows.ts'
import type { Ctx } from '../../../platform/ctx/ctx.ts'
import { openSecret } from '../../../identity/vault/secrets.ts'
import { parseReference } from '../approval-reference.ts'
import type { Card, Notice } from '../card.ts'
import type { EditField } from '../edit-fields.ts'
import {
  type DecideEvent,
  NoticeDelayed,
  NoticeRefused,
  type Notifier,
  type NotifierActivity,
  type NotifierCall,
  type Respond,
  type ShowEvent,
} from '../notifier.ts'
import { editForm, rejectForm, reviseForm, toSlackMessage } from './slack-card.ts'
import { toSlackInteraction, type SlackClick, type SlackSubmission, type SlackText } from './slack-interaction.ts'

/** Tells members in direct messages of a Slack app. The connection's secret is the bot token. */
export const slackNotifier: Notifier = {
  kind: 'slack',
  secret: 'the signing secret of the Slack app',
  decidesOnPage: false,
  checkConnection({ kind }) {
    if (kind !== 'custom') throw badRequest("field 'connection' must name a connection of the kind 'custom'")
  },
  async post(ctx, { connection, address }, notice) {
    return {
      externalId: slackMessageId(await sendMessage(ctx, connection, 'chat.postMessage', { channel: address }, notice)),
    }
  },
  async rewrite(ctx, { connection }, externalId, notice) {
    const [channel = '', ts = ''] = externalId.split(':')
    await sendMessage(ctx, connection, 'chat.update', { channel, ts }, notice)
  },
  hook: { verifyHead: verifySlackHead, verifyBody: verifySlackBody, parse: toActivity },
}

/** After these errors another attempt is refused as well. */
const FINAL_ERRORS = [
  'account_inactive',
  'cannot_dm_bot',
  'cant_update_message',
  'channel_not_found',
  'edit_window_closed',
  'message_not_found',
  'messages_tab_disabled',
  'user_disabled',
  'user_not_found',
]

/** Slack takes about one message a second in each conversation, and asks for a wait of up to 30 seconds. */
const RATE_LIMIT_WAIT_MS = 30_000

async function sendMessage(
  ctx: Ctx,
  connection: Connection,
  method: string,
  target: Record<string, string>,
  notice: Notice,
): Promise<UpstreamResponse> {
  const { text, blocks } = toSlackMessage(notice)
  return callWithBot(ctx, connection, method, { ...target, text, blocks: JSON.stringify(blocks) })
}

async function callWithBot(
  ctx: Ctx,
  connection: Connection,
  method: string,
  fields: Record<string, string>,
): Promise<UpstreamResponse> {
  const response = await callSlack(ctx, { connection, token: await openSecret(ctx, connection) }, method, fields)
  if (response.ok) return response
  const message = response.error ?? 'slack did not accept the call'
  if (response.status === 429) throw new NoticeDelayed(message, RATE_LIMIT_WAIT_MS)
  throw FINAL_ERRORS.includes(textField(slackBody(response), 'error')) ? new NoticeRefused(message) : new Error(message)
}

async function toActivity(ctx: Ctx, call: NotifierCall): Promise<NotifierActivity> {
  const interaction = toSlackInteraction(await call.read('slackCall', null))
  switch (interaction?.type) {
    case 'challenge':
      return { events: [], response: () => ({ challenge: interaction.challenge }) }
    case 'text':
      return linkActivity(ctx, call.connection, interaction)
    case 'click':
      return clickActivity(ctx, call.connection, interaction)
    case 'submit':
      return submitActivity(interaction)
    default:
      return { events: [] }
  }
}

/** A code comes in a direct message, or with a command, whose response only the member sees. */
function linkActivity(ctx: Ctx, connection: Connection, { user, text, isCommand }: SlackText): NotifierActivity {
  let response: JsonObject | null = null
  const respond: Respond = async (_kind, answer) => {
    if (isCommand) response = { response_type: 'ephemeral', text: toSlackText(answer) }
    else await callWithBot(ctx, connection, 'chat.postMessage', { channel: user, text: toSlackText(answer) })
  }
  return { events: [{ type: 'link', code: text.trim(), address: user, respond }], response: () => response }
}

function clickActivity(ctx: Ctx, connection: Connection, click: SlackClick): NotifierActivity {
  const reference = parseReference(click.value)
  if (!reference) return { events: [] }
  const respond: Respond = async (kind, text) => {
    if (kind !== 'done') await postEphemeral(ctx, connection, click.responseUrl, text)
  }
  const event = { address: click.user, reference, respond }
  if (click.button === 'undo') return { events: [{ type: 'undo', ...event }] }
  if (click.button === 'approve') return { events: [{ type: 'decide', ...event, decision: 'approve', inputs: [] }] }
  const toForm = findForm(click.button)
  if (!toForm) return { events: [] }
  const show: ShowEvent['show'] = async (card, fields) => {
    const view = toForm(card, fields)
    if (!view) return respond('refused', 'This request cannot be edited in Slack. Edit it in the console.')
    await callWithBot(ctx, connection, 'views.open', { trigger_id: click.triggerId, view: JSON.stringify(view) })
  }
  return { events: [{ type: 'show', ...event, show }] }
}

/** The form that a button opens. */
function findForm(button: string): ((card: Card, fields: EditField[]) => JsonObject | null) | null {
  if (button === 'edit') return editForm
  if (button === 'revise') return reviseForm
  return button === 'reject' ? rejectForm : null
}

/** The response address of a click needs no credential, and works for half an hour. */
async function postEphemeral(ctx: Ctx, connection: Connection, address: string, text: string): Promise<void> {
  if (!isProviderAddress(connection, address, 'slack.com')) return
  const body = { response_type: 'ephemeral', replace_original: false, text: toSlackText(text) }
  await sendOutgoing(ctx, {
    method: 'POST',
    url: new URL(address),
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
}

/** A refusal is shown in the form, so that the member can correct it. */
function submitActivity({ user, form, value, values }: SlackSubmission): NotifierActivity {
  const reference = parseReference(value)
  if (!reference) return { events: [] }
  let response: JsonObject | null = null
  const [firstBlock = ''] = Object.keys(values)
  const respond: Respond = async (kind, text) => {
    if (kind === 'refused') response = { response_action: 'errors', errors: { [firstBlock]: text } }
  }
  const event = { type: 'decide' as const, address: user, reference, respond }
  return { events: [{ ...event, ...readForm(form, values) }], response: () => response }
}

function readForm(form: string, values: Record<string, string>): Pick<DecideEvent, 'decision' | 'inputs' | 'reason'> {
  const reason = values.reason?.trim() || undefined
  if (form === 'reject' || form === 'revise') return { decision: form, inputs: [], reason }
  const inputs = Object.entries(values).map(([block, value]) => ({ field: Number(block.replace('field-', '')), value }))
  return { decision: 'approve', inputs }
}
