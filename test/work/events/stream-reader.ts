import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { FOUNDER_KEY, type TestApp } from '../../app.ts'

/** A client of an open stream: the text received so far, and a way to wait for more. */
export interface StreamReader {
  /** All text received so far. */
  text(): string
  length: number
  /** The end of the text, so that tests need not search a long stream from its start. */
  tail: string
  /** Resolves with the text once `enough` is true or the stream has ended. */
  until(enough: (reader: StreamReader) => boolean): Promise<string>
  /** Resolves with the whole text when the server ends the stream. */
  ended: Promise<string>
  close(): void
}

const TAIL_CHARACTERS = 40_000

export const eventsUrl = (app: TestApp, taskId: string, query = '') => `${app.url}/v1/tasks/${taskId}/events${query}`

export async function openStream(url: string, headers: Record<string, string> = {}): Promise<StreamReader> {
  const closing = new AbortController()
  const response = await fetch(url, {
    headers: { authorization: `Bearer ${FOUNDER_KEY}`, ...headers },
    signal: closing.signal,
  })
  if (response.status !== 200 || !response.body) throw new Error(`no stream: ${response.status}`)
  const waiting = new Set<() => void>()
  const pieces: string[] = []
  let hasEnded = false
  const reader: StreamReader = {
    text: () => pieces.join(''),
    length: 0,
    tail: '',
    until: (enough) =>
      new Promise((resolve) => {
        const check = () => {
          if (!hasEnded && !enough(reader)) return
          waiting.delete(check)
          resolve(reader.text())
        }
        waiting.add(check)
        check()
      }),
    ended: readChunks(response.body, (piece) => {
      pieces.push(piece)
      reader.length += piece.length
      reader.tail = (reader.tail + piece).slice(-TAIL_CHARACTERS)
      for (const check of waiting) check()
    }).then(() => {
      hasEnded = true
      for (const check of waiting) check()
      return pieces.join('')
    }),
    close: () => closing.abort(),
  }
  return reader
}

async function readChunks(body: ReadableStream<Uint8Array>, onChunk: (text: string) => void): Promise<void> {
  const decoder = new TextDecoder()
  try {
    for await (const piece of body) onChunk(decoder.decode(piece, { stream: true }))
  } catch (error) {
    if (!(error instanceof Error && error.name === 'AbortError')) throw error
  }
}

/** Reads a stream until the server ends it. */
export async function readWholeStream(url: string, headers: Record<string, string> = {}): Promise<string> {
  return (await openStream(url, headers)).ended
}

export const eventIds = (text: string): number[] => [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))

export const numbersUpTo = (last: number, from = 1): number[] =>
  Array.from({ length: last - from + 1 }, (_, i) => from + i)

/** Opens a stream and does not read from it. */
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
