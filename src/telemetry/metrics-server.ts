import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { isIP } from 'node:net'
import { isLoopback } from '../base/ip-address.ts'
import { errorMessage } from '../base/error-message.ts'
import { tokenHash } from '../base/tokens.ts'
import type { Config } from '../config/config.ts'
import type { Ctx } from '../ctx/ctx.ts'
import type { World } from '../ctx/world.ts'
import { PROMETHEUS_CONTENT_TYPE } from './prometheus-text.ts'
import { type MetricsSources, openMetricsCollector } from './metrics-collector.ts'

/** A door of its own: what it tells is for the operator, and no proxy in front of the service leads there. */
export interface MetricsServer {
  url: string
  close(): Promise<void>
}

/** Beyond this machine the door opens only to who has the token; a start that would open it to all is refused. */
export function requireMetricsToken({ metricsPort, metricsHost }: Config, world: Pick<World, 'env'>): void {
  if (metricsPort === null || isLoopback(metricsHost) || metricsToken(world)) return
  throw new Error(`SVC_METRICS_TOKEN must be set, because SVC_METRICS_HOST (${metricsHost}) is not this machine alone`)
}

/** Null unless a port is set. */
export async function openMetricsServer(ctx: Ctx, observed: MetricsSources): Promise<MetricsServer | null> {
  const { metricsHost: host, metricsPort: port } = ctx.config
  if (port === null) return null
  const token = metricsToken(ctx.world)
  const wanted = token && tokenHash(`Bearer ${token}`)
  const metrics = openMetricsCollector(ctx, observed)
  const server = createServer({ headersTimeout: 10_000, requestTimeout: 10_000 }, (request, response) => {
    if (request.url?.split('?')[0] !== '/metrics') return respond(response, 404, 'no such route\n')
    if (request.method !== 'GET') return respond(response, 405, 'only GET\n')
    if (wanted && !isAuthorized(request, wanted)) return respond(response, 401, 'a valid credential is required\n')
    metrics.text().then(
      (text) => respond(response, 200, text),
      (err: unknown) => {
        ctx.world.log.error({ err }, 'metrics failed')
        respond(response, 500, 'internal error\n')
      },
    )
  })
  const url = await listen(server, host, port).catch((error: unknown) => {
    metrics.close()
    const why = errorMessage(error)
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

const metricsToken = (world: Pick<World, 'env'>) => world.env('SVC_METRICS_TOKEN')?.trim() || null

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
const isAuthorized = (request: IncomingMessage, wanted: string) =>
  tokenHash(request.headers.authorization ?? '') === wanted

function respond(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'content-type': status === 200 ? PROMETHEUS_CONTENT_TYPE : 'text/plain; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...(status === 401 && { 'www-authenticate': 'Bearer' }),
  })
  response.end(text)
}
