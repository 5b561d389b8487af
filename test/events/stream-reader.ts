import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { FOUNDER_KEY, type TestApp } from '../app.ts'

/** A reader of a stream that stays open: what came so far, and a way to wait for more of it. */
export interface StreamReader {
  /** Everything so far. */
  text(): string
  length: number
  /** The end of it, so that a long stream need not be searched from its beginning. */
  tail: string
  /** Resolves with the text once there is enough of it, or the stream has ended. */
  until(enough: (reader: StreamReader) => boolean): Promise<string>
  /** The whole text, when the server has ended the stream. */
  ended: Promise<string>
  close(): void
}

const TAIL_CHARACTERS = 40_000

export const eventsUrl = (app: TestApp, taskId: string, query = '') => `${app.url}/v1/tasks/${taskId}/events${query}`

export async function openStream(url: string, headers: Record<string, string> = {}): Promise<StreamReader> {
  const leaving = new AbortController()
  const response = await fetch(url, {
    headers: { authorization: `Bearer ${FOUNDER_KEY}`, ...headers },
    signal: leaving.signal,
  })
  if (response.status !== 200 || !response.body) throw new Error(`no stream: ${response.status}`)
  const waiting = new Set<() => void>()
  const pieces: string[] = []
  let over = false
  const reader: StreamReader = {
    text: () => pieces.join(''),
    length: 0,
    tail: '',
    until: (enough) =>
      new Promise((resolve) => {
        const look = () => {
          if (!over && !enough(reader)) return
          waiting.delete(look)
          resolve(reader.text())
        }
        waiting.add(look)
        look()
      }),
    ended: read(response.body, (piece) => {
      pieces.push(piece)
      reader.length += piece.length
      reader.tail = (reader.tail + piece).slice(-TAIL_CHARACTERS)
      for (const look of waiting) look()
    }).then(() => {
      over = true
      for (const look of waiting) look()
      return pieces.join('')
    }),
    close: () => leaving.abort(),
  }
  return reader
}

async function read(body: ReadableStream<Uint8Array>, take: (piece: string) => void): Promise<void> {
  const decoder = new TextDecoder()
  try {
    for await (const piece of body) take(decoder.decode(piece, { stream: true }))
  } catch (error) {
    if (!(error instanceof Error && error.name === 'AbortError')) throw error
  }
}

/** The whole stream of a finished task, as text. */
export async function readWholeStream(url: string, headers: Record<string, string> = {}): Promise<string> {
  return (await openStream(url, headers)).ended
}

export const eventIds = (text: string): number[] => [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))

export const numbersUpTo = (last: number, from = 1): number[] =>
  Array.from({ length: last - from + 1 }, (_, i) => from + i)

/** A reader that opens a stream and then does not read. */
export async function openStalledStream(app: TestApp, taskId: string): Promise<Socket> {
  const { hostname, port, pathname } = new URL(eventsUrl(app, taskId))
  const socket = connect(Number(port), hostname)
  const lines = [
    `GET ${pathname} HTTP/1.1`,
    'host: service',
    `authorization: Bearer ${FOUNDER_KEY}`,
    'connection: close',
  ]
  socket.write([...lines, '', ''].join('\r\n'))
  await once(socket, 'readable')
  return socket
}
