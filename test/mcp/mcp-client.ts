import type { TestApp } from '../app.ts'
import type { CallOptions } from '../http.ts'

/** A client of the Model Context Protocol, as far as the service needs one. */
export function mcpClient(app: Pick<TestApp, 'call'>, { key, headers = {} }: CallOptions = {}) {
  let ids = 0
  const post = (message: object) =>
    app.call('POST', '/mcp', message, {
      ...(key !== undefined && { key }),
      headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-06-18', ...headers },
    })
  const ask = async (method: string, params?: object) => {
    const id = ++ids
    const { body } = await post({ jsonrpc: '2.0', id, method, ...(params && { params }) })
    return body
  }
  return {
    post,
    ask,
    /** What a tool answers, as the two forms that a result has. */
    async tool(name: string, args: object = {}) {
      const { result } = await ask('tools/call', { name, arguments: args })
      const said = result.content[0].text
      return { isError: result.isError, said, ...(result.isError ? {} : { got: result.structuredContent }) }
    },
  }
}

/** One of the revision without a handshake: every request says what it speaks, in its body and its headers. */
export function statelessClient(app: Pick<TestApp, 'call'>) {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  /** What is undefined in the headers or in `_meta` is left out. */
  const post = (method: string, { _meta, ...params }: Params = {}, headers: object = {}) => {
    const own = {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      'mcp-name': params.name,
      ...headers,
    }
    const sent = Object.entries(own).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
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
