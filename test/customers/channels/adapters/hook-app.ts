import { type TestApp, testApp } from '../../../app.ts'
import { type FakeUpstream, openFakeUpstream, respondJson } from '../../../fake-upstream.ts'
import { onTestFinished } from 'vitest'
import type { StoreKind } from '../../../stores.ts'
import { createAndGetId } from '../channel-app.ts'
import { CHANNEL_SECRET, CONNECTION_SECRET } from './adapter-fixtures.ts'

export const PUBLIC_URL = 'https://desk.example'

export interface HookApp extends TestApp {
  provider: FakeUpstream
  channel: string
  /** The path of the channel's hook. */
  path: string
  /** A call of the provider, with the body unchanged. */
  deliver: (body: string | object, headers: Record<string, string>) => ReturnType<TestApp['call']>
}

export interface HookAppOptions {
  adapter: string
  config?: object
  /** Of the connection; `custom` unless set. */
  kind?: string
  /** Besides `base_url`, which is the recorder. */
  connection?: object
  respond?: FakeUpstream['respond']
  env?: Record<string, string>
}

/** A service with a channel of an adapter, whose provider is a recorder. The task of a message says back what it got. */
export async function openHookApp(store: StoreKind, options: HookAppOptions): Promise<HookApp> {
  const provider = await openFakeUpstream()
  onTestFinished(() => provider.close())
  if (options.respond) provider.respond = options.respond
  else provider.respond = (_, response) => respondJson(response, 200, { ok: true })
  const app = await testApp({
    store,
    wedges: {
      'desk/wedge.json': { wedge: 'desk', task_types: { triage: {} }, connections: ['provider'] },
      'desk/rehearsals/triage.json': [{ output: { reply: 'You wrote: {{input.body}}' } }],
    },
    env: { SVC_PUBLIC_URL: PUBLIC_URL, SVC_EGRESS_ALLOW: '127.0.0.1', ...options.env },
  })
  const { kind = 'custom' } = options
  const config = { base_url: provider.url, ...options.connection }
  const connection = await createAndGetId(app, '/v1/connections', { kind, name: 'provider', config })
  await app.call('POST', `/v1/connections/${connection}/secret`, { value: CONNECTION_SECRET })
  const channel = await createAndGetId(app, '/v1/channels', {
    connection_id: connection,
    address: 'desk',
    wedge: 'desk',
    task_type: 'triage',
    adapter: options.adapter,
    config: options.config ?? {},
  })
  if (options.adapter !== 'widget') await app.call('POST', `/v1/channels/${channel}/secret`, { value: CHANNEL_SECRET })
  const path = `/v1/hooks/${channel}`
  const deliver = (body: string | object, headers: Record<string, string>) =>
    app.call('POST', path, undefined, {
      key: null,
      headers,
      raw: typeof body === 'string' ? body : JSON.stringify(body),
    })
  return { ...app, provider, channel, path, deliver }
}
