import { z } from 'zod'
import { notFound } from '../../platform/base/problem.ts'
import { projectAddress } from '../../customers/brand/public-brand.ts'
import { findBrand } from '../../customers/brand/rows.ts'
import type { AdapterChannel } from '../../customers/channels/adapters/adapter.ts'
import { toAdapterChannel } from '../../customers/channels/adapters/adapter-table.ts'
import { requireWidgetOrigin, visitorKey } from '../../customers/channels/adapters/widget.ts'
import { findChannelUnscoped } from '../../customers/channels/rows.ts'
import { type FindInput, HttpResponse, nameRoutes, openRoute } from '../../platform/http/route.ts'
import { readVisitorConversation } from './conversation.ts'
import { toVisitorMessageView, toWidgetView, VisitorConversationView, WidgetView } from './view.ts'

/** What `/widget.js` calls. Messages are sent to `/v1/hooks/:channel_id`. */
export const widgetRoutes = nameRoutes({
  getWidget: openRoute('GET', '/v1/widgets/:channel_id', {
    summary: 'Read the brand of a widget',
    description:
      'Name, colour, logo, welcome and language of the chat widget of a channel. `/widget.js` calls it from any page, and caches may keep it for a minute.',
    responses: { 200: WidgetView },
    find: findWidget,
    async handle({ ctx, subject: { project_id } }) {
      const view = toWidgetView(await findBrand(ctx.db, project_id), await projectAddress(ctx.db, project_id))
      return new HttpResponse(200, view, { 'cache-control': 'public, max-age=60' })
    },
  }),

  readVisitorMessages: openRoute('POST', '/v1/widgets/:channel_id/messages', {
    summary: "Read a visitor's conversation",
    description: 'A POST, because the key of the visitor must not be in a URL. 403 from a page that is not allowed.',
    body: z.object({
      visitor: visitorKey.meta({
        description: 'The key that the page made for this visitor. It gives access to the conversation.',
      }),
      after: z.number().int().min(0).default(0).meta({ description: 'Only messages after this position.' }),
      is_open: z.boolean().default(false).meta({ description: 'Whether the visitor sees the messages now.' }),
    }),
    responses: { 200: VisitorConversationView },
    find: findWidget,
    async handle({ ctx, subject, request, body }) {
      requireWidgetOrigin(subject, request)
      const { thread, messages, isWorking } = await readVisitorConversation(ctx, subject, body)
      return {
        thread_id: thread?.id ?? null,
        messages: messages.map(toVisitorMessageView),
        read_count: thread?.client_read_count ?? 0,
        is_working: isWorking,
      }
    },
  }),
})

async function findWidget({ ctx, params }: FindInput<null>): Promise<AdapterChannel> {
  const channel = await findChannelUnscoped(ctx.db, params.channel_id ?? '')
  if (channel?.adapter !== 'widget') throw notFound('widget')
  return toAdapterChannel(channel)
}
