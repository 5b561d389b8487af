import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer, type TLSSocket } from 'node:tls'
import { onTestFinished } from 'vitest'
import { createCertificate } from './mail-server.ts'

/** What a server does with a command that it never answers. */
export type SlowReaction = 'sends nothing' | 'sends byte after byte'

export interface FakeImapServer {
  /** The config of a channel that reads the mailbox of the server. */
  config: object
  /** The connections on which the unanswered command has arrived. */
  stuckConnections: () => number
  /** All until now. */
  connections: () => number
  openConnections: () => number
}

const RAW_MAIL =
  'From: Kim <kim@test.example>\r\nMessage-ID: <k1@test.example>\r\nSubject: Order\r\n\r\nWhere is it?\r\n'

/** A server with encryption and a mailbox with one mail. It never answers the command `slow.command`. */
export async function openFakeImapServer(slow?: { command: string; reaction: SlowReaction }): Promise<FakeImapServer> {
  const { key, cert } = readCertificate()
  const stuck = new Set<TLSSocket>()
  const open = new Set<TLSSocket>()
  let connections = 0
  const server = createServer({ key, cert }, (socket) => {
    connections++
    open.add(socket)
    socket.on('error', () => {}).on('close', () => open.delete(socket))
    onCommand(socket, (tag, command) => {
      if (stuck.has(socket)) return
      if (slow !== undefined && command.startsWith(slow.command)) stuck.add(socket)
      if (!stuck.has(socket)) socket.write(replyTo(tag, command))
      else if (slow?.reaction === 'sends byte after byte') sendByteAfterByte(socket)
    })
    socket.write('* OK ready\r\n')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of open) socket.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return {
    config: { host: 'localhost', port, username: 'agent', ca: cert },
    stuckConnections: () => stuck.size,
    connections: () => connections,
    openConnections: () => open.size,
  }
}

function readCertificate(): { key: string; cert: string } {
  const folder = mkdtempSync(join(tmpdir(), 'svc-imap-'))
  try {
    createCertificate(folder)
    return {
      key: readFileSync(join(folder, 'key.pem'), 'utf8'),
      cert: readFileSync(join(folder, 'cert.pem'), 'utf8'),
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function onCommand(socket: TLSSocket, call: (tag: string, command: string) => void): void {
  let received = ''
  let idleTag = ''
  socket.setEncoding('latin1').on('data', (text) => {
    received += String(text)
    for (let end = received.indexOf('\r\n'); end >= 0; end = received.indexOf('\r\n')) {
      const [tag = '', ...command] = received.slice(0, end).split(' ')
      received = received.slice(end + 2)
      if (command[0] === 'IDLE') idleTag = tag
      if (tag === 'DONE') call(idleTag, tag)
      else call(tag, command.join(' '))
    }
  })
}

function replyTo(tag: string, command: string): string {
  const found = Object.entries(REPLIES).find(([start]) => command.startsWith(start))
  const reply = found ? found[1](command) : ''
  return reply.startsWith('+') ? reply : `${reply}${tag} OK done\r\n`
}

const REPLIES: Record<string, (command: string) => string> = {
  CAPABILITY: () => '* CAPABILITY IMAP4rev1 IDLE\r\n',
  EXAMINE: () => '* 1 EXISTS\r\n* OK [UIDVALIDITY 7] valid\r\n',
  IDLE: () => '+ idling\r\n',
  'UID SEARCH': () => '* SEARCH 1\r\n',
  'UID FETCH': (command) => {
    const body = command.includes('BODY') ? ` BODY[]<0> {${RAW_MAIL.length}}\r\n${RAW_MAIL}` : ''
    return `* 1 FETCH (UID 1 INTERNALDATE "02-Mar-2026 10:00:00 +0000" RFC822.SIZE ${RAW_MAIL.length}${body})\r\n`
  },
}

function sendByteAfterByte(socket: TLSSocket): void {
  const timer = setInterval(() => socket.write('*'), 5)
  socket.once('close', () => clearInterval(timer))
}
