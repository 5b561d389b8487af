import type { Target } from '../load/statistics.ts'

interface ChannelSettings {
  adapter: string
  config: object
  secret: string | null
}

const MAIL_ADAPTERS = ['mail', 'mailgun', 'postmark']
let connections = 0

/** Creates a channel with a connection of its own, and returns its id. The tasks of its messages do not run. */
export async function createChannel(server: Target, { adapter, config, secret }: ChannelSettings): Promise<string> {
  const isMail = MAIL_ADAPTERS.includes(adapter)
  const connection = await callApi(server, 'POST', '/v1/connections', {
    name: `connection${++connections}`,
    kind: isMail ? 'email' : 'custom',
    config: isMail ? { provider: 'postmark', from: 'agent@test.example' } : { base_url: 'https://provider.example' },
  })
  const address = isMail ? 'agent@test.example' : adapter
  const binding = { connection_id: connection.id, address, wedge: 'bench', task_type: 'say' }
  const { id } = await callApi(server, 'POST', '/v1/channels', { ...binding, adapter, config })
  if (secret !== null) await callApi(server, 'POST', `/v1/channels/${id}/secret`, { value: secret })
  return id
}

/** Calls the API as the founder. */
export async function callApi<Body = { id: string }>(
  { port, key }: Target,
  method: string,
  path: string,
  body?: unknown,
): Promise<Body> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`${method} ${path} returned status ${response.status}: ${await response.text()}`)
  return (await response.json()) as Body
}
