import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** A proxy before one or more replicas of the service that cuts connections. */
export interface CuttingProxy {
  url: string
  /** The replicas, which take turns. Without one, connections are refused. */
  targets: string[]
  /** Every connection is cut after it has delivered so many bytes to the client, wherever that is in an event. */
  cutAfterBytes: number
  /** How many connections were opened. */
  opened: number
}

export async function openCuttingProxy(targets: string[]): Promise<CuttingProxy> {
  const server = createServer((client) => forward(proxy, client))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const proxy: CuttingProxy = {
    url: `http://127.0.0.1:${port}`,
    targets,
    cutAfterBytes: Number.POSITIVE_INFINITY,
    opened: 0,
  }
  return proxy
}

function forward(proxy: CuttingProxy, client: Socket): void {
  const target = proxy.targets[proxy.opened++ % proxy.targets.length]
  if (target === undefined) return void client.destroy()
  const { hostname, port } = new URL(target)
  const service = connect(Number(port), hostname)
  let budget = proxy.cutAfterBytes
  service.on('data', (chunk: Buffer) => {
    const part = chunk.subarray(0, budget)
    budget -= part.length
    if (part.length > 0) client.write(part, () => budget <= 0 && client.destroy())
  })
  client.on('data', (chunk) => service.write(chunk))
  client.on('error', () => {}).on('close', () => service.destroy())
  service.on('error', () => {}).on('close', () => client.destroy())
}
