import { z } from 'zod'
import type { Brand } from '../../customers/brand/rows.ts'
import { PublicBrandView, toPublicBrandView } from '../../customers/brand/view.ts'
import type { VisitorMessage } from './rows.ts'

export const WidgetView = PublicBrandView.pick({
  name: true,
  color: true,
  logo_url: true,
  welcome: true,
  language: true,
})
  .extend({ notifies: z.boolean().meta({ description: 'Visitors who leave an address get a mail about answers.' }) })
  .meta({ id: 'Widget' })

export function toWidgetView(brand: Brand, address: string) {
  const { name, color, logo_url, welcome, language } = toPublicBrandView(brand, address)
  const notifies = brand.notify_since !== null && brand.mail_connection_id !== null
  return { name, color, logo_url, welcome, language, notifies }
}

export const VisitorMessageView = z
  .object({
    id: z.string(),
    n: z.number().int().meta({ description: 'The position in the conversation.' }),
    from: z.enum(['visitor', 'team']),
    body: z.string(),
    created_at: z.string(),
  })
  .meta({ id: 'VisitorMessage' })

export const VisitorConversationView = z
  .object({
    thread_id: z.string().nullable().meta({ description: 'Null before the first message.' }),
    messages: z.array(VisitorMessageView),
    read_count: z.number().int().meta({ description: 'The position of the last message that the visitor has seen.' }),
    is_working: z.boolean().meta({ description: 'Whether an agent works on an answer.' }),
  })
  .meta({ id: 'VisitorConversation' })

export function toVisitorMessageView({ id, n, direction, body, created_at }: VisitorMessage) {
  return { id, n, from: direction === 'inbound' ? ('visitor' as const) : ('team' as const), body, created_at }
}
