import { hash } from 'node:crypto'
import { z } from 'zod'
import { limitOpenCalls } from '../../../identity/limits/rate-windows.ts'
import { toClientNetwork } from '../../../platform/base/ip-address.ts'
import type { JsonObject } from '../../../platform/base/json.ts'
import { forbidden } from '../../../platform/base/problem.ts'
import { clientDisplayName } from '../../clients/clients.ts'
import type { Ctx } from '../../../platform/ctx/ctx.ts'
import { validateFields } from '../../../platform/http/validate.ts'
import { threadReply } from '../thread-reply.ts'
import type { AdapterChannel, ChannelAdapter, HookCall, HookHead, IncomingMessage } from './adapter.ts'
import { hookHeader } from './check-call.ts'

const origin = z
  .string()
  .refine(
    (text) => URL.canParse(text) && /^https?:/.test(text) && new URL(text).origin === text,
    'must be the origin of a page, such as https://shop.example',
  )

const WidgetConfig = z.strictObject({
  origins: z.array(origin).min(1).max(50).meta({
    title: 'Allowed websites',
    description:
      'The origins of the pages that show the widget, one per line, such as https://shop.example without a path.',
  }),
})

/** Gives access to the conversation, and a shorter key could be guessed. The widget makes keys of 43 characters. */
export const visitorKey = z.string().min(20).max(200)

const WidgetMessage = z.object({
  visitor: visitorKey,
  body: z.string().trim().min(1).max(10_000),
  /** Chosen by the page, so that a message that it sends again is received once. */
  id: z.string().min(1).max(100).nullish(),
  email: z.email().max(320).nullish(),
  name: clientDisplayName.nullish(),
})

/** The chat window on the founder's own pages. Visitors read the answers in it. */
export const widgetAdapter: ChannelAdapter = {
  config: WidgetConfig,
  isChat: true,
  secret: null,
  hook: {
    maxBytes: 64 * 1024,
    async verifyHead(ctx, head) {
      requireWidgetOrigin(head.channel, head)
      await limitMessages(ctx, head)
    },
    parse: async (ctx, call) => ({ messages: [toMessage(ctx, call, await call.read('jsonObject', null))] }),
  },
  reply: threadReply,
}

/** Browsers set the origin themselves, so another page cannot use the widget in the name of its visitors. */
export function requireWidgetOrigin({ config }: AdapterChannel, head: Pick<HookHead, 'headers'>): void {
  const allowed = WidgetConfig.safeParse(config)
  if (!allowed.success || !allowed.data.origins.includes(hookHeader(head, 'origin')))
    throw forbidden('the widget is not allowed on this page: add its origin to the channel')
}

const MAX_MESSAGES_PER_NETWORK = 100

/** Every message may start a run, and anybody may write. */
const limitMessages = (ctx: Ctx, { channel, caller }: HookHead): Promise<void> =>
  limitOpenCalls(ctx, `widget:${channel.id} ${toClientNetwork(caller)}`, MAX_MESSAGES_PER_NETWORK)

/** The visitor's key gives access to the conversation, so only its hash is stored and shown to the team. */
export const visitorHandle = ({ id }: Pick<AdapterChannel, 'id'>, visitor: string): string =>
  `visitor:${hash('sha256', `${id} ${visitor}`).slice(0, 32)}`

function toMessage(ctx: Ctx, call: HookCall, sent: JsonObject): IncomingMessage {
  const { visitor, body, id, email, name } = validateFields(WidgetMessage, sent, 'field')
  const handle = visitorHandle(call.channel, visitor)
  return {
    externalId: `${handle}:${id ?? ctx.world.newId('msg')}`,
    // Nobody has checked the address: the client may be written to, and is not taken for its owner.
    from: { handle, name: name ?? null, claimedAddress: email ?? null },
    body,
    subject: null,
    conversationKey: handle,
    address: {},
    files: [],
  }
}
