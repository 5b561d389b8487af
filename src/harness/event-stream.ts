import { objectIn } from '../base/fields.ts'
import type { JsonObject } from '../base/json.ts'
import { lineSplitter } from './lines.ts'

/**
 * Reads server-sent events out of chunks of any size and hands on the JSON object of each. Both wires repeat the event
 * name inside the data, so only `data:` lines matter. A frame that the stream's end cut off is not handed on.
 */
export function eventStream(onFrame: (frame: JsonObject) => void): (chunk: string) => void {
  let data = ''
  return lineSplitter((line) => {
    if (line.startsWith('data:')) {
      const text = line.slice(line.charCodeAt(5) === 32 ? 6 : 5)
      data = data === '' ? text : `${data}\n${text}`
      return
    }
    if (line !== '' || data === '') return
    const frame = data
    data = ''
    if (frame !== '[DONE]') onFrame(frameObject(frame))
  })
}

function frameObject(data: string): JsonObject {
  const frame = objectIn(data)
  if (!frame) throw new Error('the stream carries a malformed frame')
  return frame
}
