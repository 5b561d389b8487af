import { describe, expect, test } from 'vitest'
import { verifyWebhook, WebhookSignatureError } from '../../clients/typescript/src/client.ts'
import { anyStore } from '../app.ts'
import { requestedApprovalId, sharedGatedApp, startAction } from '../approvals/decisions/gated-app.ts'
import type { ReceivedRequest } from '../fake-upstream.ts'
import { openWebhookReceiver, signaturesOf } from '../automation/webhooks/webhook-receiver.ts'
import { runPython } from './run-python.ts'

interface Verification {
  call: Pick<ReceivedRequest, 'headers' | 'body'>
  secret: string
  nowS: number
}

/** For each verification the event, or null if the call was refused. */
const CLIENTS: Record<string, (verifications: Verification[]) => Promise<unknown[]>> = {
  TypeScript: (verifications) =>
    Promise.all(
      verifications.map(({ call, secret, nowS }) =>
        verifyWebhook(secret, call.headers, call.body, { nowS }).catch((error: unknown) => {
          expect(error).toBeInstanceOf(WebhookSignatureError)
          return null
        }),
      ),
    ),
  Python: async (verifications) => (await runPython(VERIFY_ALL, verifications)).lines,
}

const VERIFY_ALL = `
for one in given:
  try:
    show(verify_webhook(one["secret"], one["call"]["headers"], one["call"]["body"], now=lambda: one["nowS"]))
  except WebhookSignatureError:
    show(None)
`

anyStore((store) => {
  describe('a webhook call of the service', () => {
    const shared = sharedGatedApp(store)

    test.each(Object.keys(CLIENTS))(
      '%s accepts it with its two secrets during a rotation only, unchanged and in time',
      async (language) => {
        const hook = await openWebhookReceiver(shared(), ['approval.requested'])
        const rotated = await shared().call('POST', `/v1/webhooks/${hook.id}/rotate`)
        const task = await startAction(shared())
        const id = await requestedApprovalId(shared(), task.id)
        const [call] = await hook.arrived(id)
        if (!call) throw new Error('there is no delivery')
        const nowS = Number(call.headers['webhook-timestamp'])
        const { secret } = rotated.body
        const [signature = ''] = signaturesOf(call.headers)
        const changed = (headers: ReceivedRequest['headers'], body = call.body): Verification => ({
          call: { body, headers: { ...call.headers, ...headers } },
          secret,
          nowS,
        })
        const accepted: Verification[] = [
          { call, secret, nowS },
          { call, secret: hook.secret, nowS },
          { call, secret, nowS: nowS + 299 },
          changed({ 'webhook-signature': signature }),
          changed({ 'webhook-signature': `v1,AAAA ${signature}` }),
        ]
        const refused: Verification[] = [
          { call, secret: `whsec_${Buffer.alloc(32, 1).toString('base64')}`, nowS },
          { call, secret: 'whsec_', nowS },
          { call, secret, nowS: nowS + 301 },
          { call, secret, nowS: nowS - 301 },
          { call: { ...call, headers: {} }, secret, nowS },
          changed({}, call.body.replace('approval.requested', 'task.finished')),
          changed({ 'webhook-id': 'dlv_other' }),
          changed({ 'webhook-timestamp': 'now' }),
          changed({ 'webhook-signature': 'v1,%%% v1, v2,AAAA' }),
          changed({ 'webhook-signature': signature.replace('v1,', 'v2,') }),
          changed({ 'webhook-signature': 'v1,\u00e9' }),
        ]
        const event = JSON.parse(call.body)
        expect(event).toMatchObject({ type: 'approval.requested', data: { id } })
        const results = await CLIENTS[language]?.([...accepted, ...refused])
        expect(results).toEqual([...accepted.map(() => event), ...refused.map(() => null)])
        await hook.close()
      },
    )
  })
})
