import { once } from 'node:events'
import { connect } from 'node:net'

/** Sends lines that no HTTP client would send, and returns the response. */
export async function sendRaw(
  url: string,
  lines: string[],
  body = '',
): Promise<{ status: number; head: string; body: unknown }> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  let text = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  socket.write([...lines, 'connection: close', '', body].join('\r\n'))
  await once(socket, 'close')
  const [head = '', rest = ''] = text.split('\r\n\r\n')
  return { status: Number(head.split(' ')[1]), head: head.toLowerCase(), body: rest === '' ? null : JSON.parse(rest) }
}
