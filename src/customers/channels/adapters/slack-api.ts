import { createHmac } from 'node:crypto'
import { isJsonObject, type JsonObject } from '../../../platform/base/json.ts'
import { textField } from '../../../platform/base/json-fields.ts'
import { Problem } from '../../../platform/base/problem.ts'
import type { UpstreamResponse } from '../../../connections/calls/executor.ts'
import { sendAuthorized, sendOutgoing } from '../../../connections/calls/http-request.ts'
import type { Connection } from '../../../connections/connection/rows.ts'
import type { Ctx } from '../../../platform/ctx/ctx.ts'
import { EgressError } from '../../../platform/egress/http-client.ts'
import type { PayloadFile } from '../../../work/files/payload-files.ts'
import {
  hookHeader,
  requireHookSecret,
  requireRecentCall,
  requireSignature,
  type SignedCall,
  type SignedHead,
} from './check-call.ts'
import { isProviderAddress, providerUrl } from './provider-api.ts'

/** The bot of a Slack app. */
export interface SlackBot {
  connection: Connection
  token: string | null
}

/** The time of a call, which Slack signs. */
export const verifySlackHead = (ctx: Ctx, head: SignedHead): void =>
  requireRecentCall(ctx, hookHeader(head, SIGNED_TIME))

const SIGNED_TIME = 'x-slack-request-timestamp'

/** Slack signs the time and the raw body with the signing secret of the app. */
export function verifySlackBody(_ctx: Ctx, call: SignedCall): void {
  const time = hookHeader(call, SIGNED_TIME)
  const mac = createHmac('sha256', requireHookSecret(call)).update(`v0:${time}:`).update(call.body).digest('hex')
  requireSignature(hookHeader(call, 'x-slack-signature'), `v0=${mac}`)
}

/** After these errors the message may have been posted. */
const UNCLEAR_ERRORS = ['fatal_error', 'internal_error', 'request_timeout']

/** Calls a method of the Web API. Slack answers 200 also when it refuses. */
export async function callSlack(
  ctx: Ctx,
  { connection, token }: SlackBot,
  method: string,
  fields: Record<string, string>,
): Promise<UpstreamResponse> {
  const response = await sendAuthorized(ctx, connection, token, {
    method: 'POST',
    url: providerUrl(connection, 'https://slack.com/api', `/${method}`),
    headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
    body: new URLSearchParams(fields).toString(),
  })
  const body = slackBody(response)
  if (!response.ok || body.ok === true) return response
  const error = textField(body, 'error')
  const unclear = !error || UNCLEAR_ERRORS.includes(error)
  return { ...response, ok: false, unclear, error: `slack answered ${error || 'no json'}` }
}

export const slackBody = ({ body }: UpstreamResponse): JsonObject => (isJsonObject(body) ? body : {})

/** Names a message that was posted. A message has its number within its conversation only. */
export function slackMessageId(response: UpstreamResponse): string {
  const sent = slackBody(response)
  return `${textField(sent, 'channel')}:${textField(sent, 'ts')}`
}

/** Uploads a file and returns its id. Nobody sees it before `files.completeUploadExternal` posts it. */
export async function uploadSlackFile(ctx: Ctx, bot: SlackBot, { name, content }: PayloadFile): Promise<string> {
  try {
    const fields = { filename: name, length: String(content.length) }
    const granted = await callSlack(ctx, bot, 'files.getUploadURLExternal', fields)
    const [address = '', id = ''] = ['upload_url', 'file_id'].map((key) => textField(slackBody(granted), key))
    if (!granted.ok || !isProviderAddress(bot.connection, address, 'slack.com')) throw refusedFile(name, granted.error)
    const headers = { 'content-type': 'application/octet-stream' }
    const stored = await sendOutgoing(ctx, { method: 'POST', url: new URL(address), headers, body: content })
    if (!stored.ok) throw refusedFile(name, stored.error)
    return id
  } catch (error) {
    // Nothing was posted, so the outcome is certain.
    throw error instanceof EgressError ? refusedFile(name, error.message) : error
  }
}

const refusedFile = (name: string, error: string | null) =>
  new Problem(502, `slack did not take the file '${name}': ${error ?? 'it gave no address for it'}`)
