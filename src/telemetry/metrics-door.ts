import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { isIP } from 'node:net'
import { isLoopback } from '../base/loopback.ts'
import { messageOf } from '../base/message-of.ts'
import { tokenHash } from '../base/tokens.ts'
import type { Config } from '../config/config.ts'
import type { Ctx } from '../ctx/ctx.ts'
import type { World } from '../ctx/world.ts'
import { CONTENT_TYPE } from './exposition.ts'
import { type Observed, openMetrics } from './metrics.ts'

/** A door of its own: what it tells is for the operator, and no proxy in front of the service leads there. */
export interface MetricsDoor {
  url: string
  close(): Promise<void>
}

/** Beyond this machine the door opens only to who has the token; a start that would open it to all is refused. */
export function refuseOpenMetrics({ metricsPort, metricsHost }: Config, world: Pick<World, 'env'>): void {
  if (metricsPort === null || isLoopback(metricsHost) || tokenOf(world)) return
  throw new Error(`SVC_METRICS_TOKEN must be set, because SVC_METRICS_HOST (${metricsHost}) is not this machine alone`)
}

/** Null unless a port is set. */
export async function openMetricsDoor(ctx: Ctx, observed: Observed): Promise<MetricsDoor | null> {
  const { metricsHost: host, metricsPort: port } = ctx.config
  if (port === null) return null
  const token = tokenOf(ctx.world)
  const wanted = token && tokenHash(`Bearer ${token}`)
  const metrics = openMetrics(ctx, observed)
  const server = createServer({ headersTimeout: 10_000, requestTimeout: 10_000 }, (request, response) => {
    if (request.url?.split('?')[0] !== '/metrics') return answer(response, 404, 'no such route\n')
    if (request.method !== 'GET') return answer(response, 405, 'only GET\n')
    if (wanted && !mayRead(request, wanted)) return answer(response, 401, 'a valid credential is required\n')
    metrics.text().then(
      (text) => answer(response, 200, text),
      (err: unknown) => {
        ctx.world.log.error({ err }, 'metrics failed')
        answer(response, 500, 'internal error\n')
      },
    )
  })
  const url = await listen(server, host, port).catch((error: unknown) => {
    metrics.close()
    const why = messageOf(error)
    throw new Error(`SVC_METRICS_HOST and SVC_METRICS_PORT cannot be listened on: ${why}`, { cause: error })
  })
  return {
    url,
    close: () =>
      new Promise((resolve) => {
        metrics.close()
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const tokenOf = (world: Pick<World, 'env'>) => world.env('SVC_METRICS_TOKEN')?.trim() || null

function listen(server: ReturnType<typeof createServer>, host: string, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      const bound = server.address()
      const taken = bound && typeof bound === 'object' ? bound.port : port
      resolve(`http://${isIP(host) === 6 ? `[${host}]` : host}:${taken}/metrics`)
    })
  })
}

/** By hash: how long the comparison takes says nothing about the token. */
const mayRead = (request: IncomingMessage, wanted: string) => tokenHash(request.headers.authorization ?? '') === wanted

function answer(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'content-type': status === 200 ? CONTENT_TYPE : 'text/plain; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...(status === 401 && { 'www-authenticate': 'Bearer' }),
  })
  response.end(text)
}
