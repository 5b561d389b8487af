import { tryParseJsonObject } from '../base/json-fields.ts'
import type { JsonObject } from '../base/json.ts'
import { createTextLineSplitter } from './line-writer.ts'

/**
 * Reads server-sent events out of chunks of any size and hands on the JSON object of each. Both wires repeat the event
 * name inside the data, so only `data:` lines matter. A frame that the stream's end cut off is not handed on.
 */
export function parseEventStream(onFrame: (frame: JsonObject) => void): (chunk: string) => void {
  let data = ''
  return createTextLineSplitter((line) => {
    if (line.startsWith('data:')) {
      const text = line.slice(line.charCodeAt(5) === 32 ? 6 : 5)
      data = data === '' ? text : `${data}\n${text}`
      return
    }
    if (line !== '' || data === '') return
    const frame = data
    data = ''
    if (frame !== '[DONE]') onFrame(parseEventData(frame))
  })
}

function parseEventData(data: string): JsonObject {
  const frame = tryParseJsonObject(data)
  if (!frame) throw new Error('the stream carries a malformed frame')
  return frame
}
