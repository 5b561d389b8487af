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
