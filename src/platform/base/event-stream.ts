import { createParser } from 'eventsource-parser'

/** Larger than any response the service accepts (64 MiB), so that a stream without an end cannot fill the memory. */
const MAX_BUFFERED_CHARS = 64 * 1024 * 1024

/**
 * Parses server-sent events from chunks of any size and passes on the data of each complete event. An event that the
 * end of the stream cuts off is not passed on.
 */
export function createEventStreamParser(onData: (data: string) => void): (chunk: string) => void {
  const parser = createParser({
    maxBufferSize: MAX_BUFFERED_CHARS,
    onEvent: ({ data }) => onData(data),
    onError(error) {
      if (error.type === 'max-buffer-size-exceeded') throw error
    },
  })
  return (chunk) => parser.feed(chunk)
}
