import { expect, onTestFinished, test } from 'vitest'
import { eachStore } from '../app.ts'
import { GATED_ENV } from '../approvals/decisions/gated-app.ts'
import { CHANNEL_SECRET, CONNECTION_SECRET } from '../customers/channels/adapters/adapter-fixtures.ts'
import { type HookApp, openHookApp } from '../customers/channels/adapters/hook-app.ts'
import { createAndGetId } from '../customers/channels/channel-app.ts'
import { openFakeUpstream, respondJson } from '../fake-upstream.ts'
import { createDeployment } from '../faults/service-process.ts'
import { callApi } from '../http.ts'

// What becomes of calls depends on the store, so these tests run on both. The shapes of `hostile-input.test.ts` need one only:
// they are refused or parsed before anything is stored. Repeated and reordered calls of the other adapters are in
// `channels/adapters/hooks.test.ts` and `mail/mail-hook-conversation.test.ts`, a mailbox whose reader is killed in
// `faults/kill-mail.test.ts`, and calls of clients, apps and members in `killed-calls.test.ts`.

const ORIGIN = 'https://shop.example'
const VISITOR = 'v'.repeat(20)

const inboundTexts = async (app: Pick<HookApp, 'call'>): Promise<string[]> => {
  const { data } = (await app.call('GET', '/v1/threads')).body
  expect(data).toHaveLength(1)
  const { messages } = (await app.call('GET', `/v1/threads/${data[0].id}`)).body
  return messages.flatMap(({ direction, body }: { direction: string; body: string }) =>
    direction === 'inbound' ? [body] : [],
  )
}

const DOCUMENT = JSON.stringify({
  update_id: 1,
  message: {
    message_id: 1,
    chat: { id: 7, type: 'private' },
    from: { id: 7, first_name: 'Ada' },
    caption: 'Hello',
    document: { file_id: 'f1', file_name: 'a.txt', mime_type: 'text/plain' },
  },
})

const WEDGES = {
  'desk/wedge.json': { wedge: 'desk', task_types: { triage: {} } },
  'desk/rehearsals/triage.json': [{ output: {} }],
}

eachStore((store) => {
  test('messages of a widget that arrive twice and out of order are received once', async () => {
    const app = await openHookApp(store, { adapter: 'widget', config: { origins: [ORIGIN] } })
    const send = (n: number) => app.deliver({ visitor: VISITOR, body: `Text ${n}`, id: `${n}` }, { origin: ORIGIN })
    for (const n of [3, 1, 3]) expect((await send(n)).status).toBe(200)
    const receipts = await Promise.all([2, 1, 2, 3, 2].map(send))
    expect(receipts.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    expect(await inboundTexts(app)).toEqual(['Text 3', 'Text 1', 'Text 2'])
    expect((await app.call('GET', '/v1/tasks')).body.data).toHaveLength(3)
  })

  test('kill -9 while a call is received: the repeated call is received once, with its file', async () => {
    const provider = await openFakeUpstream()
    onTestFinished(() => provider.close())
    const env = { ...GATED_ENV, SVC_EGRESS_ALLOW: '127.0.0.1' }
    const deployment = await createDeployment(store, { wedges: WEDGES, env })
    let service = await deployment.start()
    const config = { base_url: provider.url }
    const connection_id = await createAndGetId(service, '/v1/connections', { kind: 'custom', name: 'bot', config })
    await service.call('POST', `/v1/connections/${connection_id}/secret`, { value: CONNECTION_SECRET })
    const binding = { connection_id, address: 'bot', wedge: 'desk', task_type: 'triage', adapter: 'telegram' }
    const channel = await createAndGetId(service, '/v1/channels', binding)
    await service.call('POST', `/v1/channels/${channel}/secret`, { value: CHANNEL_SECRET })
    const headers = { 'content-type': 'application/json', 'x-telegram-bot-api-secret-token': CHANNEL_SECRET }
    const deliver = () =>
      callApi(service.url, '', 'POST', `/v1/hooks/${channel}`, undefined, { key: null, headers, raw: DOCUMENT })

    const downloading = new Promise<void>((resolve) => (provider.respond = () => resolve()))
    const broken = deliver().catch(() => null)
    await downloading
    await service.kill()
    expect(await broken).toBeNull()
    provider.respond = ({ url }, response) =>
      url.endsWith('/getFile')
        ? respondJson(response, 200, { ok: true, result: { file_path: 'a.txt' } })
        : void response.end('content')
    service = await deployment.start()
    const answers = await Promise.all([deliver(), deliver(), deliver()])
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(await inboundTexts(service)).toEqual(['Hello'])
    const tasks = (await service.call('GET', '/v1/tasks')).body.data
    expect(tasks).toHaveLength(1)
    expect((await service.call('GET', `/v1/tasks/${tasks[0].id}`)).body.files).toMatchObject([{ name: 'a.txt' }])
  })
})
