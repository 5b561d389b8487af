import { connect, createServer } from 'node:net'

/** As many connections as the socket of the service takes. */
const MAX_CONNECTIONS = 256

/**
 * Forwards the connections of a port on 127.0.0.1 to the socket of the service, because most libraries cannot use a Unix
 * socket. Resolves with the port. The service checks the token of every request, so the port itself needs no check.
 */
export function openLoopbackPort(socketPath: string): Promise<number> {
  const server = createServer({ noDelay: true }, (client) => {
    const service = connect(socketPath)
    client.on('error', () => service.destroy())
    service.on('error', () => client.destroy())
    client.on('close', () => service.destroy())
    service.on('close', () => client.destroy())
    client.pipe(service).pipe(client)
  })
  server.maxConnections = MAX_CONNECTIONS
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      if (address !== null && typeof address === 'object') resolve(address.port)
    })
  })
}

/** With these variables the libraries of model providers and of MCP find the service and use the token of the run. */
export function serviceEnvironment(port: number, token: string): Record<string, string> {
  const base = `http://127.0.0.1:${port}`
  return {
    SVC_BASE_URL: base,
    SVC_MCP_URL: `${base}/v1/internal/mcp`,
    ANTHROPIC_BASE_URL: `${base}/v1/internal/llm/anthropic`,
    ANTHROPIC_API_KEY: token,
    OPENAI_BASE_URL: `${base}/v1/internal/llm/openai/v1`,
    OPENAI_API_KEY: token,
  }
}
