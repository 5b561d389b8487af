import { isJsonObject } from '../../../platform/base/json.ts'
import type { ChannelRow } from '../../../platform/store/tables.ts'
import type { AdapterChannel, ChannelAdapter } from './adapter.ts'
import { mailAdapter } from './mail.ts'
import { mailgunAdapter } from './mailgun.ts'
import { postmarkAdapter } from './postmark.ts'
import { resendAdapter } from './resend.ts'
import { slackAdapter } from './slack.ts'
import { telegramAdapter } from './telegram.ts'
import { twilioAdapter } from './twilio.ts'
import { widgetAdapter } from './widget.ts'

/** The services that carry messages, by the name that a channel has in its field `adapter`. */
export const CHANNEL_ADAPTERS: Record<string, ChannelAdapter> = {
  mail: mailAdapter,
  mailgun: mailgunAdapter,
  postmark: postmarkAdapter,
  resend: resendAdapter,
  slack: slackAdapter,
  telegram: telegramAdapter,
  twilio: twilioAdapter,
  widget: widgetAdapter,
}

export const findAdapter = (name: string | null): ChannelAdapter | null =>
  name !== null && Object.hasOwn(CHANNEL_ADAPTERS, name) ? (CHANNEL_ADAPTERS[name] ?? null) : null

export function toAdapterChannel(channel: ChannelRow): AdapterChannel {
  const config: unknown = JSON.parse(channel.config)
  return { ...channel, config: isJsonObject(config) ? config : {} }
}
