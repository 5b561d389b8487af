import type { TestApp } from '../../app.ts'
import type { CallOptions } from '../../http.ts'

/** A client of the protocol revisions with a handshake. */
export function mcpClient(app: Pick<TestApp, 'call'>, { key, headers = {} }: CallOptions = {}) {
  let ids = 0
  const post = (message: object) =>
    app.call('POST', '/mcp', message, {
      ...(key !== undefined && { key }),
      headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-06-18', ...headers },
    })
  const request = async (method: string, params?: object) => {
    const id = ++ids
    const { body } = await post({ jsonrpc: '2.0', id, method, ...(params && { params }) })
    return body
  }
  return {
    post,
    request,
    /** Calls a tool and returns both forms of its result: the text and, without an error, the value. */
    async tool(name: string, args: object = {}) {
      const { result } = await request('tools/call', { name, arguments: args })
      const { text } = result.content[0]
      return { isError: result.isError, text, ...(result.isError ? {} : { value: result.structuredContent }) }
    },
  }
}

/** A client of the stateless revision: every request names its version in the body and in a header. */
export function statelessClient(app: Pick<TestApp, 'call'>) {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  /** Headers and fields of `_meta` that are undefined are left out. */
  const post = (method: string, { _meta, ...params }: Params = {}, headers: object = {}) => {
    const allHeaders = {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      'mcp-name': params.name,
      ...headers,
    }
    const sent = Object.entries(allHeaders).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
    const body = { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: { ...meta, ..._meta } } }
    return app.call('POST', '/mcp', body, { headers: Object.fromEntries(sent) })
  }
  return { post }
}

interface Params {
  name?: string
  arguments?: object
  _meta?: object
}
