import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { isIP } from 'node:net'
import { isLoopback } from '../../platform/base/ip-address.ts'
import { errorMessage } from '../../platform/base/error-message.ts'
import { tokenHash } from '../../platform/base/tokens.ts'
import type { Config } from '../../platform/config/config.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import type { World } from '../../platform/ctx/world.ts'
import { PROMETHEUS_CONTENT_TYPE } from './prometheus-text.ts'
import { type MetricsSources, openMetricsCollector } from './metrics-collector.ts'

/** A separate server, because metrics are for the operator: a proxy in front of the public port does not expose them. */
export interface MetricsServer {
  url: string
  close(): Promise<void>
}

/** Refuses a start that would show the metrics to other machines without a token. */
export function requireMetricsToken({ metricsPort, metricsHost }: Config, world: Pick<World, 'env'>): void {
  if (metricsPort === null || isLoopback(metricsHost) || metricsToken(world)) return
  throw new Error(`SVC_METRICS_TOKEN is required when SVC_METRICS_HOST (${metricsHost}) is not a loopback address`)
}

/** Null if no metrics port is configured. */
export async function openMetricsServer(ctx: Ctx, observed: MetricsSources): Promise<MetricsServer | null> {
  const { metricsHost: host, metricsPort: port } = ctx.config
  if (port === null) return null
  const token = metricsToken(ctx.world)
  const expectedHash = token && tokenHash(`Bearer ${token}`)
  const metrics = openMetricsCollector(ctx, observed)
  const server = createServer({ headersTimeout: 10_000, requestTimeout: 10_000 }, (request, response) => {
    if (request.url?.split('?')[0] !== '/metrics') return respond(response, 404, 'no such route\n')
    if (request.method !== 'GET') return respond(response, 405, 'method must be GET\n')
    if (expectedHash && !isAuthorized(request, expectedHash))
      return respond(response, 401, 'a valid credential is required\n')
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
    throw new Error(`cannot listen on SVC_METRICS_HOST and SVC_METRICS_PORT: ${errorMessage(error)}`, { cause: error })
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
      const boundPort = bound && typeof bound === 'object' ? bound.port : port
      resolve(`http://${isIP(host) === 6 ? `[${host}]` : host}:${boundPort}/metrics`)
    })
  })
}

/** Compares hashes, so that the time of the comparison reveals nothing about the token. */
const isAuthorized = (request: IncomingMessage, expectedHash: string) =>
  tokenHash(request.headers.authorization ?? '') === expectedHash

function respond(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'content-type': status === 200 ? PROMETHEUS_CONTENT_TYPE : 'text/plain; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...(status === 401 && { 'www-authenticate': 'Bearer' }),
  })
  response.end(text)
}
