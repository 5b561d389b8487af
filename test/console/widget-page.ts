import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import type { Console } from './console-browser.ts'

/** A page of a shop on an origin of its own, with the script tag of a widget. */
export interface WidgetPage {
  url: string
  origin: string
  channel: string
}

/** The strictest content policy under which the widget works. */
const contentPolicy = (service: string) =>
  `default-src 'none'; script-src ${service}; connect-src ${service}; img-src ${service}; require-trusted-types-for 'script'`

export async function openWidgetPage(
  console: Pick<Console, 'url' | 'call'>,
  options: { origins?: string[]; task_type?: object } = {},
): Promise<WidgetPage> {
  const tag: { channel: string } = { channel: '' }
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html', 'content-security-policy': contentPolicy(console.url) }).end(
      `<!doctype html><html lang="en"><head><title>Shop</title><meta name="viewport" content="width=device-width"></head>
      <body><main><h1>Shop</h1><p>Shoes and more.</p></main>
      <script src="${console.url}/widget.js" data-channel="${tag.channel}"></script></body></html>`,
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const connections = (await console.call('GET', '/v1/connections')).body.data
  const connection =
    connections[0] ?? (await console.call('POST', '/v1/connections', { kind: 'email', name: 'mail', config: {} })).body
  const created = await console.call('POST', '/v1/channels', {
    connection_id: connection.id,
    // Each page of a test has a widget of its own.
    address: origin,
    wedge: 'quotes',
    task_type: 'quote',
    adapter: 'widget',
    config: { origins: options.origins ?? [origin] },
  })
  if (created.status !== 201) throw new Error(JSON.stringify(created.body))
  tag.channel = created.body.id
  return { url: `${origin}/`, origin, channel: tag.channel }
}
