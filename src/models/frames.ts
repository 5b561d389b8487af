import { StringDecoder } from 'node:string_decoder'

/** More than any honest frame needs, so that a flood without a line end cannot fill the memory. */
const MAX_LINE_CHARS = 4 * 1024 * 1024

/**
 * Hands on the data of each server-sent event in chunks of any size. Both wires repeat the event's name inside the
 * data, so only `data:` lines matter. A frame that the stream's end cut off is not handed on.
 */
export function frameReader(onData: (data: string) => void): (chunk: Buffer) => void {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  let data: string | null = null
  return (chunk) => {
    const lines = (rest + decoder.write(chunk)).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > MAX_LINE_CHARS) throw new Error('a line of the stream is too long')
    for (const raw of lines) {
      const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw
      if (line.startsWith('data:')) {
        const text = line.slice(line.charCodeAt(5) === 32 ? 6 : 5)
        data = data === null ? text : `${data}\n${text}`
      } else if (line === '' && data !== null) {
        const whole = data
        data = null
        onData(whole)
      }
    }
  }
}
