import type { ChannelReply } from './adapters/adapter.ts'
import { toReplyPayload } from './adapters/provider-api.ts'

/** A reply that the client reads in the portal or in the widget: it is shown in the thread, and nothing is sent. */
export const threadReply: ChannelReply = {
  schema: {
    type: 'object',
    properties: {
      text: { type: 'string', minLength: 1, maxLength: 100_000 },
      files: { type: 'array', maxItems: 10, items: { type: 'object' } },
    },
    required: ['text'],
    additionalProperties: false,
  },
  compose: toReplyPayload,
  send: null,
}
