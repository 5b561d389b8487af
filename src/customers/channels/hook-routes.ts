import { bytesResponse, nameRoutes, openRoute } from '../../platform/http/route.ts'
import { receiveHook, requireHookChannel } from './hooks.ts'
import { HookResultView } from './view.ts'

/** Needs no credential: the adapter of the channel checks the signature of the provider. */
export const hookRoutes = nameRoutes({
  receiveHook: openRoute('POST', '/v1/hooks/:channel_id', {
    summary: 'Receive messages from a provider',
    description:
      'The address to register with the provider of the channel. The signature is checked over the raw body, and a second delivery of a message changes nothing. Some providers expect a response of their own, which they get instead.',
    streamsBody: true,
    responses: { 200: HookResultView },
    find: ({ ctx, params }) => requireHookChannel(ctx, params.channel_id ?? ''),
    async handle({ ctx, subject, request }) {
      const { receipts, response } = await receiveHook(ctx, subject, request)
      if (response) return bytesResponse(Buffer.from(response.body), { 'content-type': response.contentType })
      const [first] = receipts
      return first ? { ok: true, ...first.delivered } : { ok: true }
    },
  }),
})
