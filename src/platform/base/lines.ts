const NEWLINE = 0x0a
const INITIAL_BUFFER_BYTES = 4096

export interface LineSplitter {
  /** Emits the lines that this chunk completes. False: a line is longer than allowed, and no more lines follow. */
  push(chunk: Buffer): boolean
  /** The bytes after the last newline. */
  rest(): string
}

/**
 * Splits bytes into lines of at most `maxBytes`. Complete lines are decoded once per chunk: no byte of a longer UTF-8
 * character is a newline, so a cut at a newline never cuts a character. The incomplete line is copied into one growing
 * buffer, so that a program that writes single bytes costs its bytes and not one object for each byte.
 */
export function createLineSplitter(maxBytes: number, emit: (line: string) => void): LineSplitter {
  let buffer = Buffer.allocUnsafe(INITIAL_BUFFER_BYTES)
  let used = 0
  let isBroken = false

  const append = (bytes: Buffer) => {
    if (used + bytes.length > buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(buffer.length * 2, used + bytes.length))
      buffer.copy(larger, 0, 0, used)
      buffer = larger
    }
    used += bytes.copy(buffer, used)
    return used <= maxBytes
  }

  const split = (chunk: Buffer) => {
    const last = chunk.lastIndexOf(NEWLINE)
    if (last === -1) return append(chunk)
    const first = used === 0 ? -1 : chunk.indexOf(NEWLINE)
    if (first !== -1) {
      if (!append(chunk.subarray(0, first))) return false
      const line = buffer.toString('utf8', 0, used)
      used = 0
      emit(line)
    }
    if (last > first && !emitLines(chunk.subarray(first + 1, last), maxBytes, emit)) return false
    return append(chunk.subarray(last + 1))
  }

  return {
    push(chunk) {
      if (!isBroken) isBroken = !split(chunk)
      return !isBroken
    },
    rest: () => (isBroken ? '' : buffer.toString('utf8', 0, used)),
  }
}

function emitLines(block: Buffer, maxBytes: number, emit: (line: string) => void): boolean {
  if (block.length > maxBytes && maxLineLength(block) > maxBytes) return false
  for (const line of block.toString('utf8').split('\n')) emit(line)
  return true
}

function maxLineLength(block: Buffer): number {
  let longest = 0
  let start = 0
  while (start <= block.length) {
    const newline = block.indexOf(NEWLINE, start)
    const end = newline === -1 ? block.length : newline
    longest = Math.max(longest, end - start)
    start = end + 1
  }
  return longest
}
