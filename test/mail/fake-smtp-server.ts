import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** What the server does with a command: sends a reply, or something else with the socket. */
export type SmtpReaction = string | ((socket: Socket) => void)

export interface FakeSmtpServer {
  port: number
  /** The commands that clients sent; the content of a mail is one entry. */
  received: string[]
  connections: () => number
}

const REPLIES: Record<string, SmtpReaction> = {
  EHLO: '250-fake.example\r\n250 PIPELINING',
  MAIL: '250 ok',
  RCPT: '250 ok',
  DATA: '354 go on',
  CONTENT: '250 queued as 1',
  QUIT: '221 bye',
}

/** An SMTP server without encryption that fails where a real one does not. Reactions replace its usual replies. */
export async function openFakeSmtpServer(reactions: Record<string, SmtpReaction> = {}): Promise<FakeSmtpServer> {
  const replies: Record<string, SmtpReaction> = { ...REPLIES, ...reactions }
  const received: string[] = []
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    const react = (name: string) => {
      const reaction = replies[name] ?? '502 unknown command'
      if (typeof reaction === 'function') reaction(socket)
      else socket.write(`${reaction}\r\n`)
    }
    let buffered = ''
    let isContent = false
    socket.on('error', () => {})
    socket.setEncoding('latin1').on('data', (text) => {
      buffered += String(text)
      for (;;) {
        const isEmpty = buffered.startsWith('.\r\n')
        const end = !isContent ? '\r\n' : isEmpty ? '.\r\n' : '\r\n.\r\n'
        const at = buffered.indexOf(end)
        if (at < 0) return
        const line = buffered.slice(0, at)
        buffered = buffered.slice(at + end.length)
        received.push(line)
        const name = isContent ? 'CONTENT' : (line.split(/[ :]/, 1)[0] ?? '').toUpperCase()
        isContent = name === 'DATA' && replies['DATA'] === REPLIES['DATA']
        react(name)
      }
    })
    react('GREETING')
  })
  replies['GREETING'] ??= '220 fake.example ESMTP'
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const address = server.address()
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    received,
    connections: () => sockets.length,
  }
}
